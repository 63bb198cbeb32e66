# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: quantised operators.
from nodes.case import *  # noqa: F401,F403

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
