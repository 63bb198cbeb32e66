#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The folders of the house: at most 25 files in each, no two public types of one name, no line past 120 columns,
# and no two files that need each other. What a file needs is read from the symbols of its object.
import collections, os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, none, skip  # noqa: E402

top = os.environ.get("srcdir", ".")
build = os.environ.get("top_builddir", ".")
HOUSE = ["lib", "cuda", "trainer", "analyzers", "reports"]
SOURCES = (".c", ".h", ".cu", ".cuh", ".cc", ".inc", ".def")
MOST = 25
WIDE_SCRIPTS = 488
BOTH_WAYS = {"lib trainer analyzers reports": 0, "cuda": 0}
# Catalogues hold a file for each row of a table.
EXEMPT = {"lib/op/kind": "catalogue", "lib/sum/model": "catalogue", "cuda/kernel": "catalogue"}
# A table names its rows, and a row uses what stands beside the table: that is no circle.
ROWS = re.compile(r"hu_(node|analyzer|sum_model|optim|dataset|model|bench|cmd|gpu_op|shim_op|fusion\w*|shim_fuse)_\w+$")
# Folders of tests: catalogues, and those that are too full yet.
EXEMPT_TESTS = {"t/judge/independent", "t/papers", "t/judge/kernels", "t/trace", "t/import"}


def sources(folders, endings=SOURCES):
    for folder in folders:
        for at, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(at, name), top)


