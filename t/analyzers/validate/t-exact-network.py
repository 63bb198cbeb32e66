#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --exact: what bounds leave open is not told. A tie that no finite number of digits decides is counted as
# open in a network too large for MPFR, and told by MPFR in a small one; other inputs are told in both. The exact
# outputs that --outputs writes are those of fractions. HALFULP names the program.
import json, os, random, struct, subprocess, sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
from npzfile import *
from onnxfile import *
from tap import HALFULP as PROGRAM, finish, home, ok


os.chdir(home())
L = 304  # 2 L^3 operations are more than MPFR is asked for
tie = [node("Div", "x three", "d"), node("Mul", "d three", "m"), node("Round", "m", "r"), node("MatMul", "r w", "y")]
small = [floats("three", [1], [3]), floats("w", [3, 3], [1, 2, 0, 0, 1, 4, 3, 0, 1])]
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
        [PROGRAM, "validate", name + ".onnx", "--data", name + ".npz", "--policy", "float32", "--exact", "2", "--json",
         "--outputs", name],
        capture_output=True,
        text=True,
    )
    e = json.loads(p.stdout)["exact"] if p.returncode == 0 else {}
    ok(
        (e.get("inputs"), e.get("open")) == (told, 2 - told),
        "%s: %s inputs are told, %s open %s" % (name, e.get("inputs"), e.get("open"), p.stderr.strip()),
    )
    ok(e.get("max_error") == 0 and e.get("changed") == 0, "%s: float32 has no error on those told" % name)
    got = outputs(name + "/exact.npz") if e else {}
    ok(got["halfulp.input"][1] == (0.0, 1.0)[2 - told:] and got["y"][1] == (0, 0, 0, 10, 4, 11)[6 - 3 * told:],
       "%s: and the exact outputs are theirs: %s" % (name, got.get("y")))
# Class 1 is the exact network's, by less than float32 sees beside class 0; whether class 2 is class 0 no bound decides,
# which is no matter, since it is not class 1. Another output of which no double holds the values leaves all open.
# In "apart" float32 is off by 5 and by 1 units of 2^-24 to the same side, and both are x: its margin is sure, and
# whether they are equal is not.
for name, classes, of in ("beside", "x a b", 0.5), ("tied", "x b", 0.5), ("apart", "p q", 0.5 + 27 * 2.0**-24):
    write(
        name + ".onnx",
        graph(
            [
                node("Add", "x less", "a"),
                node("Div", "x three", "d"),
                node("Mul", "d three", "b"),
                node("Add", "x many", "pm"),
                node("Sub", "pm many", "p"),
                node("Add", "b two", "qt"),
                node("Sub", "qt two", "q"),
                node("Concat", classes, "y", axis=1),
                node("MatMul", "c v", "z"),
            ],
            [
                floats("many", [1, 1], [16]),
                floats("two", [1, 1], [2]),
                floats("less", [1, 1], [2.0**-26]),
                floats("three", [1, 1], [3]),
                floats("v", [L, L], [1 / 4] * (L * L)),
            ],
            [value("x", ["batch", 1]), value("c", ["batch", L, L])],
            [value("y", ["batch", len(classes.split())]), value("z", ["batch", L, L])],
        ),
    )
    npz(name + ".npz", x=([1, 1], [of]), c=([1, L, L], [1.0] * (L * L)))
powers = [node("Mul", "%s %s" % ((c,) * 2), chr(ord(c) + 1)) for c in "efghij"]
write(
    "beyond.onnx",
    graph(
        powers + [node("Mul", "x x", "y"), node("MatMul", "c v", "z")],
        [floats("v", [L, L], [1 / 4] * (L * L))],
        [value("x", ["batch", 1]), value("e", ["batch", 1]), value("c", ["batch", L, L])],
        [value("y", ["batch", 1]), value("k", ["batch", 1]), value("z", ["batch", L, L])],
    ),
)
# Two of float32's classes are NaN, which is inf - inf, where doubles are exactly 0; the class before them is exactly
# 1/2 but for its bound. Nothing of the decision depends on that: float32's is none, and the exact one is 1/2.
write(
    "nan.onnx",
    graph(
        [node("Mul", "x big", "p"), node("Mul", "p big", "q"), node("Sub", "q q", "n"), node("Add", "n zero", "m"),
         node("Div", "x three", "d"), node("Mul", "d three", "b"), node("Concat", "b n m", "y", axis=1),
         node("MatMul", "c v", "z")],
        [floats("big", [1, 1], [2.0**100]), floats("zero", [1, 1], [0]), floats("three", [1, 1], [3]),
         floats("v", [L, L], [1 / 4] * (L * L))],
        [value("x", ["batch", 1]), value("c", ["batch", L, L])],
        [value("y", ["batch", 3]), value("z", ["batch", L, L])],
    ),
)
npz("nan.npz", x=([1, 1], [0.5]), c=([1, L, L], [1.0] * (L * L)))
npz("beyond.npz", x=([1, 1], [0.5]), e=([1, 1], [1e20]), c=([1, L, L], [1.0] * (L * L)))
for name, told in ("beside", 1), ("tied", 0), ("apart", 0), ("nan", 1), ("beyond", 0):
    p = subprocess.run(
        [PROGRAM, "validate", name + ".onnx", "--data", name + ".npz", "--policy", "float32", "--exact", "1", "--json"],
        capture_output=True,
        text=True,
    )
    e = json.loads(p.stdout)["exact"] if p.returncode == 0 else {}
    ok(
        (e.get("inputs"), e.get("open"), e.get("changed")) == (told, 1 - told, told),
        "%s: %s %s" % (name, e, p.stderr.strip()),
    )
