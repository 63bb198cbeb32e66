# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: functions of an element.
from nodes.case import *  # noqa: F401,F403

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
