#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --exact: what bounds leave open is not told. A tie that no finite number of digits decides is counted as
# untold in a network too large for MPFR, and told by MPFR in a small one; other inputs are told in both. HALFULP names
# the program.
import json, os, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
from npzfile import *
from onnxfile import *

PROGRAM = os.path.abspath(os.environ.get("HALFULP", "./halfulp"))
count = failed = 0


def ok(good, what):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, what), flush=True)


where = tempfile.mkdtemp(prefix="halfulp-test-")
os.chdir(where)
L = 304  # 2 L^3 operations are more than MPFR is asked for
tie = [node("Div", "x three", "d"), node("Mul", "d three", "m"), node("Round", "m", "r"), node("MatMul", "r w", "y")]
small = [floats("three", [1], [3]), floats("w", [3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1])]
write("small.onnx", graph(tie, small, [value("x", ["batch", 3])], [value("y", ["batch", 3])]))
write(
    "large.onnx",
    graph(
        tie + [node("MatMul", "b v", "z")],
        small + [floats("v", [L, L], [((7 * i) % 13 - 6) / 8 for i in range(L * L)])],
        [value("x", ["batch", 3]), value("b", ["batch", L, L])],
        [value("y", ["batch", 3]), value("z", ["batch", L, L])],
    ),
)
x = [0.5, 0.25, 0.0, 1.0, 2.0, 3.0]  # the first row's decision hangs on 0.5 / 3 * 3, which rounds to 0
npz("small.npz", x=([2, 3], x))
npz("large.npz", x=([2, 3], x), b=([2, L, L], [((5 * i) % 11 - 5) / 8 for i in range(2 * L * L)]))
for name, told in ("large", 1), ("small", 2):
    p = subprocess.run(
        [PROGRAM, "validate", name + ".onnx", "--data", name + ".npz", "--policies", "float32", "--exact", "2", "--json"],
        capture_output=True,
        text=True,
    )
    e = json.loads(p.stdout)["exact"] if p.returncode == 0 else {}
    ok(
        (e.get("inputs"), e.get("untold")) == (told, 2 - told),
        "%s: %s inputs are told, %s untold %s" % (name, e.get("inputs"), e.get("untold"), p.stderr.strip()),
    )
    ok(e.get("max_error") == 0 and e.get("changed") == 0, "%s: float32 has no error on those told" % name)
print("1..%d" % count)
if not failed:
    os.chdir("/")
    shutil.rmtree(where)
sys.exit(bool(failed))