p = subprocess.run(
    [PROGRAM, "validate", "large.onnx", "--data", "large.npz", "--policy", "float32", "--exact", "2"],
    capture_output=True,
    text=True,
)
ok(
    p.stdout.split("\n\n")[-2].splitlines()
    == [
        "The exact network, on 1 input: float32 is at most 0 off, 0 of the output's largest magnitude.",
        "float32 decides otherwise than it on 0; on 0 float32's margin is no larger than its own error.",
        "Of 1 more input nothing is told, because the bounds on the exact values leave a decision or a distance open.",
    ],
    "an input that is left open is said to be: %s" % p.stdout.splitlines()[-6:],
)
# The exact outputs themselves: two layers on drawn inputs, in fractions.
random.seed(5)
N, A, B, C = 7, 9, 6, 3
single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
draw = lambda n: [single(random.gauss(0, 1) * 10 ** random.randint(-3, 3)) for _ in range(n)]
w, b, u, x = draw(A * B), draw(B), draw(B * C), draw(N * A)
write(
    "net.onnx",
    graph(
        [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("MatMul", "r u", "y")],
        [floats("w", [A, B], w), floats("b", [B], b), floats("u", [B, C], u)],
        [value("x", ["batch", A])],
        [value("y", ["batch", C]), value("h", ["batch", B])],
    ),
)
npz("net.npz", x=([N, A], x))
subprocess.run(
    [PROGRAM, "validate", "net.onnx", "--data", "net.npz", "--policy", "fp16", "--exact", "4", "--outputs", "out"],
    stdout=subprocess.DEVNULL,
    check=True,
)
got = outputs("out/exact.npz")
rows, off = [int(i) for i in got["halfulp.input"][1]], got["halfulp.off"][1]
ok(len(rows) == len(set(rows)) == 4 and len(off) == 4 and sorted(got) == ["h", "halfulp.input", "halfulp.off", "y"],
   "--outputs has the exact outputs of four inputs: %s" % rows)
wrong = []
for r, i in enumerate(rows):
    h = [Fraction(b[k]) + sum(Fraction(x[i * A + j]) * Fraction(w[j * B + k]) for j in range(A)) for k in range(B)]
    y = [sum(max(h[j], 0) * Fraction(u[j * C + k]) for j in range(B)) for k in range(C)]
    for name, want in ("h", h), ("y", y):
        for k, e in enumerate(want):
            is_ = got[name][1][r * len(want) + k]
            if is_ != float(e) and not abs(Fraction(is_) - e) <= Fraction(off[r]) + abs(e) / 2**53:
                wrong.append((i, name, k, is_, float(e)))
ok(not wrong and 0 < max(off) < 1e-15 * max(map(abs, got["y"][1])), "they are the fractions' %s" % wrong[:3])
ok(got["h"][0] == (4, B) and outputs("out/fp16.npz")["h"][0] == (N, B), "and have their rows alone")
# A constant without elements goes through operators of every kind and gives none: no call, and no signal.
write(
    "empty.onnx",
    graph(
        [node("Trilu", "e one", "t", upper=1), node("Relu", "t", "r"), node("Add", "r r", "y")],
        [floats("e", [0, 5], []), ints("one", [], [1])],
        [value("x", ["batch", 3])],
        [value("y", [0, 5])],
    ),
)
p = subprocess.run(
    [PROGRAM, "validate", "empty.onnx", "--data", "small.npz", "--policy", "float32"], capture_output=True, text=True
)
ok(p.returncode == 0 and not p.stderr and "0 calls" in p.stdout and "nothing is decided" in p.stdout,
   "of an output without elements nothing is computed and nothing decided: %d %s" % (p.returncode, p.stderr.strip()))
finish()