def text(path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        return f.read()


# Each folder of the product, and of the tests, whose folders have scripts and data too.
def crowded():
    folders = collections.Counter(os.path.dirname(path) for path in sources(HOUSE))
    tests = [path for path in sources(["t"], "") if not path.endswith(("local.mk", ".pyc"))]
    folders += collections.Counter(os.path.dirname(path) for path in tests)
    held = {folder: n for folder, n in sorted(folders.items()) if folder not in EXEMPT and folder not in EXEMPT_TESTS}
    return ["%s has %d files" % (folder, n) for folder, n in held.items() if n > MOST]


def twice():
    where = collections.defaultdict(set)
    for path in sources(HOUSE, (".h", ".cuh")):
        for name in re.findall(r"^typedef (?:struct|enum|union) (hu_\w+) \{", text(path), re.M):
            where[name].add(path)
    return ["%s: %s" % (name, ", ".join(sorted(paths))) for name, paths in sorted(where.items()) if len(paths) > 1]


def wide():
    found = []
    for path in sources(HOUSE + ["t", "bench", "static"], tuple(e for e in SOURCES if e != ".def")):
        for i, line in enumerate(text(path).split("\n"), 1):
            if len(line.expandtabs(8)) > 120:
                found.append("%s:%d has %d columns" % (path, i, len(line.expandtabs(8))))
    return found


# Scripts: how many lines are beyond 120 columns. The number may only fall.
def wide_scripts():
    n = 0
    for path in sources(HOUSE + ["t", "bench"], (".sh", ".py")):
        n += sum(len(line.expandtabs(8)) > 120 for line in text(path).split("\n"))
    return n


# The operators, by the names of their rows: hu_op_run and its like are functions.
def operators():
    names = subprocess.run(["sh", os.path.join(top, "t/tool/operators.sh"), top], capture_output=True, text=True).stdout
    return {"hu_op_" + name for name in names.split()}


# Whether the source of an object is still there: a build folder keeps objects of files that were moved.
def made_of(path):
    stem = re.sub(r"libhalfulp\w*_a-", "", path[:-2])
    return any(os.path.exists(os.path.join(at, stem + end)) for at in (top, build) for end in (".c", ".cu", ".cc"))


# For each object the objects whose symbols it needs. Kernels of a unit are one object, and so no circle can be seen in
# them.
def needs():
    objects = [os.path.relpath(os.path.join(at, name), build) for folder in HOUSE
               for at, _, names in os.walk(os.path.join(build, folder)) for name in names
               if name.endswith(".o") and not name.endswith(".shim.o") and at.split(os.sep)[-1] != "kernel"]
    objects = [o for o in objects if made_of(o)]
    out = subprocess.run(["nm", "-A", "-P"] + objects, cwd=build, capture_output=True, text=True).stdout
    defines, uses, rows = {}, collections.defaultdict(set), operators()
    for line in out.splitlines():
        match = re.match(r"(\S+): (\S+) ([A-Za-z])", line)
        if not match:
            continue
        file = re.sub(r"libhalfulp\w*_a-", "", match[1])
        if match[3] in "TDRBCVW":
            defines[match[2]] = file
        elif match[3] == "U":
            uses[file].add(match[2])
    graph = {}
    for file, symbols in uses.items():
        graph[file] = {defines[s]: s for s in symbols
                       if s in defines and defines[s] != file and not ROWS.match(s) and s not in rows}
    return graph


# Tarjan's strongly connected components of more than one file.
def circles(graph):
    sys.setrecursionlimit(10000)
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in graph.get(v, {}):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
                on.discard(part[-1])
            if len(part) > 1:
                found.append(part)

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return ["%s needs %s of %s" % (a, graph[a][b], b)
            for part in found for a in sorted(part) for b in sorted(part) if b in graph.get(a, {})]


# Pairs of folders each of which includes files of the other. The number may only fall.
def both_ways(floors):
    into = collections.defaultdict(set)
    for path in sources(floors.split()):
        for folder in re.findall(r'^#include "([\w/]+)/[\w.]+"', text(path), re.M):
            into[os.path.dirname(path)].add(folder)
    return ["%s and %s" % (a, b) for a in sorted(into) for b in sorted(into[a]) if a < b and a in into.get(b, ())]


# Files that doc/ and CONTRIBUTING.md name, but for the patterns among them.
def named():
    doc = sorted(n for n in os.listdir(os.path.join(top, "doc")) if n.endswith(".md"))
    pages = ["CONTRIBUTING.md", "README.md"] + ["doc/" + n for n in doc]
    house = "|".join(HOUSE + ["t", "bench", "doc"])
    path = r"(?<![\w/.])((?:%s)/[\w/.-]+\.(?:c|h|cu|cuh|def|inc|sh|py|md|tsv))\b" % house
    return ["%s: there is no %s" % (page, named) for page in pages
            for named in re.findall(path, text(page))
            if not os.path.exists(os.path.join(top, named)) and not re.search(r"NAME|AUTHOR", named)]


none(crowded(), "no folder has more than %d files, but catalogues" % MOST)
none(twice(), "no public type has two meanings")
none(wide(), "no line is longer than 120 columns")
graph = needs()
if len(graph) < 100:
    skip("no two files need each other", "nm found the symbols of %d objects" % len(graph))
    skip("a circle would be seen", "nm found the symbols of %d objects" % len(graph))
else:
    none(circles(graph), "no two files need each other (%d objects)" % len(graph))
    cut = {file: dict(to) for file, to in graph.items()}
    first, second = next((a, b) for a in sorted(graph) for b in sorted(graph[a]))
    cut.setdefault(second, {})[first] = "a_symbol"  # an arrow back
    none([] if circles(cut) else ["%s -> %s was not seen" % (second, first)], "a circle would be seen")
none(named(), "every file that the pages name is there")
none([] if sum(1 for _ in sources(HOUSE)) > 300 else ["only a few sources under " + top], "the sources were found")
long = wide_scripts()
none(["wrap the new ones"] if long > WIDE_SCRIPTS else [],
     "%d lines of scripts are longer than 120 columns; %d may be" % (long, WIDE_SCRIPTS))
for floors, most in BOTH_WAYS.items():
    pairs = both_ways(floors)
    none(pairs if len(pairs) > most else [],
         "%s: %d pairs of folders include each other; %d may" % (floors, len(pairs), most))
finish()
