# SPDX-License-Identifier: Apache-2.0
# A mixture of experts in double precision, for tests that compute again what a gpt with routers does: formulas of
# trainer/model/layer/layer_experts.h on rows of numbers, for the chosen experts alone.
import math


def rows(values, width):
    """A tensor's rows."""
    return [values[i : i + width] for i in range(0, len(values), width)]


def product(x, w, b):
    """x W + b of one row."""
    return [sum(v * w[i][j] for i, v in enumerate(x)) + b[j] for j in range(len(b))]


def gelu(v):
    """The approximation by tanh, and its derivative."""
    c = math.sqrt(2 / math.pi)
    t = math.tanh(c * (v + 0.044715 * v**3))
    return 0.5 * v * (1 + t), 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * c * (1 + 3 * 0.044715 * v * v)


def largest(z, k):
    return sorted(sorted(range(len(z)), key=lambda e: -z[e])[:k])


def gates(z, chosen, k):
    """Gates by expert, and how each changes with each logit."""
    over = range(len(z)) if k == 1 else chosen
    exp = {e: math.exp(z[e] - max(z)) for e in over}
    p = {e: exp[e] / sum(exp.values()) for e in over}
    slope = {(e, j): p[e] * ((e == j) - p[j]) for e in chosen for j in over}
    return {e: p[e] for e in chosen}, slope


def result(t, block, x, mine, gate):
    """The gated sum of the experts `mine` for a token's row x, with the weights of the tensors t, and what each expert
    gives with its hidden units before and after gelu and gelu's slopes: expert -> (y, units, slopes)."""
    sums, parts = [0.0] * len(x), {}
    for e in mine:
        up, down = ('%s_expert%d_%s' % (block, e + 1, part) for part in ('up', 'down'))
        h = [gelu(v) for v in product(x, rows(t[up + '.w'], len(t[up + '.b'])), t[up + '.b'])]
        y = product([v for v, _ in h], rows(t[down + '.w'], len(x)), t[down + '.b'])
        sums = [a + gate[e] * v for a, v in zip(sums, y)]
        parts[e] = y, [v for v, _ in h], [s for _, s in h]
    return sums, parts
