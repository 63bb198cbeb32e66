# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: pools, norms and reductions.
from nodes.case import *  # noqa: F401,F403

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
