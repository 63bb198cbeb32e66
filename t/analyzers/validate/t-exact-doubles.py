#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --exact: a network too deep for running bounds, and too large for MPFR, is computed in doubles. What is told
# is what fractions give; with --outputs, and where a rounding to whole numbers stands among its nodes, pairs of doubles
# compute it. HALFULP names the program.
import json, os, random, struct, sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
from npzfile import *
from onnxfile import *
from tap import finish, halfulp, home, ok

L, WIDTH, DEPTH, N = 304, 24, 30, 3  # 2 L^3 operations are more than MPFR is asked for; sqrt(24)^30 is above 2^64

def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def draw(n, size):
    return [single(random.uniform(-size, size)) for _ in range(n)]


def run(name, *more):
    options = ["--policy", "float32", "--exact", str(N), *more]
    p = halfulp("validate", name + ".onnx", "--data", name + ".npz", *options)
    return p.stdout if p.returncode == 0 else "exit %d: %s" % (p.returncode, p.stderr)


os.chdir(home())
random.seed(7)
weights = [draw(WIDTH * WIDTH, (3 * 1.6 / WIDTH) ** 0.5) for _ in range(DEPTH)]
x = draw(N * WIDTH, 1)
b, v = [((5 * i) % 11 - 5) / 8 for i in range(L * L)], [((7 * i) % 13 - 6) / 2**16 for i in range(L * L)]
nodes = [node("MatMul", "b v", "z"), node("ReduceSum", "z axes", "s", keepdims=1), node("Add", "x s", "h0")]
for i in range(DEPTH):
    last = i == DEPTH - 1
    nodes += [node("MatMul", "h%d w%d" % (i, i), "y" if last else "p%d" % i)]
    nodes += [] if last else [node("Relu", "p%d" % i, "h%d" % (i + 1))]
constants = [floats("v", [L, L], v), ints("axes", [2], [1, 2])]
constants += [floats("w%d" % i, [WIDTH, WIDTH], w) for i, w in enumerate(weights)]
inputs = [value("x", ["batch", 1, WIDTH]), value("b", ["batch", L, L])]
write("deep.onnx", graph(nodes, constants, inputs, [value("y", ["batch", 1, WIDTH])]))
jump = nodes[:3] + [node("Mul", "h0 zero", "j"), node("Round", "j", "r"), node("Add", "h0 r", "k0")]
jump += [node("MatMul", "k0 w0", "p0")] + nodes[4:]
write("jump.onnx", graph(jump, constants + [floats("zero", [1], [0])], inputs, [value("y", ["batch", 1, WIDTH])]))
for name in "deep", "jump":
    npz(name + ".npz", x=([N, 1, WIDTH], x), b=([N, L, L], b * N))

# The exact network: the sum of a product's elements is that of its columns' and rows' sums.
columns = [sum(Fraction(b[i * L + k]) for i in range(L)) for k in range(L)]
rows = [sum(Fraction(v[k * L + j]) for j in range(L)) for k in range(L)]
total = sum(p * q for p, q in zip(columns, rows))
exact = []
for n in range(N):
    h = [Fraction(a) + total for a in x[n * WIDTH : (n + 1) * WIDTH]]
    for i, w in enumerate(weights):
        h = [sum(h[j] * Fraction(w[j * WIDTH + k]) for j in range(WIDTH)) for k in range(WIDTH)]
        h = [max(a, Fraction(0)) for a in h] if i < DEPTH - 1 else h
    exact += h

text = run("deep", "--outputs", "out")
paired = json.loads(run("deep", "--outputs", "out2", "--json"))["exact"]
got = outputs("out/float32.npz")["y"][1]
error = max(abs(Fraction(g) - e) for g, e in zip(got, exact))
ok(paired["doubles"] == 0 and paired["inputs"] == N and "in doubles" not in text,
   "with --outputs pairs of doubles compute it: %s" % paired)
text, e = run("deep"), json.loads(run("deep", "--json"))["exact"]
ok((e["inputs"], e["agreed"], e["doubles"], e["open"], e["changed"]) == (N, N, N, 0, 0),
   "without, doubles compute all %d inputs: %s" % (N, e))
off = abs(Fraction(e["max_error"]) - error) / error
ok(0 < error and off < Fraction(1, 2**16), "the error told is the fractions', by 2^-16 of itself: %.3g" % float(off))
ok("On 3 inputs it was computed in doubles, because the network is too deep for running bounds, and has bounds of "
   "2^-16 of float32's own error." in text, "which is said: %s" % text.splitlines()[-4:])
ok("%.3g off" % paired["max_error"] in text, "the digits printed are those of pairs of doubles")
e = json.loads(run("jump", "--json"))["exact"]
ok(e["doubles"] == 0 and e["inputs"] + e["open"] == N, "pairs of doubles compute a network that may jump: %s" % e)
finish()
