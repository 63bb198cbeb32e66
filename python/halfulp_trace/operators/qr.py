# SPDX-License-Identifier: Apache-2.0
"""QR factors, and products of reflectors. In fp64 R is the factor of Cholesky of the columns' products with each other,
with the signs that the recorded one has on its diagonal, and Q what solves Q R = A. Householder's algorithm is backward
stable, so that both are off by a few unit roundoffs times the matrix's condition (Higham, Accuracy and Stability, 19.3
and 19.9)."""
import torch

from ..flat import behind, flat, picked, reshaped
from ..formats import Unknown
from .granted import granted, unit
from .operands import floats
from .table import operator
from .triangular import Parts, factor, square, substituted, turned, whole

WORST = 2.0 ** -5                                # of the columns' norms: what is beyond it is no bound


def condition(x):
    """The ratio of the largest singular value to the smallest, of each of a batch."""
    values = torch.linalg.svdvals(x)
    return values.amax(-1) / values.amin(-1)


@operator("linalg_qr")
def qr(s, a, out):
    x, (q, r) = a["A"].detach(), out
    floats(s, x)
    m, n = x.shape[-2:]
    k = min(m, n)
    if x.dtype != torch.float32 or a["mode"] == "complete" and m > n or not x.isfinite().all():
        raise Unknown("factors in another format than float32, all columns of Q, or numbers that are not finite")
    square(x[..., :k, :k])
    i = whole(s, x)
    b = s.values[i].size(0)
    wide = s.values[i].double()
    off = 2 * (m + n) * unit(x) * condition(wide[..., :k])
    if not float(off.max()) <= WORST:
        raise Unknown("columns that are nearly dependent")
    p, signs = Parts(s, b), torch.sign(r.detach().double().reshape(b, k, n).diagonal(0, 1, 2))
    first = columns(s, i, k)
    t = turned(s, first)
    product = p.product(t, first)
    lower = factor(s, product, torch.linalg.cholesky(s.values[product]))
    signed = s.add("", signs.reshape(b, 1, k).expand(b, k, k).contiguous(), name="input.sign", cls="other")
    lower = s.call("mul", [lower, signed], [("part", s.values[lower] * s.values[signed])])[0]
    across = substituted(s, lower, t, None, False, False)        # R' Q' = A'
    if q.numel():
        granted(s, turned(s, across), off.reshape(b, 1, 1).expand(b, m, k).reshape(q.shape), q)
    norms = wide.square().sum(1, keepdim=True).sqrt()
    granted(s, p.product(across, i), (off.reshape(b, 1, 1) * norms).expand(b, k, n).reshape(r.shape), r)


def columns(s, i, k):
    """The first k columns of a batch of matrices."""
    b, m, n = s.values[i].shape
    if k == n:
        return i
    at = torch.arange(b * m * n).reshape(b, m, n)[..., :k]
    return picked(s, [i], at.contiguous(), "columns")


@operator("linalg_householder_product", "orgqr")
def householder(s, a, out):
    """The first columns of a product of reflectors I - t v v', of which the last one is applied first. Each of these
    errs by a few roundings of the norms, and keeps what was wrong before it, as far as it is orthogonal."""
    x, tau = a["input"].detach(), a["tau"].detach()
    floats(s, x, tau)
    m, n, k = x.size(-2), x.size(-1), tau.size(-1)
    if x.dtype != torch.float32 or not 0 < k <= n <= m or not (x.isfinite().all() and tau.isfinite().all()):
        raise Unknown("reflectors in another format than float32, or numbers that are not finite")
    square(x[..., :n, :n])
    i, j = whole(s, x), s.input(tau)
    b, every = s.values[i].size(0), slice(None)
    p, one, j = Parts(s, b), s.constant(1, torch.float32, (1,)), reshaped(s, j, (b, k))
    made = s.spread(s.add("", torch.eye(m, n, dtype=torch.float64), name="const.identity", cls="other"), (b, m, n))
    at, off = torch.arange(b * m * n).reshape(b, m, n), 0.0
    for r in range(k - 1, -1, -1):
        place = torch.full((b, m, 1), -1)
        place[:, r], place[:, r + 1:, 0] = b * m * n, at[:, r + 1:, r]
        v = picked(s, [flat(s, i), one], place, "reflector")
        t = s.spread(picked(s, [j], torch.arange(b * k).reshape(b, k)[:, r].reshape(b, 1, 1), "tau"), (b, 1, n))
        row = p.wide("neg", p.wide("mul", p.product(turned(s, v), made), t))
        eye = s.spread(s.add("", torch.eye(m, dtype=torch.float64), name="const.identity", cls="other"), (b, m, m))
        made = p.product(behind(s, [eye, v], 2), behind(s, [made, row], 1))
        size = (1 - s.values[t][every, 0, 0].double() * s.values[v].double().square().sum((1, 2))).abs().clamp(min=1)
        off = float(size.max()) * off + 3 * (m + 4) * unit(x) * float(s.values[made].square().sum(1).sqrt().max())
    if not off <= WORST * float(s.values[made].abs().max()):
        raise Unknown("reflectors that are far from orthogonal")
    granted(s, made, off, out)
