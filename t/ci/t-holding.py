#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python/halfulp/holding.py: what it writes is read back by halfulp and by the safetensors package where
that is found; drift is told, and a recorded change passes. The plugin for pytest is tested by t-wheel.py, too, and so
are the answers of validate."""

import os, pathlib, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
import tap
from tap import ok, skip

try:
    import numpy
except ImportError:
    tap.skip_all("NumPy is absent")
top = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
program = os.path.abspath(os.environ.get("HALFULP", "halfulp"))
os.environ["HALFULP"] = program
os.environ["OMP_WAIT_POLICY"] = "passive"
home = pathlib.Path(tap.home())
sys.path.insert(0, str(top / "python"))
from halfulp import holding


x = numpy.linspace(-3, 3, 24, dtype="f4").reshape(2, 3, 4)
kinds = {
    "f8": x.astype("f8"),
    "f4": x,
    "f2": x.astype("f2"),
    "i8": numpy.arange(5),
    "u1": numpy.arange(7, dtype="u1"),
    "bool": x > 0,
    "scalar": numpy.float32(2.5),
    "number": 3.25,
    "turned": x.T,
    "big-endian": x.astype(">f4"),
    "empty": numpy.zeros((0, 3), "f4"),
}


def of(name, tensors, record=False, rules=()):
    n = holding.Numerics(str(home / "numerics" / holding.file_of("test_it.py::" + name)), record)
    for k, v in tensors.items():
        n(k, v)
    for r in rules:
        n.rule(r)
    return n.verdict()


ok(
    "is not there: where" in of("test_a[1/2]", kinds) and not (home / "numerics").exists(),
    "nothing is recorded yet: a sentence, and no file",
)
ok(
    of("test_a[1/2]", kinds, record=True) == ""
    and of("test_a[1/2]", kinds) == ""
    and len(list((home / "numerics").iterdir())) == 1,
    "recorded, held, and nothing else is left there",
)
(file,) = (home / "numerics").iterdir()
try:
    from safetensors.numpy import load_file

    read = load_file(file)
    ok(
        set(read) == set(kinds)
        and all(
            numpy.array_equal(read[k], numpy.asarray(v)) and read[k].shape == numpy.asarray(v).shape
            for k, v in kinds.items()
        ),
        "the safetensors package reads the same",
        {k: v.dtype for k, v in read.items()},
    )
except ImportError:
    skip("the safetensors package reads the same", "it is absent")
moved = dict(kinds, f4=x.copy())
moved["f4"][1, 2, 3] = numpy.nextafter(numpy.float32(3), numpy.float32(9))
said = of("test_a[1/2]", moved, rules=["*: exact"])
ok(
    "f4, [1,2,3]: one value of 24 is one ulp of fp32 off, 3 -> 3.00000024" in said.splitlines()[0]
    and "\nok " not in said,
    "one ulp off, and what fails alone is told",
    said,
)
ok(
    of("test_a[1/2]", moved) == "" and of("test_a[1/2]", moved, rules=["f4: ulps <= 1", "*: exact"]) == "",
    "which the defaults and a rule let pass",
)
ok(
    "is in " in of("test_a[1/2]", {k: v for k, v in kinds.items() if k != "f8"})
    or "missing" in of("test_a[1/2]", {k: v for k, v in kinds.items() if k != "f8"}),
    "a tensor that is gone fails",
)
ok("--rule" in of("test_a[1/2]", kinds, rules=["f4: rel < 1"]), "a wrong rule is said")
try:
    holding.Numerics(str(home / "x"))("s", numpy.array(["text"]))
    holding.as_bytes(numpy.array(["text"]))
    ok(False, "texts are refused")
except TypeError as e:
    ok("cannot be held" in str(e), "texts are refused")
try:
    import torch

    t = torch.linspace(-3, 3, 24).reshape(4, 6)
    ok(
        of("torch", {"b": t.bfloat16(), "f": t, "t": t.T}, record=True) == ""
        and of("torch", {"b": t.bfloat16(), "f": t, "t": t.T}) == "",
        "tensors of torch, bfloat16 too",
    )
except ImportError:
    skip("tensors of torch", "torch is absent")

# the plugin as it stands in the sources; t-wheel.py has it as it is installed
try:
    import pytest  # noqa: F401
    import subprocess

    suite = "def test_a(numerics):\n    numerics('x', %s)\n\ndef test_b():\n    pass\n"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "halfulp.pytest_plugin"]
    paths = os.pathsep.join([str(top / "python"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    os.makedirs(home / "plugin")

    def ran(number, *more):
        with open(home / "plugin" / "test_held.py", "w") as f:
            f.write(suite % number)
        env = dict(os.environ, PYTHONPATH=paths, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
        line = words + [*more, "test_held.py"]
        return subprocess.run(line, cwd=home / "plugin", env=env, capture_output=True, text=True)

    said = [ran(*how) for how in (("2.5",), ("2.5", "--numerics-update"), ("2.5",), ("2.75",))]
    ok([p.returncode for p in said] == [1, 0, 0, 1] and all("1 failed, 1 passed" in p.stdout for p in said[::3])
       and "x: l2 0.1" in said[3].stdout,
       "pytest: a test fails that holds other numbers, and one that holds none passes", [p.stdout for p in said])
    ok(not [p.stdout for p in said if "pytest_plugin.py" in p.stdout or "warning" in p.stdout.lower()],
       "a failure says what drifted, shows no source, and warns of nothing", said[3].stdout)
except ImportError:
    skip("the plugin of pytest", "pytest is absent")

from halfulp import models

kinds = [models.Policy(name, "pass", 0, 0, 0, None, 1, 0, 0, 1, {}, {}) for name in ("fp16", "bf16", "int8")]
answers = models.Validation(True, "", kinds)
ok([answers[p.policy] is p for p in kinds] == [True] * 3, "an answer of validate is found by its policy's name")
tap.finish()
