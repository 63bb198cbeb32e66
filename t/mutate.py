#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutate.py [--each N] [--seed S] [--only OP,...] [BUILD]: for each row of lib/op/ops.def changes one
# operator, index or barrier of its cuda/OP.cu (or, where N is more than it has, of a header that it includes), in a copy;
# compiles that one object for the host, links it before the library with u-cuda-op and the tests of products, and runs them. Prints a row a
# mutation: killed (a test failed, crashed or hung), or survived; then the share.
# Exits 1 where less than nine in ten are killed. Mutants of which the compiler
# makes the same code are none. The choice depends on the seed and the files' text alone. srcdir names the sources.
import argparse, glob, os, random, re, subprocess, sys

RULES = [  # what, pattern, replacement
    ("index", r"\bin\[(\d)\]", lambda m: "in[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bout\[(\d)\](?!\[)", lambda m: "out[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bHU_AT_EACH\b", "HU_AT_ONE"),
    ("index", r"\bHU_AT_(ROW|CHANNEL|IMAGE|ONE)\b", "HU_AT_EACH"),
    ("index", r"\[(\w+)\]", lambda m: "[%s ^ 1]" % m[1] if not m[1].isdigit() else "[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bthreadIdx\.x\b", "(threadIdx.x ^ 1)"),
    ("index", r"\bthreadIdx\.y\b", "(threadIdx.y ^ 1)"),
    ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "),
    ("operator", r" \* ", " + "),
    ("operator", r" / ", " * "),
    ("operator", r" % ", " / "),
    ("operator", r" < ", " <= "),
    ("operator", r" > ", " >= "),
    ("operator", r" >= ", " > "),
    ("operator", r" == ", " != "),
    ("operator", r" != ", " == "),
    ("operator", r" && ", " || "),
    ("operator", r" \|\| ", " && "),
    ("operator", r"(?<!\w)!(?=[\w(])", ""),
    ("operator", r" \? ([^:?]+) : ([^:?;)]+)", lambda m: " ? %s : %s" % (m[2], m[1])),
    ("operator", r"/= 2", "/= 4"),
    ("barrier", r"HU_SYNC\(\);", ";"),
    ("barrier", r"hu_syncwarp\(\);", ";"),
]
# Not mutated: what changes only how the work is spread (grid sizes, strides of a grid: the same elements, perhaps twice), how much
# memory is asked for, declarations of arrays, and the words of a message.
EQUIVALENT = re.compile(r"hu_blocks_for|gridDim|hu_fail\(|static_assert|_groups|_lies|may_lie|HU_ONCE|hu_attr_num\(|^\s*#(?!define)|^\s*(/?\*|//)|template|memset|sizeof|^\s*(?:static |const )*hu_\w+ \*?\w+(?:\[\d\])?(?:, \w+(?:\[\d\])?)*;")

