# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: recurrent networks, attention and loops.
from nodes.case import *  # noqa: F401,F403
from nodes.norms import row

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
