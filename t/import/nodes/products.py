# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: products and convolutions.
from nodes.case import *  # noqa: F401,F403

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
