# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: what moves elements.
from nodes.case import *  # noqa: F401,F403

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
# Sixteen pixels around a place, by Keys's weights with -3/4; and eight around a place in a volume.
keys = lambda d: (1.25 * d - 2.25) * d * d + 1 if d <= 1 else ((-0.75 * d + 3.75) * d - 6) * d + 3
spread = lambda n, c, y, x, at: sum(
    keys(abs(y - p)) * keys(abs(x - q)) * (z[n, c, at(p, 4), at(q, 5)] or 0)
    for p in range(math.floor(y) - 1, math.floor(y) + 3)
    for q in range(math.floor(x) - 1, math.floor(x) + 3)
)
folded = lambda v, n: n - 0.5 - abs(n - abs(v + 0.5) % (2 * n))
for name, around, at_pixel, words in (
    ("GridSampleCubic", lambda v, n: v, lambda i, n: i, {}),
    ("GridSampleCubicFolded", folded, lambda i, n: round(folded(i, n)), {"padding_mode": "reflection"}),
):
    case(
        name,
        "GridSample",
        {"z": z, "g": at},
        made(
            [2, 3, 3, 2],
            lambda n, c, i, j: spread(
                n,
                c,
                around(((at[n, i, j, 1] + 1) * 4 - 1) / 2, 4),
                around(((at[n, i, j, 0] + 1) * 5 - 1) / 2, 5),
                at_pixel,
            ),
        ),
        mode="cubic",
        **words,
    )
body, spots = drawn(1, 2, 3, 4, 5), drawn(1, 2, 1, 3, 3, low=-1.3, high=1.3)
weight = lambda d: max(0, 1 - abs(d))
case(
    "GridSampleOfVolumes",
    "GridSample",
    {"z": body, "g": spots},
    made(
        [1, 2, 2, 1, 3],
        lambda n, c, h, i, j: sum(
            body[n, c, d, y, x]
            * weight((spots[n, h, i, j, 2] + 1) * 1 - d)
            * weight((spots[n, h, i, j, 1] + 1) * 1.5 - y)
            * weight((spots[n, h, i, j, 0] + 1) * 2 - x)
            for d in range(3)
            for y in range(4)
            for x in range(5)
        ),
    ),
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
