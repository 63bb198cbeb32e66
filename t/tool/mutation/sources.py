# SPDX-License-Identifier: Apache-2.0
# C files, function by function, and the tests that judge them: those that run the changed line (reach.py), those first
# that are cheap or were the first to see another change of the file, as many as the time for one mutant allows.
import fnmatch
import os
import random
import re

from .reach import Reach
from .rules import SOURCES, WORDS, candidates, functions

FOLDERS = {
    "analyzers": ["analyzers", "lib/judge"],
    "trainer": ["trainer", "cuda/device"],
    "operators": ["lib/op"],
    "library": ["lib/base", "lib/exact", "lib/import", "lib/number", "lib/program", "lib/store", "lib/sum"],
}
TESTED_IN = {
    "analyzers": ("analyzers", "judge", "golden"),
    "trainer": ("trainer", "golden", "cuda"),
    "operators": ("op", "golden"),
    "library": ("base", "exact", "import", "number", "program", "store", "sum", "golden"),
    "python": ("trace",),
}
# Other instruction sets' copies, files that no machine without a device runs, and what MPI's headers are needed for.
LEFT_OUT = (
    "lib/base/ranks/mpi.c",
    "cuda/device/absent.c",
    "*_avx2.c",
    "*_avx512.c",
    "trainer/energy/nvml.c",
    "trainer/device/gpu.c",
    "analyzers/probe/probe_device.c",
)


class Sources:
    needed = 0.95

    def __init__(self, top, name, build=None):
        self.top, self.name, self.build, self.known = top, name, build, None
        self.saw = {} # by unit and test: how many changes it was the first to see

    def units(self):
        found = []
        for folder in FOLDERS[self.name]:
            for d, _, names in os.walk(os.path.join(self.top, folder)):
                found += [os.path.relpath(os.path.join(d, f), self.top) for f in names if f.endswith(".c")]
        return sorted(f for f in found if not any(fnmatch.fnmatch(f, p) for p in LEFT_OUT))

    def source(self, unit):
        return unit

    def mutations(self, unit, each, seed):
        for name, lines in functions(self.top, unit):
            some = candidates(self.top, unit, SOURCES, WORDS, lines)
            random.Random("%d %s %s" % (seed, unit, name)).shuffle(some)
            yield name, some

    @property
    def reach(self):
        self.known = self.known or Reach(self.top, self.build)
        return self.known

    def tests(self, unit, mutation):
        """The unit's own folders' tests before others, which run it on their way to something else, and before those
        the tests that are called as it or its folder."""
        words = {os.path.basename(os.path.dirname(unit)), *re.split(r"[_.]", os.path.basename(unit)[:-2])}
        named = lambda t: bool(words & set(re.split(r"\W+", t.rpartition("/")[2])))
        far = lambda t: 0.4 if named(t) else 1 if t.split("/")[1] in TESTED_IN[self.name] else 4
        of = self.reach.judges(unit, mutation[1] + 1)
        return sorted(of, key=lambda t: far(t) * self.reach.weight[t] / (1 + 2 * self.saw.get((unit, t), 0)))

    def seen(self, unit, test):
        self.saw[unit, test] = self.saw.get((unit, test), 0) + 1

    def seconds(self, test):
        """How many seconds of processor time a test takes, a process of it may take, and of the clock's, more where the
        machine is busy."""
        busy, takes = max(1, os.getloadavg()[0] / (os.cpu_count() or 1)), self.reach.seconds(test)
        return takes, int(10 + 4 * takes), (60 + 10 * takes) * busy


def targets(top, build=None):
    """By name."""
    from .kernels import Kernels
    from .python import Python
    of_c = {name: Sources(top, name, build) for name in FOLDERS}
    return {"kernels": Kernels(top), "python": Python(top, "python", build), **of_c}
