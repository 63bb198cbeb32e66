# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: regions, losses and operators of constants alone.
from nodes.case import *  # noqa: F401,F403

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
