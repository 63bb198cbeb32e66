# SPDX-License-Identifier: Apache-2.0
# One changed file in a folder of its own beside the build: compiled, linked before the library with a test or the
# program, run.
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

UNLINKED = "mutate.py: %s does not link with a mutant, which says nothing about it:\n%s"
STILL = 123 # the status of what waited for ever
IDLE = 60 # seconds with next to no work after which a test hangs; the longest that a test waits for by intent is 30
MODULE = "halfulp-mpi.so" # which `halfulp` loads from its own folder
# Programs that a script runs from the folder of `halfulp`
COMPANIONS = {"t/base/t-ranks.py": ["t/base/u-ranks"]}
NAMES = "CC CXX SHIM_FLAGS CPPFLAGS CXXFLAGS AM_CFLAGS CFLAGS AM_LDFLAGS LDFLAGS LDADD LIBS COMPILE".split()


def end(process):
    """It and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_from(folder):
    """Programs of this folder that are left, such as ranks, which are in groups of their own."""
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
        try:
            if os.readlink("/proc/%s/exe" % pid).startswith(folder + "/"):
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def work_of(root):
    """The processes that ROOT started, with the seconds of processor time of each."""
    parent, spent, second = {}, {}, os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
        try:
            cells = open("/proc/%s/stat" % pid).read().rpartition(")")[2].split()
        except OSError:
            continue
        parent[int(pid)], spent[int(pid)] = int(cells[1]), (int(cells[11]) + int(cells[12])) / second
    found = {root}
    while more := {pid for pid in parent if parent[pid] in found} - found:
        found |= more
    return {pid: spent.get(pid, 0) for pid in found}


def stand_still(process, idle, still):
    """Ends PROCESS where all that it started computes less than a tenth of the time for IDLE seconds: they wait for
    each other, and look now and then whether they still do."""
    before, since, done = {}, time.time(), 0
    while process.poll() is None:
        now = work_of(process.pid)
        done += sum(max(0, s - before.get(pid, 0)) for pid, s in now.items())
        before = now
        if time.time() - since > idle:
            if done < idle / 10:
                still.set()
                end(process)
            since, done = time.time(), 0
        time.sleep(min(2, idle / 3))


def variables(build):
    text = "include Makefile\n" + "".join("$(info %s=$(%s))\n" % (n, n) for n in NAMES) + "mutate-print:;@:\n"
    out = subprocess.run(["make", "-s", "-f", "-", "mutate-print"], input=text, cwd=build, capture_output=True,
                         text=True)
    if out.returncode:
        sys.exit("mutate.py: %s: make does not answer: %s" % (build, out.stderr.strip()))
    return dict(line.split("=", 1) for line in out.stdout.splitlines() if "=" in line)


class Builder:
    def __init__(self, top, build, worker=0):
        self.top, self.build, self.v = top, build, variables(build)
        self.name = "mutate-%s" % worker
        self.dir = os.path.join(build, self.name)
        # not inside a checkout, which tests ask for
        self.tmp, self.linked = tempfile.mkdtemp(prefix="halfulp-mutate-"), set()
        atexit.register(shutil.rmtree, self.tmp, ignore_errors=True)
        os.makedirs(self.dir, exist_ok=True)
        if os.path.exists(os.path.join(build, MODULE)) and not os.path.lexists(os.path.join(self.dir, MODULE)):
            os.symlink(os.path.join(build, MODULE), os.path.join(self.dir, MODULE))
        # memory that nobody wrote to is never 0 by chance, as under the sanitizers of CI's second job
        self.env = dict(os.environ, MALLOC_PERTURB_="85", OMP_NUM_THREADS="1", srcdir=top, top_builddir=build,
                        TMPDIR=self.tmp, HALFULP=os.path.join(self.dir, "halfulp"), PYTHON=sys.executable)

    def shell(self, command, limit=600, first=False):
        """Its status and words; all that it started ends with it. FIRST: its first test that fails stops it."""
        p = subprocess.Popen(command, shell=True, cwd=self.build, env=self.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             start_new_session=True)
        late, still, words = threading.Event(), threading.Event(), []
        timer = threading.Timer(limit, lambda: (late.set(), end(p)))
        timer.start()
        threading.Thread(target=stand_still, args=(p, IDLE, still), daemon=True).start()
        for line in p.stdout:
            words.append(line)
            if first and line.startswith("not ok"):
                end(p)
                break
        p.stdout.close()
        code = p.wait()
        timer.cancel()
        if still.is_set():
            return STILL, "it waits"
        return (124, "it hangs") if late.is_set() else (code, "".join(words))

    def write(self, mutation):
        path, number, start, end, what, new = mutation
        lines = open(os.path.join(self.top, path)).read().split("\n")
        old = lines[number]
        lines[number] = old[:start] + new + old[end:]
        os.makedirs(os.path.dirname(os.path.join(self.dir, path)), exist_ok=True)
        open(os.path.join(self.dir, path), "w").write("\n".join(lines))
        return old.strip(), lines[number].strip()

    # No debug information, and the changed file by its own name, so that objects of the same code are the same.
    def object(self, unit, changed, to):
        source = os.path.join(self.dir if changed == unit else self.top, unit)
        how = "%(CXX)s -I%(dir)s %(SHIM_FLAGS)s %(CPPFLAGS)s %(CXXFLAGS)s -x c++" if unit.endswith(".cu") else "%(COMPILE)s -w"
        return self.shell((how + " -g0 -fmacro-prefix-map=%(dir)s=%(top)s -c -o %(name)s/") % dict(self.v, dir=self.dir, top=self.top, name=self.name) + to + " " + source)

    def compile(self, unit, mutation):
        """The object of UNIT with MUTATION, from the folder that holds the changed file before the sources' own."""
        for name in os.listdir(self.dir):
            if os.path.isdir(os.path.join(self.dir, name)):
                shutil.rmtree(os.path.join(self.dir, name))
        change = self.write(mutation)
        self.linked = set()
        code, out = self.object(unit, mutation[0], "mutant.o")
        return code, out, change

    def same(self, unit, changed):
        """Whether the compiler makes the same of the mutant, in whose place the file as it was is put."""
        mutant = open(os.path.join(self.dir, changed)).read()
        open(os.path.join(self.dir, changed), "w").write(open(os.path.join(self.top, changed)).read())
        code, out = self.object(unit, changed, "plain.o")
        open(os.path.join(self.dir, changed), "w").write(mutant)
        read = lambda name: open(os.path.join(self.dir, name), "rb").read()
        return code == 0 and read("plain.o") == read("mutant.o")

    def link(self, main, to):
        """The mutant comes first; what else its unit in the library has stays."""
        return self.shell(("%(CC)s %(AM_CFLAGS)s %(CFLAGS)s -g0 %(AM_LDFLAGS)s %(LDFLAGS)s -o %(name)s/" % dict(self.v, name=self.name)) + to + " " + main + " -Wl,-z,muldefs " + self.name + "/mutant.o %(LDADD)s %(LIBS)s" % self.v)

    def accompany(self, program):
        """PROGRAM with the mutant, beside its `halfulp`."""
        os.makedirs(os.path.dirname(os.path.join(self.dir, program)), exist_ok=True)
        code, out = self.link(program + ".o", program)
        if code:
            sys.exit(UNLINKED % (program, out[-2000:]))

    def command(self, test):
        """TEST with its arguments: a C test, linked with the mutant, or a script that runs the program."""
        name, _, arguments = test.partition(" ")
        if re.search(r"\.(sh|py)$", name):
            measures = "env -u MALLOC_PERTURB_ " if name.endswith("t-memory.py") else "" # which touches all that is asked for
            return measures + "bash %s/t/tool/run.sh %s/%s %s" % (self.top, self.top, name, arguments)
        return "./%s/%s %s" % (self.name, os.path.basename(name), arguments)

    def verdict(self, test, processor, limit):
        """What a test says of the mutant: "" where it passes. It hangs where a process takes more than PROCESSOR seconds of
        processor time; by the clock, which a busy machine makes late as well, only where it is late a second time."""
        name = test.partition(" ")[0]
        script = re.search(r"\.(sh|py)$", name)
        main, to = ("halfulp.o", "halfulp") if script else (name + ".o", os.path.basename(name))
        if to not in self.linked:
            if not os.path.exists(os.path.join(self.build, main)):     # a test that nobody has built here yet
                code, out = self.shell("make -s " + main, 3600)
                if code:
                    sys.exit("mutate.py: %s does not compile:\n%s" % (main, out[-2000:]))
            code, out = self.link(main, to)
            if code:
                sys.exit(UNLINKED % (name, out[-2000:]))
            self.linked.add(to)
            for other in COMPANIONS.get(name, []):
                self.accompany(other)
        for clock in limit, 2 * limit:
            shutil.rmtree(self.tmp, ignore_errors=True)
            os.makedirs(self.tmp)
            code, out = self.shell("ulimit -c 0; ulimit -t %s; %s" % (processor, self.command(test)), clock, first=True)
            end_from(self.dir)
            if code != 124:
                break
        return self.judged(test, code, out)

    @staticmethod
    def judged(test, code, out):
        first = re.search(r"^(not ok.{0,60})", out, re.M)
        if code == 0 and not first:
            return ""
        why = "hangs" if code in (STILL, 124) else first[1].replace("\t", " ") if first else "exit %d" % code
        return "%s: %s" % (test, why)
