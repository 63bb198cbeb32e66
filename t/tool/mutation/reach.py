# SPDX-License-Identifier: Apache-2.0
# Which test runs which line of C, and how many seconds of processor time it takes: measured once in a build folder with
# gcc's counters (its sources alone are compiled anew) and kept there in reach.json. A test of many parts is as many
# tests as its arguments name. Lines of a file that was edited since are found by the lines around them.
import difflib
import glob
import gzip
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time

from .builder import COMPANIONS, Builder
from .python_builder import SITE

# Tests that can be asked for a part, and where the parts' names are.
PARTS = [
    ("t/judge/t-independent.py", r"^    '(\w+)': (?:lambda|\w+,)", "t/judge/t-independent.py"),
    ("t/golden/t-outputs.py", r"^EXTRA_DIST \+= t/golden/outputs/(\w+)\.txt", "t/golden/outputs/local.mk"),
    ("t/cli/t-options.py", r"^COMMAND\((\w+)\)", "commands.def"),
    ("t/cli/t-options-idle.py", r"^COMMAND\((\w+)\)", "commands.def"),
    ("t/golden/t-golden.sh", r"^\t?held (auto)$", "t/golden/t-golden.sh"),
]
# They judge the sources' text, the build, or kernels; or they need what most machines lack.
NO_JUDGES = (r"^t/tool/|t/trainer/train/t-torch\.py|t/cli/t-prefix|t/ci/t-workflows|"
             r"t/package/t-(static|install)|u-cuda-(op|gemm|mma|fuse|cublas|gather)")
JUDGES_PYTHON = r"^t/trace/|^t/judge/kernels/t-kernel-python|^t/ci/t-holding|^t/analyzers/sums/t-tree-library"
LIMIT = 400
# What is run before an abort counts as well.
DUMP = """#include <signal.h>
void __gcov_dump(void);
static void dump(int s) { __gcov_dump(); signal(s, SIG_DFL); raise(s); }
__attribute__((constructor)) static void begin(void) { signal(SIGABRT, dump); }
"""
KEPT = "reach.json"


def listed(build):
    """Every test of `make check`, in its parts."""
    text = "include Makefile\nreach:;@echo $(C_TESTS) $(SCRIPT_TESTS)\n"
    out = subprocess.run(["make", "-s", "-f", "-", "reach"], input=text, cwd=build, capture_output=True, text=True)
    return [t for t in out.stdout.split() if not re.search(NO_JUDGES, t)]


def parts(top, test):
    for name, pattern, where in PARTS:
        if test == name:
            return [test + " " + part for part in re.findall(pattern, open(os.path.join(top, where)).read(), re.M)]
    return [test]


