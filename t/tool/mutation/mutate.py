#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutate.py [--target T] [--each N] [--seed S] [--draw F] [--only NAME,...] [--log FILE] [--limit SECONDS]
#           [--budget SECONDS] [--jobs N] [BUILD], and before it, once in a build folder, mutate.py --measure [BUILD]:
# changes one operator, index, number or barrier of a source in a copy; compiles that one object, links it before the
# library with the tests that judge it, and runs them until one fails. Of C those tests judge that run the changed line,
# which --measure finds out (t/tool/mutation/reach.py), until they took --budget seconds; of kernels see kernels.py.
# N mutations of each kernel's operator, or of each function of C (of F functions of C that the seed draws). Prints a
# row a mutation: killed (a test failed, crashed or hung), or SURVIVED; then the share. Exits 1 where too few are killed
# (nine in ten of kernels, 95 in 100 of C). Mutants of which the compiler makes the same code are none, nor are those of
# t/tool/mutation/known.py. The choice depends on the seed and the files' text alone. With --log rows already in FILE
# are not made again and new ones are added: a run that --limit ended is gone on with by the same command. srcdir names
# the sources. Several runs may share a build folder. --only UNIT:LINE,... makes every mutation of these lines of C, and
# --only UNIT,... --measure TESTS finds out of these units alone which of the tests that match run which of their lines.
import argparse, atexit, fnmatch, os, queue, random, re, shutil, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutation import reach  # noqa: E402
from mutation.builder import Builder  # noqa: E402
from mutation.sources import targets  # noqa: E402

HEAD = "unit\tplace\tkind\tnumber\tfrom\tto\tverdict"


def arguments(known):
    a = argparse.ArgumentParser()
    a.add_argument("--target", default="kernels", choices=sorted(known))
    a.add_argument("--each", type=int, default=1)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--draw", type=int, default=0)
    a.add_argument("--budget", type=float, default=100)
    a.add_argument("--only", default="")
    a.add_argument("--log", default="")
    a.add_argument("--limit", type=float, default=1e9)
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--again", action="store_true", help="survivors of --log are judged once more, and nothing else")
    a.add_argument("--measure", nargs="?", const="", help="which tests run which lines; tests that match it alone")
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
                if again and cells[-1].startswith("SURVIVED"):
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


def judge(target, builder, baseline, unit, source, mutation, budget):
    """The row's end, or "" where the mutation is none."""
    code, out, (old, new) = builder.compile(source, mutation)
    if code: # not C any more: no mutant
        return ""
    tests, why, checked, spent, ran = target.tests(unit, mutation), "", False, 0, 0
    for test in tests:
        seconds, processor, limit = target.seconds(test)
        if ran and spent + seconds > budget:
            continue
        spent, ran = spent + seconds, ran + 1
        why = builder.verdict(test, processor, limit)
        if why and os.getloadavg()[0] > (os.cpu_count() or 1): # on a busy machine tests fail that would not elsewhere
            why = builder.verdict(test, processor, limit)
        if why and not baseline.holds(test):
            why = ""
        if why:
            target.seen(unit, test)
            break
        if not checked and builder.same(source, mutation[0]):
            return ""
        checked = True
    if not tests and builder.same(source, mutation[0]):
        return ""
    why = why or "SURVIVED %d of %d tests that run it" % (ran, len(tests))
    return "%s\t%s\t%s" % (old.replace("\t", " "), new.replace("\t", " "), why)


crashed = []


def work(*what):
    """judging() in a thread: what ends it ends the program."""
    try:
        judging(*what)
    except BaseException as e:  # noqa: B902
        crashed.append(str(e))


def judging(target, builder, baseline, log, jobs, each, until, budget):
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
                end = judge(target, builder, baseline, unit, target.source(unit), mutation, budget)
                if not end:
                    if log.path:
                        log.put(key, "\t".join(key) + "\t\t\tNONE")
                    continue
                log.put(key, "\t".join(key) + "\t" + end)
            done += not log.rows[key].endswith("\tNONE")


def builder_of(target, top, build, name):
    """A folder of its own, which goes when the program ends."""
    b = getattr(target, "builder", Builder)(top, build, "%d-%s" % (os.getpid(), name))
    atexit.register(shutil.rmtree, b.dir, ignore_errors=True)
    return b


def main():
    top = os.path.abspath(os.environ.get("srcdir", "."))
    a = arguments(targets(top))
    build = os.path.abspath(a.build)
    known = targets(top, build)
    target = known[a.target]
    units = target.units()
    if a.measure is not None:
        only = a.only.split(",") if a.only else ["*"]
        units = sorted({u for n in known for u in known[n].units() if u.endswith((".c", ".py"))})
        units = [u for u in units if any(fnmatch.fnmatch(u, o) for o in only)]
        return reach.measure(top, build, units, a.jobs, a.measure)
    if a.target != "kernels" and not os.path.exists(os.path.join(build, reach.KEPT)):
        sys.exit("mutate.py: which test runs which line was not measured in %s: --measure does so" % build)
    only, lines = a.only.split(",") if a.only else ["*"], set()
    if re.fullmatch(r"([^,:]+:\d+,?)+", a.only):
        lines = {(o.split(":")[0], int(o.split(":")[1]) - 1) for o in only}
        only, a.each = sorted({unit for unit, line in lines}), 99
    wanted = [u for o in only for u in units if fnmatch.fnmatch(u, o)]
    nothing = [o for o in only if not any(fnmatch.fnmatch(u, o) for u in units)]
    if nothing:
        sys.exit("mutate.py: --only: nothing of %s is called so: %s" % (a.target, ", ".join(nothing)))
    missing = [target.source(u) for u in wanted if not os.path.exists(os.path.join(top, target.source(u)))]
    if missing:
        sys.exit("mutate.py: there is no " + ", ".join(missing))
    log, jobs = Log(a.log, a.again), queue.Queue()
    all_jobs = []
    for unit in wanted:
        for place, some in target.mutations(unit, a.each, a.seed):
            some = [m for m in some if not lines or (unit, m[1]) in lines]
            all_jobs += [(unit, place, some)] if some else []
    if a.log or a.draw:
        random.Random(a.seed).shuffle(all_jobs) # what is done when the time is up is a sample of all
    all_jobs = all_jobs[:a.draw or None]
    for job in all_jobs:
        jobs.put(job)
    main_builder = builder_of(target, top, build, "baseline")
    code, out = main_builder.shell("make -s halfulp t/libtap.a", 3600)
    if code:
        sys.exit("mutate.py: the program does not build:\n" + out[-2000:])
    print(HEAD, flush=True)
    builders = [builder_of(target, top, build, k) for k in range(a.jobs)]
    baseline, until = Baseline(main_builder), time.time() + a.limit
    rest = (baseline, log, jobs, a.each, until, a.budget)
    threads = [threading.Thread(target=work, args=(target, b, *rest)) for b in builders]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if crashed:
        sys.exit(crashed[0])
    rows = [r for k, r in log.rows.items() if k[0] in wanted and not r.endswith("\tNONE")]
    survivors = [r for r in rows if "\tSURVIVED" in r]
    killed = len(rows) - len(survivors)
    share, left = 100.0 * killed / max(len(rows), 1), "" if jobs.empty() else ", %d not come to yet" % jobs.qsize()
    of = (killed, len(rows), share, a.seed, len(all_jobs), left)
    print("# killed %d of %d (%.0f %%), seed %d, %d functions or operators%s" % of)
    for s in survivors:
        print("# survivor: " + s.replace("\t", "  "))
    sys.exit(0 if rows and killed >= target.needed * len(rows) else 1)


main()