# Equivalent too, though no compiler can know it: the file, what the changed line has, and why.
KNOWN = [
    ("cuda/relu_dx.cu", "hu_field_of(w, w->in[1]->n, 1)", "y and dy have one shape (lib/op/pointwise.c checks)"),
    ("cuda/gelu_dx.cu", "hu_field_of(w, w->in[1]->n, 1)", "x and dy have one shape"),
    ("cuda/add.cu", "hu_field_of(w, w->in[1]->n, 1)", "both operands have one shape"),
    ("cuda/sgd.cu", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape (lib/op/sgd.c checks)"),
    ("cuda/sgd.cu", "if (w->call->nin >= 3)", "three there always are, and the formula without a velocity reads no fourth"),
    ("cuda/adamw.cu", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape"),
    ("cuda/finite_check.cu", "if (judged >= 0)", "where nothing is judged nothing is bad, and the search ends with its first look at the counts"),
]


def variables(build):
    names = "CC CXX SHIM_FLAGS CPPFLAGS CXXFLAGS AM_CFLAGS CFLAGS AM_LDFLAGS LDFLAGS LDADD LIBS".split()
    text = "include Makefile\nmutate-print:\n" + "".join("\t@echo '%s=$(%s)'\n" % (n, n.replace("LDADD", "LDADD")) for n in names)
    out = subprocess.run(["make", "-s", "-f", "-", "mutate-print"], input=text, cwd=build, capture_output=True, text=True)
    if out.returncode:
        sys.exit("mutate.py: %s: make does not answer: %s" % (build, out.stderr.strip()))
    return dict(line.split("=", 1) for line in out.stdout.splitlines() if "=" in line)


def includes(top, path, seen):
    for name in re.findall(r'#include "(cuda/\w+\.cuh)"', open(os.path.join(top, path)).read()):
        if name not in seen:
            seen.append(name)
            includes(top, name, seen)
    return seen


def candidates(top, path):
    found, comment, seen = [], False, set()
    for number, line in enumerate(open(os.path.join(top, path)).read().split("\n")):
        begins = comment or line.lstrip().startswith("/*")
        comment = begins and "*/" not in line
        code = re.sub(r"/\*.*?\*/", lambda m: " " * len(m[0]), line)
        if begins or EQUIVALENT.search(code):
            continue
        for what, pattern, by in RULES:
            for m in re.finditer(pattern, code):
                if "HU_AT_" in pattern and code[:m.start()].rfind("hu_operand_of(") > code[:m.start()].rfind("hu_field"):
                    continue # an operand that a kernel of its own reads by its own index
                quoted = code[:m.start()].count('"') % 2
                new = by(m) if callable(by) else by
                changed = (number, line[:m.start()] + new + line[m.end():])
                same = any(path == file and part in changed[1] for file, part, why in KNOWN)
                if not quoted and new != m[0] and changed not in seen and not same:
                    seen.add(changed)
                    found.append((path, number, m.start(), m.end(), what, new))
    return found


class Builder:
    def __init__(self, top, build):
        self.top, self.build, self.v = top, build, variables(build)
        self.dir = os.path.join(build, "mutate") # one run at a time
        os.makedirs(os.path.join(self.dir, "cuda"), exist_ok=True)

    def shell(self, command, limit=600):
        try:
            done = subprocess.run(command, shell=True, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit, env=dict(os.environ, OMP_NUM_THREADS="1", srcdir=self.top))
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return 124, "it hangs"

    def write(self, mutation):
        path, number, start, end, what, new = mutation
        lines = open(os.path.join(self.top, path)).read().split("\n")
        old = lines[number]
        lines[number] = old[:start] + new + old[end:]
        open(os.path.join(self.dir, path), "w").write("\n".join(lines))
        return old.strip(), lines[number].strip()

    # The object of CU with MUTATION, from the folder that holds the changed file before the sources' own.
    def compile(self, cu, mutation):
        for name in os.listdir(os.path.join(self.dir, "cuda")):
            os.remove(os.path.join(self.dir, "cuda", name))
        change = self.write(mutation)
        code, out = self.object(cu, mutation[0], "mutant.o")
        return code, out, change

    # No debug information, and the changed file by its own name, so that objects of the same code are the same.
    def object(self, cu, changed, to):
        source = os.path.join(self.dir if changed == cu else self.top, cu)
        return self.shell("%(CXX)s -I%(dir)s %(SHIM_FLAGS)s %(CPPFLAGS)s %(CXXFLAGS)s -g0 -fmacro-prefix-map=%(dir)s=%(top)s -x c++ -c -o mutate/" % dict(self.v, dir=self.dir, top=self.top) + to + " " + source)

    # Whether the compiler makes the same of the mutant, in whose place the file as it was is put.
    def same(self, cu, changed):
        open(os.path.join(self.dir, changed), "w").write(open(os.path.join(self.top, changed)).read())
        code, out = self.object(cu, changed, "plain.o")
        read = lambda name: open(os.path.join(self.dir, name), "rb").read()
        return code == 0 and read("plain.o") == read("mutant.o")

    # The mutant comes first; what else its unit in the library has stays.
    def link(self, test, to):
        return self.shell("%(CC)s %(AM_CFLAGS)s %(CFLAGS)s %(AM_LDFLAGS)s %(LDFLAGS)s -o mutate/" % self.v + to + " " + test + " -Wl,-z,muldefs mutate/mutant.o %(LDADD)s %(LIBS)s" % self.v)


# What a test says of the mutant: "" where it passes.
def verdict(builder, test, arguments, limit):
    code, out = builder.link("t/%s.o" % test, test)
    if code:
        return "does not link"
    code, out = builder.shell("./mutate/%s %s" % (test, arguments), limit)
    failed = len(re.findall(r"^not ok", out, re.M))
    return "" if code == 0 and not failed else "%s: %s" % (test, "hangs" if code == 124 else "%d tests fail" % failed if failed else "exit %d" % code)


def pick(top, op, each, seed):
    cu = "cuda/%s.cu" % op
    own = candidates(top, cu)
    random.Random("%d %s" % (seed, op)).shuffle(own)
    more = [c for name in includes(top, cu, []) for c in candidates(top, name)]
    random.Random("%d %s" % (seed, op)).shuffle(more)
    barriers = [c for c in own + more if c[4] == "barrier"]
    # the second of an operator is a barrier where it has one
    first, rest = own[:1], own[1:] + more
    return cu, first + (barriers[:1] if each > 1 else []) + rest


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--each", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--only", default="")
    a.add_argument("build", nargs="?", default=".")
    a = a.parse_args()
    top = os.path.abspath(os.environ.get("srcdir", "."))
    b = Builder(top, os.path.abspath(a.build))
    ops = re.findall(r"^OP\((\w+)\)", open(os.path.join(top, "lib/op/ops.def")).read(), re.M)
    wanted = a.only.split(",") if a.only else ops
    if set(wanted) - set(ops):
        sys.exit("mutate.py: --only: not in ops.def: %s" % ", ".join(sorted(set(wanted) - set(ops))))
    tests = sorted(os.path.basename(f)[:-2] for f in glob.glob(os.path.join(top, "t/u-cuda-*.c")) if re.search("gemm|mma", f))
    code, out = b.shell("make t/u-cuda-op " + " ".join("t/" + t for t in tests), 3600)
    if code:
        sys.exit("mutate.py: the tests do not build:\n" + out[-2000:])
    killed = made = 0
    survivors = []
    print("operator\tkind\tplace\tfrom\tto\tverdict", flush=True)
    for op in wanted:
        if not os.path.exists(os.path.join(top, "cuda/%s.cu" % op)):
            sys.exit("mutate.py: %s has no cuda/%s.cu" % (op, op))
        cu, mutations = pick(top, op, a.each, a.seed)
        done = 0
        for mutation in mutations:
            if done == a.each:
                break
            code, out, (old, new) = b.compile(cu, mutation)
            if code: # not C++ any more: no mutant
                continue
            why = verdict(b, "u-cuda-op", op, 120)
            if not why and b.same(cu, mutation[0]):
                continue
            if not why and re.search(r"gemm", " ".join(includes(top, cu, []))):
                for test in tests:
                    why = why or verdict(b, test, op, 300)
            done += 1
            made += 1
            killed += why != ""
            row = "%s\t%s\t%s:%d\t%s\t%s\t%s" % (op, mutation[4], mutation[0], mutation[1] + 1, old, new, why or "SURVIVED")
            print(row, flush=True)
            if not why:
                survivors.append(row)
    print("# killed %d of %d (%.0f %%), seed %d" % (killed, made, 100.0 * killed / max(made, 1), a.seed))
    for s in survivors:
        print("# survivor: " + s.replace("\t", "  "))
    sys.exit(0 if killed * 10 >= made * 9 and made else 1)


main()
