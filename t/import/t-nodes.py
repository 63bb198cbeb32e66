#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Each operator that models are imported with, in a model of one or a few nodes made here, against a plain definition of
# the operator in Python: one formula an output element, in doubles. All cases are one model; where that fails each is
# tried by itself, and named. HALFULP names the program. With a word as argument only cases with it in their names run;
# --keep DIR also leaves a model a case there.
import itertools, math, os, random, shutil, struct, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
from npzfile import *
from onnxfile import *

PROGRAM = os.path.abspath(os.environ.get("HALFULP", "./halfulp"))
random.seed(17)
cases = []


class Array:
    """A shape and its elements; a[i, j] is one of them, and None outside."""

    def __init__(self, shape, values):
        self.shape, self.v = list(shape), list(values)
        assert len(self.v) == math.prod(self.shape)

    def __getitem__(self, index):
        at = 0
        for i, n in zip(index if isinstance(index, tuple) else (index,), self.shape):
            if not 0 <= i < n:
                return None
            at = at * n + i
        return self.v[at]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def drawn(*shape, low=-2.0, high=2.0):
    return Array(shape, [f32(random.uniform(low, high)) for _ in range(math.prod(shape))])


def whole(*shape, low=0, high=5):
    return Array(shape, [random.randint(low, high) for _ in range(math.prod(shape))])


def given(*shape_and_values):
    *shape, values = shape_and_values
    return Array(shape, values)


def made(shape, f):
    return Array(shape, [f(*i) for i in itertools.product(*map(range, shape))])


def case(name, op, inputs, expected, constants=(), nodes=None, out="y", **attributes):
    """inputs: {name: Array}; constants: those of them that the model holds. nodes: instead of one node op over all inputs."""
    nodes = nodes or [(op, " ".join(inputs), out, attributes)]
    wants = dict(zip(out.split(), expected if isinstance(expected, (list, tuple)) else [expected]))
    cases.append((name, nodes, inputs, set(constants), wants))


def is_whole(a):
    return all(isinstance(v, int) for v in a.v)


def unary(op, f, low=-3.0, high=3.0, **attributes):
    x = drawn(2, 3, 4, low=low, high=high)
    case(op, op, {"x": x}, Array(x.shape, map(f, x.v)), **attributes)


def lift(a, shape):
    """a broadcast to shape."""
    skip = len(shape) - len(a.shape)
    return made(shape, lambda *i: a[tuple(0 if n == 1 else k for k, n in zip(i[skip:], a.shape))])


def binary(op, f, low=-2.0, high=2.0, a=(2, 3, 4), b=(3, 1)):
    x, y = drawn(*a, low=low, high=high), drawn(*b, low=low, high=high)
    shape = list(a) if len(a) >= len(b) else list(b)
    shape = [
        max(p, q) for p, q in zip(([1] * (len(shape) - len(a))) + list(a), ([1] * (len(shape) - len(b))) + list(b))
    ]
    p, q = lift(x, shape), lift(y, shape)
    case(op + "".join("_%d" % n for n in b), op, {"x": x, "z": y}, Array(shape, map(f, p.v, q.v)))


# Functions of an element
unary("Abs", abs)
unary("Neg", lambda x: -x)
unary("Exp", math.exp)
unary("Log", math.log, low=0.1)
unary("Sqrt", math.sqrt, low=0.0)
unary("Reciprocal", lambda x: 1 / x, low=0.5)
unary("Tanh", math.tanh)
unary("Erf", math.erf)
unary("Sin", math.sin, low=-40.0)
unary("Cos", math.cos, low=-40.0)
unary("Tan", math.tan, low=-1.5)
unary("Sigmoid", lambda x: 1 / (1 + math.exp(-x)))
unary("Relu", lambda x: max(x, 0))
unary("LeakyRelu", lambda x: x if x > 0 else 0.125 * x, alpha=0.125)
unary("Elu", lambda x: x if x > 0 else 1.5 * math.expm1(x), alpha=1.5)
unary("Celu", lambda x: x if x > 0 else 1.5 * math.expm1(x / 1.5), alpha=1.5)
unary("Selu", lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)))
unary("Softplus", lambda x: math.log1p(math.exp(x)))
unary("Softsign", lambda x: x / (1 + abs(x)))
unary("HardSigmoid", lambda x: min(max(0.25 * x + 0.5, 0), 1), alpha=0.25, beta=0.5)
unary("HardSwish", lambda x: x * min(max(x / 6 + 0.5, 0), 1))
unary("Mish", lambda x: x * math.tanh(math.log1p(math.exp(x))))
unary("Gelu", lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))))
unary("ThresholdedRelu", lambda x: x if x > 0.5 else 0, alpha=0.5)
unary("Shrink", lambda x: x + 0.25 if x < -0.5 else x - 0.25 if x > 0.5 else 0, lambd=0.5, bias=0.25)
unary("Floor", math.floor)
unary("Ceil", math.ceil)
unary("Round", round)
unary("Sign", lambda x: (x > 0) - (x < 0))
unary("Identity", lambda x: x)
binary("Add", lambda a, b: a + b)
binary("Add", lambda a, b: a + b, b=(4,))
binary("Sub", lambda a, b: a - b)
binary("Mul", lambda a, b: a * b, a=(3, 1), b=(2, 1, 4))
binary("Div", lambda a, b: a / b, low=0.5)
binary("Pow", lambda a, b: a**b, low=0.5)
binary("PRelu", lambda a, b: a if a > 0 else a * b)
binary("Max", max)
binary("Min", min)
x = drawn(2, 5)
case(
    "Clip",
    "Clip",
    {"x": x, "lo": given([-0.5]), "hi": given([0.75])},
    Array(x.shape, [min(max(v, -0.5), 0.75) for v in x.v]),
    "lo hi".split(),
)
a, b = whole(3, 4, low=-9, high=9), whole(3, 4, low=1, high=4)
case("Mod", "Mod", {"a": a, "b": b}, Array(a.shape, [p % q for p, q in zip(a.v, b.v)]))
case("DivWhole", "Div", {"a": a, "b": b}, Array(a.shape, [int(p / q) for p, q in zip(a.v, b.v)]))
c = given(2, 1, [1, 0])
for op, f in ("Less", lambda p, q: p < q), ("GreaterOrEqual", lambda p, q: p >= q), ("Equal", lambda p, q: p == q):
    case(
        op,
        None,
        {"a": a, "b": b},
        Array(a.shape, [int(f(p, q)) for p, q in zip(a.v, b.v)]),
        nodes=[(op, "a b", "t", {}), ("Cast", "t", "y", {"to": FLOAT})],
    )