class Measured(Builder):
    """A program and tests in which analyzers, the trainer, operators and judges count what is run. A test that fails,
    perhaps since the counters are files too, keeps what it ran: what it says of mutants is believed where it passes
    without them."""

    def __init__(self, top, build, units):
        super().__init__(top, build, "reach")
        self.units = units

    def run_all(self, commands, jobs):
        """The commands that failed."""
        left, wrong = queue.Queue(), []
        for c in commands:
            left.put(c)

        def work():
            while not left.empty():
                try:
                    c = left.get_nowait()
                except queue.Empty:
                    return
                code, out = self.shell(c)
                if code:
                    wrong.append(out)
        threads = [threading.Thread(target=work) for _ in range(jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return wrong

    def compile_all(self, jobs):
        how = "%(COMPILE)s -w -g0 -O1 -fno-inline --coverage -c -o %(dir)s/" % dict(self.v, dir=self.dir)
        wrong = self.run_all([how + self.flat(u) + ".o " + os.path.join(self.top, u) for u in self.units], jobs)
        if wrong:
            sys.exit("mutate.py: a source does not compile with --coverage:\n" + wrong[0][-2000:])
        open(self.dir + "/dump.c", "w").write(DUMP)
        self.shell("rm -f %(dir)s/all.a; ar rcs %(dir)s/all.a %(dir)s/*.o" % vars(self))

    @staticmethod
    def flat(unit):
        return unit.replace("/", "-")[:-2]

    def link(self, main, to):
        how = "%(CC)s %(AM_CFLAGS)s %(CFLAGS)s -g0 --coverage %(AM_LDFLAGS)s %(LDFLAGS)s -Wl,-z,muldefs "
        # of some units alone an archive has too few that ask for the others, which the library's would then stand for
        what = "-o %(dir)s/%(to)s %(main)s %(dir)s/dump.c -Wl,--whole-archive %(dir)s/all.a -Wl,--no-whole-archive " \
               "%(LDADD)s %(LIBS)s"
        return self.shell((how + what) % dict(self.v, dir=self.dir, to=to, main=main))

    def lines(self, folder):
        """By unit the numbers of its lines that were run."""
        told = subprocess.run("gcov -j -t *.gcda 2>/dev/null", shell=True, cwd=folder, capture_output=True, text=True)
        ran, places = {}, {}
        for one in told.stdout.splitlines():
            for file in json.loads(one)["files"]:
                unit = os.path.relpath(os.path.join(self.build, file["file"]), self.top)
                if unit in self.units:
                    ran.setdefault(unit, set()).update(l["line_number"] for l in file["lines"] if l["count"])
                    places.setdefault(unit, set()).update(l["line_number"] for l in file["lines"])
        return ran, places

    def watched(self, folder):
        """Settings under which a test counts into the folder, and the program that it runs."""
        return dict(HALFULP=self.dir + "/halfulp", GCOV_PREFIX=folder, GCOV_PREFIX_STRIP="99")

    def prepare(self, folder):
        for u in self.units:
            os.symlink(os.path.join(self.dir, self.flat(u) + ".gcno"), os.path.join(folder, self.flat(u) + ".gcno"))

    def measure(self, test, folder):
        """Whether TEST passed, its seconds, what it ran."""
        name = test.partition(" ")[0]
        if not name.endswith((".sh", ".py")):
            code, out = self.link(name + ".o", os.path.basename(name))
            if code:
                return "does not link: " + out[-300:], 0, {}, {}
        for other in COMPANIONS.get(name, []):
            self.accompany(other)
        for f in glob.glob(folder + "/*.gcda") + glob.glob(folder + "/*.lines"):
            os.remove(f)
        tmp = os.path.join(folder, "tmp")
        shutil.rmtree(tmp, ignore_errors=True)
        os.makedirs(tmp)
        env = dict(self.env, TMPDIR=tmp, **self.watched(folder))
        words = open(os.path.join(folder, "out"), "w+")
        how = ["timeout", "-k", "5", str(LIMIT), "bash", "-c", self.command(test)]
        p = subprocess.Popen(how, cwd=self.build, env=env, stdin=subprocess.DEVNULL, stdout=words, stderr=words)
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = status
        words.seek(0)
        why = self.judged(test, status, words.read())
        seconds = LIMIT if os.waitstatus_to_exitcode(status) == 124 else used.ru_utime + used.ru_stime
        return (why, seconds, *self.lines(folder))


class MeasuredPython(Measured):
    """The same of the Python packages, whose interpreter counts."""

    def __init__(self, top, build, units):
        super().__init__(top, build, units)
        os.makedirs(self.dir + "/site", exist_ok=True)
        open(self.dir + "/site/sitecustomize.py", "w").write(SITE)

    def compile_all(self, jobs):
        pass

    def link(self, main, to):
        return 0, ""

    def prepare(self, folder):
        pass

    def watched(self, folder):
        return dict(HALFULP=self.build + "/halfulp", PYTHONPATH=self.dir + "/site", HALFULP_MUTATION_TOP=self.top,
                    HALFULP_MUTATION_LINES=folder)

    def lines(self, folder):
        ran, places = {}, {}
        for path in glob.glob(folder + "/*.lines"):
            for unit, lines in json.load(open(path)).items():
                if unit in self.units:
                    ran.setdefault(unit, set()).update(lines)
        for unit in ran:
            codes = [compile(open(os.path.join(self.top, unit)).read(), unit, "exec")]
            for code in codes:
                codes += [c for c in code.co_consts if hasattr(c, "co_lines")]
                places.setdefault(unit, set()).update(n for _, _, n in code.co_lines() if n)
        return ran, places


def load(top, build):
    """What was measured, by the numbers that lines have now."""
    kept = os.path.join(build, KEPT)
    if not os.path.exists(kept):
        return {"tests": {}, "lines": {}, "text": {}}
    known = json.load(gzip.open(kept, "rt"))
    for unit, text in list(known["text"].items()):
        path = os.path.join(top, unit)
        new = open(path).read() if os.path.exists(path) else ""
        if new == text:
            continue
        matcher = difflib.SequenceMatcher(None, text.split("\n"), new.split("\n"), autojunk=False)
        at = {a + k + 1: b + k + 1 for a, b, n in matcher.get_matching_blocks() for k in range(n)}
        for lines in [known["lines"], *(t["ran"] for t in known["tests"].values())]:
            if unit in lines:
                lines[unit] = [at[n] for n in lines[unit] if n in at]
        known["text"][unit] = new
    return known


class Reach:
    """Which tests judge a line: those that run it, cheapest first."""

    def __init__(self, top, build):
        self.known = load(top, build)
        self.ran = {}
        for test, told in self.known["tests"].items():
            for unit, lines in told["ran"].items():
                for n in lines:
                    self.ran.setdefault((unit, n), []).append(test)
        size = {t: sum(map(len, told["ran"].values())) for t, told in self.known["tests"].items()}
        most = max(size.values(), default=1)
        self.weight = {t: (0.5 + told["seconds"]) * (0.3 + size[t] / most) for t, told in self.known["tests"].items()}

    def seconds(self, test):
        return self.known["tests"][test]["seconds"]

    def judges(self, unit, line):
        """A line without code of its own (the middle of a statement) is that of the code before it; where nothing runs
        that, of the code after it, with which the compiler put the value that a variable begins with."""
        lines = self.known["lines"].get(unit, [])
        at = line if line in lines else max((n for n in lines if n < line), default=None)
        if at not in (None, line) and (unit, at) not in self.ran:
            at = min((n for n in lines if n > line), default=None)
        return sorted(self.ran.get((unit, at), []), key=lambda t: self.weight[t])


def measure(top, build, units, jobs, some):
    """Measures the tests that reach.json lacks, or those that match SOME: of units of C, then of those of Python."""
    for kind, of in (".c", Measured), (".py", MeasuredPython):
        chosen = [u for u in units if u.endswith(kind)]
        if chosen:
            measure_kind(kind, of(top, build, chosen), jobs, some)


def measure_kind(kind, m, jobs, some):
    top, build, units = m.top, m.build, m.units
    tests = [t for t in listed(build) if kind == ".c" or re.search(JUDGES_PYTHON, t)]
    wanted = [t for t in tests if not some or any(re.search(some, p) for p in parts(top, t))]
    m.shell("make -s halfulp " + " ".join(t for t in wanted if not t.endswith((".sh", ".py"))), 3600)
    m.compile_all(jobs)
    code, out = m.link("halfulp.o", "halfulp")
    if code:
        sys.exit("mutate.py: the program does not link with counters:\n" + out[-2000:])
    kept = os.path.join(build, KEPT)
    all_tests = [p for t in tests for p in parts(top, t)]
    old, saved = load(top, build), [time.time()]
    left, lock = queue.Queue(), threading.Lock()
    folders = ["t/analyzers", "t/trainer", "t/golden", "t/judge"] # what judges most comes first
    first = lambda t: next((i for i, folder in enumerate(folders) if t.startswith(folder + "/")), len(folders))
    for t in sorted(all_tests, key=first):
        if re.search(some, t) if some else kind not in old["tests"].get(t, {}).get("kinds", []):
            left.put(t)

    def save():
        with gzip.open(kept + ".new", "wt", 3) as f:
            json.dump(old, f)
        os.replace(kept + ".new", kept)

    def work(k):
        folder = os.path.join(m.dir, "worker-%d" % k)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        m.prepare(folder)
        while True:
            try:
                test = left.get_nowait()
            except queue.Empty:
                return
            why, seconds, ran, places = m.measure(test, folder)
            with lock:
                ran = {u: sorted(n) for u, n in ran.items() if n}
                before = old["tests"].get(test, {}).get("ran", {}) # of units that this measurement leaves out
                before = {u: n for u, n in before.items() if u not in units}
                kinds = sorted({kind, *old["tests"].get(test, {}).get("kinds", [])})
                old["tests"][test] = {"seconds": round(seconds, 2), "ran": {**before, **ran}, "kinds": kinds}
                for u, n in places.items():
                    old["lines"][u] = sorted(n)
                    old["text"].setdefault(u, open(os.path.join(top, u)).read())
                if time.time() > saved[0] + 60:
                    save()
                    saved[0] = time.time()
                why = "  with counters it fails: " + why if why else ""
                print("# %6.1f s %5d lines  %s%s" % (seconds, sum(map(len, ran.values())), test, why), flush=True)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    save()
