#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutate.py [--target T] [--each N] [--seed S] [--only NAME,...] [--log FILE] [--limit SECONDS] [--jobs N] [BUILD]:
# changes one operator, index, number or barrier of a source in a copy; compiles that one object, links it before the
# library with the tests that judge it (t/tool/mutation/sources.py, kernels.py), and runs them until one fails. N
# mutations of each kernel's operator, or of each function of C. Prints a row a mutation: killed (a test failed, crashed
# or hung), or SURVIVED; then the share. Exits 1 where too few are killed (nine in ten of kernels, 95 in 100 of C).
# Mutants of which the compiler makes the same code are none, nor are those of t/tool/mutation/known.py. The choice
# depends on the seed and the files' text alone. With --log rows already in FILE are not made again and new ones are
# added: a run that --limit ended is gone on with by the same command. srcdir names the sources.
import argparse, fnmatch, os, queue, random, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutation.builder import Builder  # noqa: E402
from mutation.sources import targets  # noqa: E402

HEAD = "unit\tplace\tkind\tnumber\tfrom\tto\tverdict"


def arguments(known):
    a = argparse.ArgumentParser()
    a.add_argument("--target", default="kernels", choices=sorted(known))
    a.add_argument("--each", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--only", default="")
    a.add_argument("--log", default="")
    a.add_argument("--limit", type=float, default=1e9)
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--again", action="store_true", help="survivors of --log are judged once more, and nothing else")
    a.add_argument("build", nargs="?", default=".")
    return a.parse_args()


class Log:
    """Rows of this run and, from a file, of earlier ones."""

    def __init__(self, path, again):
        self.path, self.rows, self.lock, self.again, self.alive = path, {}, threading.Lock(), again, set()
        if path and os.path.exists(path):
            for line in open(path).read().splitlines()[1:]:
                cells = line.split("\t")
                key = tuple(cells[:4])
                self.alive.discard(key)
                self.rows[key] = line
                if again and cells[-1] == "SURVIVED":
                    self.alive.add(key)
            for key in self.alive:
                del self.rows[key]
        elif path:
            open(path, "w").write(HEAD + "\n")

    def put(self, key, row):
        with self.lock:
            self.rows[key] = row
            print(row, flush=True)
            if self.path:
                open(self.path, "a").write(row + "\n")


class Baseline:
    """Tests that pass on the sources as they are: another judges nothing."""

    def __init__(self, builder):
        self.builder, self.lock, self.passed = builder, threading.Lock(), {}

    def holds(self, test):
        with self.lock:
            if test not in self.passed:
                b = self.builder
                name = test.partition(" ")[0]
                script = name.endswith((".sh", ".py"))
                code, out = b.shell("make -s halfulp" if script else "make -s %s" % name, 3600)
                if not code:
                    env, b.env = b.env, dict(b.env, HALFULP=os.path.join(b.build, "halfulp"))
                    code, out = b.shell(b.command(test) if script else "./" + test, 900)
                    b.env = env
                why = b.judged(test, code, out)
                self.passed[test] = not why
                if why:
                    print("# judges nothing, for it fails without a mutation: " + why, flush=True)
            return self.passed[test]


def judge(target, builder, baseline, unit, source, mutation):
    """The row's end, or "" where the mutation is none."""
    code, out, (old, new) = builder.compile(source, mutation)
    if code: # not C any more: no mutant
        return ""
    why, checked = "", False
    for test in target.tests(unit):
        if not baseline.holds(test):
            continue
        why = builder.verdict(test, target.seconds)
        if why:
            break
        if not checked and builder.same(source, mutation[0]):
            return ""
        checked = True
    return "%s\t%s\t%s" % (old.replace("\t", " "), new.replace("\t", " "), why or "SURVIVED")


crashed = []


def work(*what):
    """judging() in a thread: what ends it ends the program."""
    try:
        judging(*what)
    except BaseException as e:  # noqa: B902
        crashed.append(str(e))


def judging(target, builder, baseline, log, jobs, each, until):
    while not crashed and time.time() < until:
        try:
            unit, place, some = jobs.get_nowait()
        except queue.Empty:
            return
        done = number = 0
        for mutation in some:
            if done == each or time.time() > until:
                break
            number += 1
            key = (unit, "%s:%d" % (mutation[0], mutation[1] + 1), mutation[4], str(number))
            if log.again and key not in log.rows and key not in log.alive:
                break
            if key not in log.rows:
                end = judge(target, builder, baseline, unit, target.source(unit), mutation)
                if not end:
                    if log.path:
                        log.put(key, "\t".join(key) + "\t\t\tNONE")
                    continue
                log.put(key, "\t".join(key) + "\t" + end)
            done += not log.rows[key].endswith("\tNONE")


def main():
    top = os.path.abspath(os.environ.get("srcdir", "."))
    known = targets(top)
    a = arguments(known)
    target, build = known[a.target], os.path.abspath(a.build)
    units = target.units()
    only = a.only.split(",") if a.only else ["*"]
    wanted = [u for o in only for u in units if fnmatch.fnmatch(u, o)]
    if not all(any(fnmatch.fnmatch(u, o) for u in units) for o in only):
        sys.exit("mutate.py: --only: nothing of %s is called so: %s" % (a.target, ", ".join(o for o in only if not any(fnmatch.fnmatch(u, o) for u in units))))
    missing = [target.source(u) for u in wanted if not os.path.exists(os.path.join(top, target.source(u)))]
    if missing:
        sys.exit("mutate.py: there is no " + ", ".join(missing))
    log, jobs = Log(a.log, a.again), queue.Queue()
    all_jobs = [(unit, place, some) for unit in wanted for place, some in target.mutations(unit, a.each, a.seed) if some]
    if a.log:
        random.Random(a.seed).shuffle(all_jobs) # what is done when the time is up is a sample of all
    for job in all_jobs:
        jobs.put(job)
    code, out = Builder(top, build, 99).shell("make -s halfulp t/libtap.a", 3600)
    if code:
        sys.exit("mutate.py: the program does not build:\n" + out[-2000:])
    print(HEAD, flush=True)
    builders = [Builder(top, build, k) for k in range(a.jobs)]
    baseline, until = Baseline(Builder(top, build, 99)), time.time() + a.limit
    threads = [threading.Thread(target=work, args=(target, b, baseline, log, jobs, a.each, until)) for b in builders]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if crashed:
        sys.exit(crashed[0])
    rows = [r for k, r in log.rows.items() if k[0] in wanted and not r.endswith("\tNONE")]
    survivors = [r for r in rows if r.endswith("\tSURVIVED")]
    killed = len(rows) - len(survivors)
    print("# killed %d of %d (%.0f %%), seed %d, %d functions or operators%s" % (killed, len(rows), 100.0 * killed / max(len(rows), 1), a.seed, len(all_jobs), "" if jobs.empty() else ", %d not come to yet" % jobs.qsize()))
    for s in survivors:
        print("# survivor: " + s.replace("\t", "  "))
    sys.exit(0 if rows and killed >= target.needed * len(rows) else 1)


main()