x, z = drawn(3, 4), drawn(4)
case(
    "Where",
    None,
    {"x": x, "z": z},
    Array(x.shape, [p if p > q else q for p, q in zip(x.v, lift(z, [3, 4]).v)]),
    nodes=[("Greater", "x z", "t", {}), ("Where", "t x z", "y", {})],
)
case(
    "LogicalXor",
    None,
    {"a": a, "b": b},
    Array(a.shape, [int((p < q) != (p == q)) for p, q in zip(a.v, b.v)]),
    nodes=[
        ("Less", "a b", "t", {}),
        ("Equal", "a b", "u", {}),
        ("Xor", "t u", "w", {}),
        ("Cast", "w", "y", {"to": FLOAT}),
    ],
)


# Products
def matmul(a, b):
    shape = [max(p, q) for p, q in zip(a.shape[:-2], b.shape[:-2])] + [a.shape[-2], b.shape[-1]]
    a, b = lift(a, shape[:-2] + a.shape[-2:]), lift(b, shape[:-2] + b.shape[-2:])
    return made(shape, lambda *i: math.fsum(a[i[:-1] + (k,)] * b[i[:-2] + (k, i[-1])] for k in range(a.shape[-1])))


a, b, c = drawn(2, 3, 4), drawn(1, 4, 5), drawn(3, 2, 4)
case("MatMul", "MatMul", {"a": a, "b": b}, matmul(a, b))
a, b, c = drawn(4, 3), drawn(5, 4), drawn(5)
case(
    "Gemm",
    "Gemm",
    {"a": a, "b": b, "c": c},
    made([3, 5], lambda i, j: 0.5 * math.fsum(a[k, i] * b[j, k] for k in range(4)) + 2 * c[j]),
    "bc",
    transA=1,
    transB=1,
    alpha=0.5,
    beta=2.0,
)
a, b, c = drawn(2, 3, 4), drawn(2, 4, 3), drawn(5, 3)
case(
    "Einsum",
    "Einsum",
    {"a": a, "b": b, "c": c},
    made([5, 2, 3], lambda m, i, j: math.fsum(a[i, j, k] * b[i, k, l] * c[m, l] for k in range(4) for l in range(3))),
    equation="ijk,ikl,ml->mij",
)
case("EinsumDiagonal", "Einsum", {"a": drawn(2, 3, 3)}, None, equation="...ii->...i")
a = cases[-1][2]["a"]
cases[-1][4]["y"] = made([2, 3], lambda i, j: a[i, j, j])


