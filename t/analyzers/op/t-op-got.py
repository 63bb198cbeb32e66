#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# op --got: shape is part of the answer, and another order of the axes is named; the probabilistic bound beside the
# proven one, recomputed from the operands' bytes by Higham and Mary's formula, and what it says of wrong products.
# HALFULP names the program.
import itertools, json, math, os, random, struct, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402

where = home()
r = random.Random(5)


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def normal(n, scale=1.0):
    return [f32(r.gauss(0, scale)) for _ in range(n)]


def save(name, shape, values, code="f"):
    text = (
        "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % ({"f": "f4", "d": "f8"}[code], tuple(shape))
    ).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(os.path.join(where, name + ".npy"), "wb") as f:
        f.write(
            b"\x93NUMPY\x01\x00"
            + struct.pack("<H", len(text))
            + text
            + struct.pack("<%d%s" % (len(values), code), *values)
        )


def load(name):
    data = open(os.path.join(where, name + ".npy"), "rb").read()
    body = data[10 + struct.unpack("<H", data[8:10])[0]:]
    code = "f" if b"'<f4'" in data[:128] else "d"
    return list(struct.unpack("<%d%s" % (len(body) // (4 if code == "f" else 8), code), body))


def op(*words):
    words = [w + ".npy" if w[:2] in ("a=", "b=", "c=") else w for w in words]
    return subprocess.run([HALFULP, "op", *words], cwd=where, capture_output=True, text=True)


def judged(*words, got):
    """Exit code, the JSON, standard error, and the printed lines by their first word."""
    one, two = op(*words, "--got", got + ".npy", "--json"), op(*words, "--got", got + ".npy")
    lines = dict((l.split()[0], l.split(None, 1)[1]) for l in two.stdout.splitlines())
    return one.returncode if one.returncode == two.returncode else -1, json.loads(one.stdout), one.stderr, lines


# Shapes and orders of the axes

def permuted(values, shape, axes):
    step = [math.prod(shape[a + 1:]) for a in range(len(shape))]
    return [
        values[sum(i * step[a] for i, a in zip(index, axes))]
        for index in itertools.product(*(range(shape[a]) for a in axes))
    ]


def layouts(name, words, shape, axes, say):
    op(*words, "--out", "d.npy")
    d = load("d")
    other = [shape[a] for a in axes]
    save("right", shape, d)
    code, j, err, lines = judged(*words, got="right")
    ok(code == 0 and j["layout"] is None and j["shape"] == j["shape_of_result"] == list(shape)
       and "shape" not in lines and "layout" not in lines, "%s: our own result in its own shape is right" % name)
    save("other", other, permuted(d, shape, axes))
    for more in ((), ("--as", "bound")):
        code, j, err, lines = judged(*words, *more, got="other")
        ok(
            code == 1
            and say in j["layout"]
            and say in lines["layout"]
            and (other == list(shape) or "WRONG" in lines["shape"]),
            "%s: %s is named (%s)%s" % (name, say, lines.get("layout"), " by --as bound" if more else ""),
        )
    save("flat", (len(d),), d)
    code, j, err, lines = judged(*words, got="flat")
    ok(code == 1 and j["differ"] == 0 and "in the same order, under another shape" in j["layout"]
       and "WRONG" in lines["shape"], "%s: the right values under another shape are wrong, and that is all that is"
       % name)
    save("under", shape, permuted(d, shape, axes))
    code, j, err, lines = judged(*words, got="under")
    ok(code == 1 and j["differ"] > 0 and say in (j["layout"] or ""),
       "%s: the other order under the result's own shape is named too" % name)
    shuffled = d[:]
    r.shuffle(shuffled)
    save("shuffled", other, shuffled)
    code, j, err, lines = judged(*words, got="shuffled")
    ok(
        code == 1
        and (other == list(shape) and j["layout"] is None or "no order of the result's axes" in (j["layout"] or "")),
        "%s: where no order fits, none is named" % name,
    )
    save("fewer", (len(d) - 1,), d[1:])
    ran = op(*words, "--got", "fewer.npy")
    ok(
        ran.returncode == 3
        and "(%d,)" % (len(d) - 1) in ran.stderr
        and "(%s)" % ", ".join(map(str, shape)) in ran.stderr
        and ran.stderr.count("\n") == 1,
        "%s: fewer elements are refused with both shapes" % name,
    )


save("A", (3, 20), normal(60))
save("B", (20, 4), normal(80))
save("S", (20, 3), normal(60))
layouts("matmul", ("matmul", "--in", "a=A", "--in", "b=B"), (3, 4), (1, 0), "its transpose")
layouts("matmul, square", ("matmul", "--in", "a=A", "--in", "b=S"), (3, 3), (1, 0), "its transpose")
save("X", (2, 5, 4, 3), normal(120))
save("W", (3, 3, 3, 6), normal(162))
save("DY", (2, 5, 4, 6), normal(240))
layouts("conv2d", ("conv2d", "--in", "a=X", "--in", "b=W"), (2, 5, 4, 6), (0, 3, 1, 2), "NHWC to NCHW")
layouts(
    "conv2d_dw", ("conv2d_dw", "--in", "a=X", "--in", "b=DY", "--set", "kh=3", "--set", "kw=3"), (3, 3, 3, 6),
    (3, 2, 0, 1), "HWIO to OIHW"
)
layouts("conv2d, by another order", ("conv2d", "--in", "a=X", "--in", "b=W"), (2, 5, 4, 6), (2, 0, 3, 1),
        "transpose(2, 0, 3, 1)")
# Where several orders fit the values, the one of the array's own shape is named
save("L", (2, 3, 4), [1.0, 2.0, 3.0, 4.0] * 6)
for axes in ((2, 0, 1), (2, 1, 0)):
    save("other", [(2, 3, 4)[a] for a in axes], [v for v in (1.0, 2.0, 3.0, 4.0) for _ in range(6)])
    code, j, err, lines = judged("relu", "--in", "a=L", got="other")
    ok(code == 1 and "transpose(%d, %d, %d)" % axes in (j["layout"] or ""), "the order of its own shape: %s"
       % j["layout"])
save("Z", (2, 3, 20), normal(120))
op("dot", "--in", "a=Z", "--in", "b=Z", "--out", "d.npy")
save("right", (2, 3), load("d"))
ok(judged("dot", "--in", "a=Z", "--in", "b=Z", got="right")[0] == 0,
   "dot: the result has the shape of a without its last axis")
op("grad_norm", "--in", "a=A", "--out", "d.npy")
save("right", (), load("d"))
save("one", (1,), load("d"))
ok(judged("grad_norm", "--in", "a=A", got="right")[0] == 0 and judged("grad_norm", "--in", "a=A", got="one")[0] == 1,
   "a scalar's shape is (), not (1,)")

# The probabilistic bound: n roundings by u, its lambda from the confidence for all results

U = 2.0**-24


def gamma(n, events, u=U, confidence=0.99, more=0.0):
    lam = math.sqrt(2 * math.log(2 * events / (1 - confidence))) / (1 - u)
    return math.expm1(lam * math.sqrt(n) * u + n * u * u / (1 - u))


def bounds(*words):
    out = op(*words, "--as", "bound").stdout.splitlines()
    return out[0], [[float(x) if x != "-" else None for x in l.split("\t")] for l in out[2:]], out[1]


def same(name, words, want):
    """WANT: a bound a result; where the proven one is smaller it stands. Rounding may make it larger, and never smaller
    than the formula by more than this test's own doubles are off."""
    head, rows, names = bounds(*words)
    good = names == "proven\tprobabilistic" and len(rows) == len(want)
    bad = [
        (i, p, b, w) for i, ((p, b), w) in enumerate(zip(rows, want)) if not (-1e-13 * b <= b - min(w, p) <= 1e-9 * b)
    ]
    ok(
        good and not bad,
        "%s: every bound is the formula's, from the bytes%s" % (name, "\n# %r" % bad[:2] if bad else ""),
    )


K = 512
a, b = normal(6 * K), normal(5 * K, K**-0.5)
save("P", (6, K), a)
save("Q", (K, 5), b)
mags = [math.fsum(abs(a[i * K + k] * b[k * 5 + j]) for k in range(K)) for i in range(6) for j in range(5)]
same("matmul", ("matmul", "--in", "a=P", "--in", "b=Q"), [gamma(K, 30 * K) * m for m in mags])
same(
    "matmul, confidence 0.5", ("matmul", "--in", "a=P", "--in", "b=Q", "--confidence", "0.5"),
    [gamma(K, 30 * K, confidence=0.5) * m for m in mags]
)
same(
    "matmul by chunks of 32", ("matmul", "--in", "a=P", "--in", "b=Q", "--sum", "chunk:32"),
    [gamma(32 + 15, 30 * K) * m for m in mags]
)
same("matmul in bf16", ("matmul", "--in", "a=P", "--in", "b=Q", "--sum", "fma,acc=bf16", "--set", "out=fp32"),
     [gamma(K, 30 * K, 2.0**-8) * m for m in mags])
rows = [math.fsum(abs(x * x) for x in a[i * K:(i + 1) * K]) for i in range(6)]
same(
    "dot, sequential", ("dot", "--in", "a=P", "--in", "b=P", "--sum", "sequential"), [gamma(K, 6 * K) * m for m in rows]
)
x, w = normal(2 * 6 * 6 * 32), normal(5 * 5 * 32 * 2)
save("I", (2, 6, 6, 32), x)
save("F", (5, 5, 32, 2), w)
mags = []
for n, y, z, o in itertools.product(range(2), range(6), range(6), range(2)):
    taps = [(y + i - 2, z + j - 2, i, j) for i in range(5) for j in range(5) if 0 <= y + i - 2 < 6 and 0 <= z
            + j - 2 < 6]
    mags.append(math.fsum(abs(x[((n * 6 + p) * 6 + q) * 32 + c] * w[((i * 5 + j) * 32 + c) * 2 + o]) for p, q, i,
                          j in taps for c in range(32)))
same("conv2d", ("conv2d", "--in", "a=I", "--in", "b=F"), [gamma(800, 144 * 800) * m for m in mags])
t = normal(40000 * 2)
save("T", (40000, 2), t)
depth = 4096 // 32 + 5 + 1 + 5
same("bias_db", ("bias_db", "--in", "a=T"), [gamma(depth, 2 * 40000) * math.fsum(abs(v) for v in t[j::2])
                                             for j in range(2)])
same(
    "grad_norm", ("grad_norm", "--in", "a=T"),
    [gamma(4096 // 32 + 5 + 1 + 5 + 2, 80000) * math.sqrt(math.fsum(v * v for v in t))]
)
save("V", (1, 64, 64, 1), t[:4096])
same("avgpool", ("avgpool", "--in", "a=V"), [gamma(4096 // 32 + 5 + 1, 4096) * math.fsum(map(abs, t[:4096])) / 4096])
for p in ("0.999999999999999", "0.9999999999999999", "0.99999999999", "0.5"):
    said = bounds("matmul", "--in", "a=P", "--in", "b=Q", "--confidence", p)[0]
    ok("with probability %s:" % p in said, "confidence %s is printed as it is, not as 1" % p, said)
for name, words in (
    ("tensor cores", ("dot", "--in", "a=P", "--in", "b=P", "--sum", "tc:ampere,in=fp16")),
    ("rounding toward zero", ("dot", "--in", "a=P", "--in", "b=P", "--sum", "fma,mode=RZ")),
    ("Kahan's sum", ("dot", "--in", "a=P", "--in", "b=P", "--sum", "kahan")),
    ("relu", ("relu", "--in", "a=P")),
    ("gelu", ("gelu", "--in", "a=P")),
):
    head, rows, names = bounds(*words)
    ok("there is none" in head and all(p is None for q, p in rows), "%s: none, and why" % name)

# What it says of results
save("E", (0, 2), [])
save("none", (0,), [])
code, j, err, lines = judged("dot", "--in", "a=E", "--in", "b=E", got="none")
ok(
    code == 0
    and j["elements"] == 0
    and all(
        j[k] is None for k in ("ulp_max", "worst_element", "worst_value", "ulp_mean", "normwise", "bound_ratio_max")
    ),
    "of no results no error is told",
)
save("H", (2, 2), [f32(3e38), 1, 1, 1])
op("matmul", "--in", "a=H", "--in", "b=H", "--out", "d.npy")
code, j, err, lines = judged("matmul", "--in", "a=H", "--in", "b=H", "--as", "bound", got="d")
ok(code == 0 and j["without_bound"] == 1 and lines["proven"] == "within; 1 of 4 results have no bound",
   "what may overflow has no bound, and that is said beside the verdict")
inf, nan = math.inf, math.nan
save("I", (2, 2), [inf, 1, 2, nan])
save("J", (2, 2), [0, 1, 1, 1])
for value, over, open_ in (
    ([nan, inf, nan, nan], 0, 0),
    ([-nan, inf, nan, nan], 0, 0),
    ([nan, nan, nan, nan], 0, 1),
    ([5, inf, nan, nan], 1, 0),
    ([nan, -inf, nan, nan], 1, 0),
    ([nan, 3e38, nan, inf], 2, 0),
):
    save("got", (2, 2), [f32(v) if math.isfinite(v) else v for v in value])
    code, j, err, lines = judged("matmul", "--in", "a=I", "--in", "b=J", "--as", "bound", got="got")
    ok(
        (code, j["over_bound"], j["without_bound"]) == (over > 0, over, open_) and "-nan" not in str(lines),
        "what follows from infinite operands is certain: %s" % value, [code, j["over_bound"], j["without_bound"], lines]
    )

K = 1024
a, b = normal(8 * K), normal(8 * K, K**-0.5)
save("P", (8, K), a)
save("Q", (K, 8), b)
d = [math.fsum(a[i * K + k] * b[k * 8 + j] for k in range(K)) for i in range(8) for j in range(8)]
save("good", (8, 8), d)
off = d[:]
off[13] += 1e-3
save("off", (8, 8), off)
words = ("matmul", "--in", "a=P", "--in", "b=Q", "--as", "bound")
code, j, err, lines = judged(*words, got="good")
ok(code == 0 and j["proven"] == "within" and j["probabilistic"]["verdict"] == "within" and j["probabilistic"]["over"]
   == 0 and not err and lines["probable"].startswith("within"), "an fp32 product: within both bounds")
ok(abs(j["probabilistic"]["lambda"] - math.sqrt(2 * math.log(2 * 64 * K / 0.01))) < 1e-5
   and j["probabilistic"]["confidence"] == 0.99 and "Higham and Mary" in j["probabilistic"]["source"]
   and "lambda = 5.725" in lines["probable"] and "probability 0.99" in lines["probable"],
   "lambda, confidence and source are said")
code, j, err, lines = judged(*words, got="off")
ok(code == 0 and j["proven"] == "within" and j["over_bound"] == 0 and lines["proven"] == "within",
   "an error of 1e-3 is within the proven bound, so exit 0")
p = j["probabilistic"]
ok(p["verdict"] == "OUTSIDE" and p["over"] == 1 and p["worst_element"] == 13
   and lines["probable"].startswith("OUTSIDE THE PROBABILISTIC BOUND: 1 of 64 results")
   and "OUTSIDE THE PROBABILISTIC BOUND" in err and "within the proven one" in err,
   "and outside the probabilistic one, in words: printed, in JSON, on standard error")
mag = math.fsum(abs(a[K + k] * b[k * 8 + 5]) for k in range(K))
ok(abs(p["ratio_max"] - abs(f32(off[13]) - d[13]) / (gamma(K, 64 * K) * mag)) < 1e-4 * p["ratio_max"],
   "by the factor that the formula gives, %.4g" % p["ratio_max"])
off[13] += 1
save("off", (8, 8), off)
code, j, err, lines = judged(*words, got="off")
ok(code == 1 and j["proven"] == "beyond" and lines["proven"] == "BEYOND THE PROVEN BOUND",
   "an error of 1 is beyond the proven bound: exit 1")
for words, what in (
    (("--confidence", "0.9"), "no effect where no bound is told"),
    (("--confidence", "1", "--as", "bound"), "between 0 and 1"),
    (("--confidence", "0", "--as", "bound"), "between 0 and 1"),
):
    ran = op("matmul", "--in", "a=P", "--in", "b=Q", *words)
    ok(ran.returncode == 2 and what in ran.stderr and not ran.stdout, "%s is refused: %s" % (" ".join(words), what))
# Units are among the models that are tried, those with a second accumulator too
for form, model in (
    ('bf16', 'avx512bf16'),
    ('bf16', 'bfdot'),
    ('fp16', 'cdna1,in=fp16'),
    ('bf16', 'cdna2,in=bf16,terms=2'),
    ('e4m3fnuz', 'cdna3,in=e4m3fnuz'),
    ('e4m3', 'tc:hopper,in=e4m3,out=fp32,path=wgmma,promote=128'),
    ('fp64', 'ozaki:6'),
):
    words = ('matmul', '--in', 'a=P', '--in', 'b=Q', '--set', 'in=' + form)
    words += ('--set', 'out=fp64' if form == 'fp64' else 'out=fp32')
    op(*words, '--sum', model, '--out', 'd.npy')
    j = json.loads(op(*words, '--sum', 'all', '--got', 'd.npy', '--json').stdout)
    first = j['models'][0]
    found = first['equal'] == j['elements'] and model in [first['sum']] + first['alike']
    ok(found, '%s is found by its bits' % model, j['verdict'])

finish()