def conv(x, w, b, stride=1, pad=0, dilation=1, groups=1):
    n, ci, *size = x.shape
    co, cg, *k = w.shape
    out = [(s + 2 * pad - (t - 1) * dilation - 1) // stride + 1 for s, t in zip(size, k)]
    taps = list(itertools.product(*map(range, k)))
    return made(
        [n, co] + out,
        lambda i, o, *p: b[o]
        + math.fsum(
            (
                x[(i, o // (co // groups) * cg + c) + tuple(q * stride - pad + t * dilation for q, t in zip(p, tap))]
                or 0
            )
            * w[(o, c) + tap]
            for c in range(cg)
            for tap in taps
        ),
    )


x, w, b = drawn(2, 4, 6, 5), drawn(6, 2, 3, 3), drawn(6)
case(
    "Conv",
    "Conv",
    {"x": x, "w": w, "b": b},
    conv(x, w, b, 2, 1, 1, 2),
    "wb",
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    group=2,
)
x, w, b = drawn(1, 3, 9), drawn(2, 3, 3), drawn(2)
case("ConvSequence", "Conv", {"x": x, "w": w, "b": b}, conv(x, w, b, 1, 2, 2), "wb", pads=[2, 2], dilations=[2])
x, w, b = drawn(1, 4, 5, 5), drawn(4, 1, 3, 3), drawn(4)
case(
    "ConvDepthwise", "Conv", {"x": x, "w": w, "b": b}, conv(x, w, b, 1, 1, 1, 4), "wb", auto_pad="SAME_UPPER", group=4
)
x, w, b = drawn(2, 2, 4, 5, 4), drawn(3, 2, 3, 2, 3), drawn(3)
case("ConvVolume", "Conv", {"x": x, "w": w, "b": b}, conv(x, w, b, 2, 1), "wb", strides=[2, 2, 2], pads=[1] * 6)
x, w, b = drawn(1, 4, 4, 3, 5), drawn(4, 2, 2, 3, 3), drawn(4)
case("ConvVolumeGroups", "Conv", {"x": x, "w": w, "b": b}, conv(x, w, b, 1, 1, 1, 2), "wb", pads=[1] * 6, group=2)
x, w, b = drawn(1, 2, 1, 3, 3), drawn(2, 2, 3, 3, 3), drawn(2)  # two of three slices lie outside
case("ConvVolumeFlat", "Conv", {"x": x, "w": w, "b": b}, conv(x, w, b, 1, 1), "wb", pads=[1] * 6)
x = drawn(1, 4, 4, 3, 5)
cube = lambda x, n, c, i, j, k: [
    v
    for p in range(2)
    for q in range(2)
    for r in range(2)
    if (v := x[n, c, 2 * i + p - 1, 2 * j + q - 1, 2 * k + r - 1]) is not None
]
case(
    "MaxPoolVolume",
    "MaxPool",
    {"x": x},
    made([1, 4, 2, 2, 3], lambda *i: max(cube(x, *i))),
    kernel_shape=[2] * 3,
    strides=[2] * 3,
    pads=[1, 1, 1, 0, 0, 0],
)
case(
    "AveragePoolVolume",
    "AveragePool",
    {"x": x},
    made([1, 4, 2, 2, 3], lambda *i: sum(cube(x, *i)) / len(cube(x, *i))),
    kernel_shape=[2] * 3,
    strides=[2] * 3,
    pads=[1, 1, 1, 0, 0, 0],
)
x, w = drawn(1, 3, 4, 3), drawn(3, 2, 3, 3)
case(
    "ConvTranspose",
    "ConvTranspose",
    {"x": x, "w": w},
    made(
        [1, 2, 8, 6],
        lambda n, o, i, j: math.fsum(
            x[n, c, (i + 1 - p) // 2, (j + 1 - q) // 2] * w[c, o, p, q]
            for c in range(3)
            for p in range(3)
            for q in range(3)
            if (i + 1 - p) % 2 == 0
            and (j + 1 - q) % 2 == 0
            and x[n, c, (i + 1 - p) // 2, (j + 1 - q) // 2] is not None
        ),
    ),
    "w",
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    output_padding=[1, 1],
)

# Pools and norms
x = drawn(1, 2, 6, 5)
window = lambda x, n, c, i, j: [
    v for p in range(3) for q in range(3) if (v := x[n, c, 2 * i + p - 1, 2 * j + q - 1]) is not None
]
case(
    "MaxPool",
    "MaxPool",
    {"x": x},
    made([1, 2, 3, 3], lambda *i: max(window(x, *i))),
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
)
case(
    "AveragePool",
    "AveragePool",
    {"x": x},
    made([1, 2, 3, 3], lambda *i: sum(window(x, *i)) / len(window(x, *i))),
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
)
case(
    "AveragePoolPadded",
    "AveragePool",
    {"x": x},
    made([1, 2, 3, 3], lambda *i: sum(window(x, *i)) / 9),
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    count_include_pad=1,
)
image = lambda x, n, c: [x[n, c, i, j] for i in range(x.shape[2]) for j in range(x.shape[3])]
case(
    "GlobalAveragePool",
    "GlobalAveragePool",
    {"x": x},
    made([1, 2, 1, 1], lambda n, c, *_: math.fsum(image(x, n, c)) / 30),
)
case("GlobalMaxPool", "GlobalMaxPool", {"x": x}, made([1, 2, 1, 1], lambda n, c, *_: max(image(x, n, c))))
s, b, m, v = drawn(2), drawn(2), drawn(2), drawn(2, low=0.5)
case(
    "BatchNormalization",
    "BatchNormalization",
    {"x": x, "s": s, "b": b, "m": m, "v": v},
    made(x.shape, lambda *i: (x[i] - m[i[1]]) / math.sqrt(v[i[1]] + 1e-3) * s[i[1]] + b[i[1]]),
    "sbmv",
    epsilon=1e-3,
)


def normal(values, x, eps=1e-5):
    mean = math.fsum(values) / len(values)
    return (x - mean) / math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values) + eps)


case(
    "InstanceNormalization",
    "InstanceNormalization",
    {"x": x, "s": s, "b": b},
    made(x.shape, lambda *i: normal(image(x, *i[:2]), x[i]) * s[i[1]] + b[i[1]]),
    "sb",
)
x, s, b = drawn(3, 8), drawn(8), drawn(8)
row = lambda x, i: x.v[i * x.shape[1] : (i + 1) * x.shape[1]]
case(
    "LayerNormalization",
    "LayerNormalization",
    {"x": x, "s": s, "b": b},
    made(x.shape, lambda i, j: normal(row(x, i), x[i, j]) * s[j] + b[j]),
    "sb",
)
case(
    "Softmax",
    "Softmax",
    {"x": x},
    made(x.shape, lambda i, j: math.exp(x[i, j]) / math.fsum(map(math.exp, row(x, i)))),
)
case(
    "LogSoftmax",
    "LogSoftmax",
    {"x": x},
    made(x.shape, lambda i, j: x[i, j] - math.log(math.fsum(map(math.exp, row(x, i))))),
)
case(
    "LpNormalization",
    "LpNormalization",
    {"x": x},
    made(x.shape, lambda i, j: x[i, j] / math.sqrt(math.fsum(v * v for v in row(x, i)))),
)

# Reductions
x = drawn(2, 3, 4, low=0.25)
for op, f in (
    ("ReduceSum", math.fsum),
    ("ReduceMean", lambda v: math.fsum(v) / len(v)),
    ("ReduceMax", max),
    ("ReduceMin", min),
    ("ReduceProd", math.prod),
    ("ReduceL1", lambda v: math.fsum(map(abs, v))),
    ("ReduceL2", lambda v: math.sqrt(math.fsum(p * p for p in v))),
    ("ReduceSumSquare", lambda v: math.fsum(p * p for p in v)),
    ("ReduceLogSumExp", lambda v: math.log(math.fsum(map(math.exp, v)))),
    ("ReduceLogSum", lambda v: math.log(math.fsum(v))),
):
    case(
        op,
        op,
        {"x": x, "axes": given(2, [0, 2])},
        made([3], lambda j: f([x[i, j, k] for i in range(2) for k in range(4)])),
        ["axes"],
        keepdims=0,
    )
case(
    "ArgMax",
    None,
    {"x": x},
    made([2, 1, 4], lambda i, _, k: max(range(3), key=lambda j: x[i, j, k])),
    nodes=[("ArgMax", "x", "t", {"axis": 1}), ("Cast", "t", "y", {"to": FLOAT})],
)
case(
    "CumSum",
    "CumSum",
    {"x": x, "axis": given([1])},
    made(x.shape, lambda i, j, k: math.fsum(x[i, p, k] for p in range(j + 1))),
    ["axis"],
)
top = lambda i, k: sorted(range(3), key=lambda j: -x[i, j, k])
case(
    "TopK",
    None,
    {"x": x, "k": given(1, [2])},
    [made([2, 2, 4], lambda i, j, k: x[i, top(i, k)[j], k]), made([2, 2, 4], lambda i, j, k: top(i, k)[j])],
    ["k"],
    nodes=[("TopK", "x k", "y t", {"axis": 1}), ("Cast", "t", "z", {"to": FLOAT})],
    out="y z",
)

# Moves
x = drawn(2, 3, 4)
case("Transpose", "Transpose", {"x": x}, made([4, 2, 3], lambda i, j, k: x[j, k, i]), perm=[2, 0, 1])
case("Reshape", "Reshape", {"x": x, "s": given(2, [0, -1])}, Array([2, 12], x.v), "s")
case("Flatten", "Flatten", {"x": x}, Array([6, 4], x.v), axis=2)
case(
    "Squeeze",
    None,
    {"x": x, "a": given(1, [1])},
    x,
    "a",
    nodes=[("Unsqueeze", "x a", "t", {}), ("Squeeze", "t a", "y", {})],
)
case(
    "Concat",
    "Concat",
    {"x": x, "z": (z := drawn(2, 1, 4))},
    made([2, 4, 4], lambda i, j, k: x[i, j, k] if j < 3 else z[i, 0, k]),
    axis=1,
)
case(
    "Slice",
    "Slice",
    {"x": x, "s": given(2, [2, -1]), "e": given(2, [-9, 9]), "a": given(2, [1, 2]), "t": given(2, [-1, 1])},
    made([2, 3, 1], lambda i, j, k: x[i, 2 - j, 3]),
    "seat",
)
case(
    "Split",
    "Split",
    {"x": x, "s": given(2, [1, 3])},
    [made([2, 3, 1], lambda *i: x[i]), made([2, 3, 3], lambda i, j, k: x[i, j, k + 1])],
    "s",
    out="y z",
    axis=2,
)
case(
    "Pad",
    "Pad",
    {"x": x, "p": given(6, [0, 1, 0, 0, 0, 2]), "v": given([0.5])},
    made([2, 4, 6], lambda i, j, k: 0.5 if (v := x[i, j - 1, k]) is None else v),
    "pv",
)
case(
    "PadReflect",
    "Pad",
    {"x": x, "p": given(6, [0, 2, 1, 0, 0, 0])},
    made([2, 5, 5], lambda i, j, k: x[i, abs(j - 2), abs(k - 1)]),
    "p",
    mode="reflect",
)
case("Tile", "Tile", {"x": x, "n": given(3, [1, 2, 1])}, made([2, 6, 4], lambda i, j, k: x[i, j % 3, k]), "n")
case(
    "Expand",
    "Expand",
    {"x": (z := drawn(3, 1)), "s": given(3, [2, 1, 4])},
    made([2, 3, 4], lambda i, j, k: z[j, 0]),
    "s",
)
case(
    "Gather",
    "Gather",
    {"x": x, "i": given(2, 2, [0, -1, 2, 1])},
    made([2, 2, 2, 4], lambda i, p, q, k: x[i, [[0, 2], [2, 1]][p][q], k]),
    axis=1,
)
at = whole(2, 3, 2, high=3)
case(
    "GatherElements",
    "GatherElements",
    {"x": x, "i": at},
    made([2, 3, 2], lambda i, j, k: x[i, j, at[i, j, k]]),
    axis=2,
)
case("GatherND", "GatherND", {"x": x, "i": given(2, 2, [0, 2, 1, 0])}, made([2, 4], lambda i, k: x[i, [2, 0][i], k]))
u = drawn(2, 1, 4)
case(
    "ScatterElements",
    "ScatterElements",
    {"x": x, "i": given(2, 1, 4, [0, 1, 2, -1, 1, 1, 0, 0]), "u": u},
    made(x.shape, lambda i, j, k: u[i, 0, k] if [[0, 1, 2, 2], [1, 1, 0, 0]][i][k] == j else x[i, j, k]),
    "i",
    axis=1,
)
u = drawn(3, 4)
case(
    "ScatterND",
    "ScatterND",
    {"x": x, "i": given(3, 2, [0, 1, 1, 2, 0, 1]), "u": u},
    made(
        x.shape,
        lambda i, j, k: x[i, j, k] + (u[0, k] + u[2, k] if (i, j) == (0, 1) else u[1, k] if (i, j) == (1, 2) else 0),
    ),
    "i",
    reduction="add",
)
case(
    "ReverseSequence",
    "ReverseSequence",
    {"x": x, "n": given(3, [1, 2, 2])},
    made(x.shape, lambda i, j, k: x[[1, 2, 2][j] - 1 - i if i < [1, 2, 2][j] else i, j, k]),
    "n",
    time_axis=0,
    batch_axis=1,
)
case(
    "CenterCropPad",
    "CenterCropPad",
    {"x": x, "s": given(3, [4, 1, 4])},
    made([4, 1, 4], lambda i, j, k: x[i - 1, 1, k] or 0),
    "s",
)
columns, blocks = drawn(2, 8, 6), list(itertools.product(range(2), range(3)))
case(
    "Col2Im",
    "Col2Im",
    {"x": columns, "s": given(2, [3, 5]), "b": given(2, [2, 2])},
    made(
        [2, 2, 3, 5],
        lambda n, c, i, j: sum(
            columns[n, 4 * c + 2 * p + q, l]
            for (p, q), (l, (h, w)) in itertools.product(itertools.product(range(2), repeat=2), enumerate(blocks))
            if (2 * h + p - 1, 2 * w + 2 * q - 1) == (i, j)
        ),
    ),
    "sb",
    strides=[2, 2],
    dilations=[1, 2],
    pads=[1, 1, 0, 1],
)
case("Trilu", "Trilu", {"x": x, "k": given([1])}, made(x.shape, lambda i, j, k: x[i, j, k] if k - j >= 1 else 0), "k")
case(
    "EyeLike",
    None,
    {"x": (z := drawn(3, 4))},
    made([3, 4], lambda i, j: z[i, j] + (j - i == 1)),
    nodes=[("EyeLike", "x", "t", {"k": 1}), ("Add", "x t", "y", {})],
)
case(
    "OneHot",
    "OneHot",
    {"i": given(3, [2, 0, -1]), "n": given([4]), "v": given(2, [0.25, 2.0])},
    made([3, 4], lambda i, j: 2.0 if j == [2, 0, 3][i] else 0.25),
    "nv",
)
case(
    "DepthToSpace",
    "DepthToSpace",
    {"x": (z := drawn(1, 8, 2, 3))},
    made([1, 2, 4, 6], lambda n, c, i, j: z[n, (i % 2 * 2 + j % 2) * 2 + c, i // 2, j // 2]),
    blocksize=2,
)
case(
    "SpaceToDepth",
    "SpaceToDepth",
    {"x": (z := drawn(1, 2, 4, 6))},
    made([1, 8, 2, 3], lambda n, c, i, j: z[n, c % 2, 2 * i + c // 4, 2 * j + c // 2 % 2]),
    blocksize=2,
)
z = drawn(1, 2, 2, 3)
case(
    "ResizeNearest",
    "Resize",
    {"x": z, "-": None, "s": given(4, [1.0, 1.0, 2.0, 2.0])},
    made([1, 2, 4, 6], lambda n, c, i, j: z[n, c, i // 2, j // 2]),
    "s",
    coordinate_transformation_mode="asymmetric",
    nearest_mode="floor",
)


def linear(z, n, c, i, j):
    y, x = min(max((i + 0.5) / 2 - 0.5, 0), 1), min(max((j + 0.5) / 2 - 0.5, 0), 2)
    y0, x0 = min(int(y), 0), min(int(x), 1)
    return sum(
        z[n, c, y0 + p, x0 + q] * (y - y0 if p else 1 - y + y0) * (x - x0 if q else 1 - x + x0)
        for p in (0, 1)
        for q in (0, 1)
    )


case(
    "ResizeLinear",
    "Resize",
    {"x": z, "-": None, "s": given(4, [1.0, 1.0, 2.0, 2.0])},
    made([1, 2, 4, 6], lambda *i: linear(z, *i)),
    "s",
    mode="linear",
)

z, at = drawn(2, 3, 4, 5), drawn(2, 3, 2, 2, low=-1.4, high=1.4)
near = lambda n, c, y, x: sum(
    (z[n, c, math.floor(y) + p, math.floor(x) + q] or 0) * (y % 1 if p else 1 - y % 1) * (x % 1 if q else 1 - x % 1)
    for p in (0, 1)
    for q in (0, 1)
)
case(
    "GridSample",
    "GridSample",
    {"z": z, "g": at},
    made(
        [2, 3, 3, 2],
        lambda n, c, i, j: near(n, c, ((at[n, i, j, 1] + 1) * 4 - 1) / 2, ((at[n, i, j, 0] + 1) * 5 - 1) / 2),
    ),
)
clip = lambda v, n: min(max(round((v + 1) * (n - 1) / 2), 0), n - 1)
case(
    "GridSampleNearest",
    "GridSample",
    {"z": z, "g": at},
    made([2, 3, 3, 2], lambda n, c, i, j: z[n, c, clip(at[n, i, j, 1], 4), clip(at[n, i, j, 0], 5)]),
    mode="nearest",
    padding_mode="border",
    align_corners=1,
)
fold = lambda v, n: n - 1 - abs(n - 1 - abs(v) % (2 * n - 2)) if n > 1 else 0
case(
    "GridSampleReflected",
    "GridSample",
    {"z": z, "g": at},
    made(
        [2, 3, 3, 2],
        lambda n, c, i, j: near(n, c, fold((at[n, i, j, 1] + 1) * 1.5, 4), fold((at[n, i, j, 0] + 1) * 2, 5)),
    ),
    padding_mode="reflection",
    align_corners=1,
)
transform = drawn(2, 2, 3)
along = lambda i, n: (2 * i + 1) / n - 1
corner = lambda i, n: -1 + 2 * i / (n - 1)
at = lambda n, k, *place: transform[n, k, 2] + sum(transform[n, k, i] * p for i, p in enumerate(place))
case(
    "AffineGrid",
    "AffineGrid",
    {"t": transform, "s": given(4, [2, 3, 4, 5])},
    made([2, 4, 5, 2], lambda n, i, j, k: at(n, k, along(j, 5), along(i, 4))),
    "s",
)
bodies = drawn(1, 3, 4)
at = lambda k, *place: bodies[0, k, 3] + sum(bodies[0, k, i] * p for i, p in enumerate(place))
case(
    "AffineGridOfVolumes",
    "AffineGrid",
    {"t": bodies, "s": given(5, [1, 3, 2, 4, 3])},
    made([1, 2, 4, 3, 3], lambda n, h, i, j, k: at(k, corner(j, 3), corner(i, 4), corner(h, 2))),
    "s",
    align_corners=1,
)
case(
    "LRN",
    "LRN",
    {"z": z},
    made(
        z.shape,
        lambda n, c, i, j: z[n, c, i, j]
        / (1.5 + 0.25 / 3 * sum((z[n, k, i, j] or 0) ** 2 for k in range(c - 1, c + 2))) ** 0.75,
    ),
    size=3,
    alpha=0.25,
    bias=1.5,
)
odd = given(4, [1.0, math.inf, -math.inf, math.nan])
case(
    "IsNaN",
    None,
    {"x": odd},
    given(4, [0, 0, 0, 1]),
    nodes=[("IsNaN", "x", "t", {}), ("Cast", "t", "y", {"to": FLOAT})],
)
case(
    "IsInf",
    None,
    {"x": odd},
    given(4, [0, 0, 1, 0]),
    nodes=[("IsInf", "x", "t", {"detect_positive": 0}), ("Cast", "t", "y", {"to": FLOAT})],
)

# Regions: one inside, one that leaves the image by more than a pixel, one shorter than a pixel
z, rois = drawn(2, 3, 6, 5), given(3, 4, [1.5, 2.0, 7.25, 9.5, -6.0, -5.0, 3.0, 16.0, 4.0, 4.0, 4.5, 4.25])


def corners(n, c, y, x):
    """The four pixels around a sample, each times its weight; nothing beyond a pixel outside."""
    if not (-1 <= y <= 6 and -1 <= x <= 5):
        return [0.0] * 4
    y, x = min(max(y, 0), 5), min(max(x, 0), 4)
    i, j = math.floor(y), math.floor(x)
    weight = lambda d, far: d if far else 1 - d
    return [
        z[n, c, min(i + p, 5), min(j + q, 4)] * weight(y - i, p) * weight(x - j, q) for p in (0, 1) for q in (0, 1)
    ]


def region(join, half, r, c, i, j):
    x0, y0, x1, y1 = (rois[r, k] * 0.5 - (0.5 if half else 0) for k in range(4))
    high, wide = ((b - a if half else max(b - a, 1)) / n for a, b, n in ((y0, y1, 2), (x0, x1, 3)))
    return join(
        corners([1, 0, 1][r], c, y0 + (i + (p + 0.5) / 2) * high, x0 + (j + (q + 0.5) / 2) * wide)
        for p in (0, 1)
        for q in (0, 1)
    )


mean = lambda samples: sum(map(sum, samples)) / 4
for name, mode, half, join in (
    ("RoiAlign", "avg", True, mean),
    ("RoiAlignUnaligned", "avg", False, mean),
    ("RoiAlignMax", "max", True, lambda samples: max(map(max, samples))),
):
    case(
        name,
        "RoiAlign",
        {"z": z, "rois": rois, "of": given(3, [1, 0, 1])},
        made([3, 3, 2, 3], lambda r, c, i, j: region(join, half, r, c, i, j)),
        mode=mode,
        output_height=2,
        output_width=3,
        sampling_ratio=2,
        spatial_scale=0.5,
        coordinate_transformation_mode="half_pixel" if half else "output_half_pixel",
    )

# Losses over classes, with weights and with targets that do not count
x, weight, hit = drawn(2, 4, 3), drawn(4, low=0.2, high=3.0), given(2, 3, [3, 1, 2, 2, 0, 1])
logp = lambda n, k, i: x[n, k, i] - math.log(math.fsum(math.exp(x[n, j, i]) for j in range(4)))


def lost(reduction, score, weighed, ignored):
    """The loss at each target; summed, or averaged by weight."""
    heavy = lambda n, i: 0.0 if hit[n, i] == ignored else weight[hit[n, i]] if weighed else 1.0
    each = {(n, i): (-score(n, hit[n, i], i) * heavy(n, i), heavy(n, i)) for n in range(2) for i in range(3)}
    if reduction == "none":
        return made([2, 3], lambda n, i: each[n, i][0])
    total, share = (math.fsum(e[k] for e in each.values()) for k in (0, 1))
    return given([total / share if reduction == "mean" else total])


for op, score in (("NegativeLogLikelihoodLoss", lambda *at: x[at]), ("SoftmaxCrossEntropyLoss", logp)):
    for reduction in ("none", "sum", "mean"):
        for weighed, ignored in itertools.product((False, True), (None, 2)):
            case(
                "%s-%s-%s-%s" % (op, reduction, weighed, ignored),
                op,
                {"x": x, "t": hit, **({"w": weight} if weighed else {})},
                lost(reduction, score, weighed, ignored),
                reduction=reduction,
                **({} if ignored is None else {"ignore_index": ignored}),
            )
case(
    "SoftmaxCrossEntropyLoss-log-probabilities",
    "SoftmaxCrossEntropyLoss",
    {"x": x, "t": hit},
    [lost("sum", logp, False, None), made([2, 4, 3], logp)],
    out="y p",
    reduction="sum",
)

# Of constants alone
x = drawn(3, 4)
for op, f in (
    ("Sin", math.sin),
    ("Cos", math.cos),
    ("Tan", math.tan),
    ("Atan", math.atan),
    ("Sinh", math.sinh),
    ("Asinh", math.asinh),
    ("Acos", math.acos),
    ("Atanh", math.atanh),
):
    angle = (
        drawn(3, 4, low=-0.9, high=0.9)
        if op[0] == "A"
        else drawn(3, 4, low=-40 if op in ("Sin", "Cos") else -1, high=40 if op in ("Sin", "Cos") else 1)
    )
    case(
        op + "OfConstants",
        None,
        {"a": angle, "x": x},
        made(x.shape, lambda *i: f(angle[i]) * x[i]),
        "a",
        nodes=[(op, "a", "t", {}), ("Mul", "t x", "y", {})],
    )

x = drawn(3, 4)
places = [i for i in itertools.product(range(3), range(4)) if (i[0] + i[1]) % 3]
case(
    "NonZero",
    None,
    {"m": made([3, 4], lambda i, j: (i + j) % 3), "x": x},
    Array([len(places)], [x[i] for i in places]),
    "m",
    nodes=[("NonZero", "m", "p", {}), ("Transpose", "p", "q", {"perm": [1, 0]}), ("GatherND", "x q", "y", {})],
)
case(
    "ConstantOfShape-of-nothing",
    None,
    {"x": given(3, [1.0, 2.0, 3.0]), "scalar": given(0, []), "none": given(1, [0])},
    given(3, [2.0, 3.0, 4.0]),
    ["scalar", "none"],
    nodes=[
        ("ConstantOfShape", "scalar", "one", {"value": floats("", [1], [1.0])}),
        ("ConstantOfShape", "none", "empty", {}),
        ("Add", "x one", "sum", {}),
        ("Concat", "empty sum empty", "y", {"axis": 0}),
    ],
)

# Recurrent networks, attention, loops
S, B, I, H = 3, 2, 4, 3
sigmoid = lambda v: 1 / (1 + math.exp(-v))
dot = lambda w, r, v: math.fsum(w[0, r, k] * v[k] for k in range(len(v)))


def recurrent(step, gates, x, w, r, b):
    y = {}
    for n in range(B):
        h, c = [0.0] * H, [0.0] * H
        for t in range(S):
            v = [x[t, n, k] for k in range(I)]
            h, c = step(
                lambda g, j: dot(w, g * H + j, v) + b[0, g * H + j],
                lambda g, j, u: dot(r, g * H + j, u) + b[0, (gates + g) * H + j],
                h,
                c,
            )
            y.update({(t, 0, n, j): h[j] for j in range(H)})
    return made([S, 1, B, H], lambda *i: y[i])


def lstm(x, r, h, c):
    g = [[x(k, j) + r(k, j, h) for j in range(H)] for k in range(4)]
    c = [sigmoid(g[2][j]) * c[j] + sigmoid(g[0][j]) * math.tanh(g[3][j]) for j in range(H)]
    return [sigmoid(g[1][j]) * math.tanh(c[j]) for j in range(H)], c


def gru(x, r, h, c):
    z = [sigmoid(x(0, j) + r(0, j, h)) for j in range(H)]
    m = [sigmoid(x(1, j) + r(1, j, h)) for j in range(H)]
    n = [math.tanh(x(2, j) + m[j] * r(2, j, h)) for j in range(H)]
    return [(1 - z[j]) * n[j] + z[j] * h[j] for j in range(H)], c


def rnn(x, r, h, c):
    return [math.tanh(x(0, j) + r(0, j, h)) for j in range(H)], c


for name, step, gates, more in (
    ("LSTM", lstm, 4, {}),
    ("GRU", gru, 3, {"linear_before_reset": 1}),
    ("RNN", rnn, 1, {}),
):
    x, w, r, b = drawn(S, B, I), drawn(1, gates * H, I), drawn(1, gates * H, H), drawn(1, 2 * gates * H)
    case(
        name, name, {"x": x, "w": w, "r": r, "b": b}, recurrent(step, gates, x, w, r, b), "wrb", hidden_size=H, **more
    )


def attention(q, k, v, scale, mask):
    out = {}
    for n, h, i in itertools.product(*map(range, q.shape[:3])):
        s = [
            scale * math.fsum(q[n, h, i, d] * k[n, h // 2, j, d] for d in range(q.shape[3]))
            for j in range(k.shape[2])
        ]
        e = [math.exp(t) if mask(i, j) else 0 for j, t in enumerate(s)]
        out.update(
            {
                (n, h, i, d): math.fsum(e[j] * v[n, h // 2, j, d] for j in range(len(e))) / math.fsum(e)
                for d in range(v.shape[3])
            }
        )
    return made(q.shape[:3] + v.shape[3:], lambda *i: out[i])


q, k, v = drawn(1, 4, 3, 4), drawn(1, 2, 5, 4), drawn(1, 2, 5, 2)
case("Attention", "Attention", {"q": q, "k": k, "v": v}, attention(q, k, v, 0.5, lambda i, j: j <= i), is_causal=1)
x, cosine, sine = drawn(1, 2, 3, 4), drawn(1, 3, 2), drawn(1, 3, 2)
case(
    "RotaryEmbedding",
    "RotaryEmbedding",
    {"x": x, "c": cosine, "s": sine},
    made(
        x.shape,
        lambda n, h, i, j: (
            cosine[n, i, j] * x[n, h, i, j] - sine[n, i, j] * x[n, h, i, j + 2]
            if j < 2
            else sine[n, i, j - 2] * x[n, h, i, j - 2] + cosine[n, i, j - 2] * x[n, h, i, j]
        ),
    ),
)
x, s = drawn(3, 4), drawn(4)
case(
    "RMSNormalization",
    "RMSNormalization",
    {"x": x, "s": s},
    made(x.shape, lambda i, j: x[i, j] * s[j] / math.sqrt(math.fsum(t * t for t in row(x, i)) / 4 + 1e-5)),
    "s",
)
body = graph(
    [node("Add", "h e", "u"), node("Mul", "u e", "o"), node("Identity", "u", "p")],
    (),
    [value("h", [4]), value("e", [4])],
    [value("u", [4]), value("o", [4])],
)
z = drawn(4)
total = lambda i, j: z[j] + math.fsum(x[k, j] for k in range(i + 1))
case(
    "Scan",
    "Scan",
    {"z": z, "x": x},
    [made([4], lambda j: total(2, j)), made([3, 4], lambda i, j: total(i, j) * x[i, j])],
    out="y w",
    body=body,
    num_scan_inputs=1,
)
body = graph(
    [node("Mul", "h h", "u"), node("Identity", "c", "d")],
    (),
    [value("i", [], INT64), value("c", [], BOOL), value("h", [4])],
    [value("d", [], BOOL), value("u", [4]), value("u", [4])],
)
case(
    "Loop",
    None,
    {"n": given([3]), "z": z},
    [made([4], lambda j: z[j] ** 8), made([3, 4], lambda i, j: z[j] ** 2 ** (i + 1))],
    "n",
    nodes=[("Loop", "n - z", "y w", {"body": body})],
    out="y w",
)

# Quantised operators; the codes are small whole numbers, so that all sums are exact
x, s, o = drawn(2, 6, low=-8.0, high=8.0), given([0.0625]), given([3])
codes = [min(max(round(t / 0.0625) + 3, -128), 127) for t in x.v]
case(
    "QuantizeLinear",
    None,
    {"x": x, "s": s, "o": o},
    Array(x.shape, [(t - 3) * 0.0625 for t in codes]),
    "so",
    nodes=[
        ("Cast", "o", "o8", {"to": INT8}),
        ("QuantizeLinear", "x s o8", "t", {}),
        ("DequantizeLinear", "t s o8", "y", {}),
    ],
)
a, b = whole(3, 4, low=0, high=20), whole(4, 2, low=-9, high=9)
case(
    "MatMulInteger",
    None,
    {"a": a, "b": b},
    made([3, 2], lambda i, j: sum(a[i, k] * b[k, j] for k in range(4))),
    nodes=[
        ("Cast", "a", "a8", {"to": UINT8}),
        ("Cast", "b", "b8", {"to": INT8}),
        ("MatMulInteger", "a8 b8", "t", {}),
        ("Cast", "t", "y", {"to": FLOAT}),
    ],
)


def build(some):
    """The cases as one model, each with names of its own; the inputs' arrays; and what is wanted of which output."""
    nodes, tensors, ins, outs, arrays, wants = [], [], [], [], {}, {}
    for k, (name, made_of, inputs, constants, expected) in enumerate(some):
        own = lambda names: " ".join("-" if n == "-" else "%s%d" % (n, k) for n in names.split())
        for i, (op, reads, gives, attributes) in enumerate(made_of):
            nodes.append((op, own(reads), own(gives), "%s%d" % (name, i), attributes))
        for n, a in inputs.items():
            if a is None:
                continue
            kind = INT64 if is_whole(a) else FLOAT
            if n in constants:
                tensors.append((ints if kind == INT64 else floats)("%s%d" % (n, k), a.shape, a.v))
                continue
            ins.append(value("%s%d" % (n, k), a.shape, kind))
            arrays["%s%d" % (n, k)] = ([1] + a.shape, a.v, "<i8" if kind == INT64 else "<f4")
        for n, a in expected.items():
            outs.append(value("%s%d" % (n, k), a.shape))
            wants["%s%d" % (n, k)] = (name, a)
    made_nodes = []
    for op, reads, gives, name, attributes in nodes:
        made_nodes.append(node(op, reads, gives, name=name, **attributes))
    return graph(made_nodes, tensors, ins, outs), arrays, wants


def run(some, where):
    """Why a case fails, by name; None for those that pass. None instead of all where the model cannot be run."""
    model, arrays, wants = build(some)
    write(where + "/m.onnx", model, opset=23)
    npz(where + "/x.npz", **arrays)
    shutil.rmtree(where + "/out", ignore_errors=True)
    p = subprocess.run(
        [
            PROGRAM,
            "validate",
            where + "/m.onnx",
            "--data",
            where + "/x.npz",
            "--policy",
            "float32",
            "--exact",
            "0",
            "--outputs",
            where + "/out",
        ],
        capture_output=True,
        text=True,
    )
    if p.returncode:
        return {some[0][0]: p.stderr.strip()[:300]} if len(some) == 1 else None
    got, why = outputs(where + "/out/float32.npz"), {c[0]: None for c in some}
    for n, (name, a) in wants.items():
        shape, v = got[n]
        # a float32 result of a few roundings, and of sums as long as they are here, is off by less
        off = max((abs(p - q) / max(1, abs(q)) for p, q in zip(v, a.v)), default=0)
        if list(shape) not in ([1] + a.shape, a.shape) and math.prod(shape) != len(a.v):
            why[name] = "%s has the shape %s, not %s" % (n, shape, a.shape)
        elif not off <= 2e-6 or any(math.isnan(p) for p in v):
            why[name] = "%s is off by %.3g" % (n, off)
    return why


some = [c for c in cases if not sys.argv[1:] or sys.argv[1] == "--keep" or sys.argv[1] in c[0]]
where = tempfile.mkdtemp(prefix="halfulp-test-")
if sys.argv[1:2] == ["--keep"]:
    for c in some:
        write("%s/%s.onnx" % (sys.argv[2], c[0]), build([c])[0], opset=23)
why = run(some, where)
if why is None:
    why = {}
    for c in some:
        why.update(run([c], where))
for i, c in enumerate(some):
    print("%sok %d - %s%s" % ("not " if why[c[0]] else "", i + 1, c[0], ": " + why[c[0]] if why[c[0]] else ""))
print("1..%d" % len(some))
shutil.rmtree(where)
sys.exit(any(why.values()))
