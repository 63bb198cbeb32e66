# SPDX-License-Identifier: Apache-2.0
"""The exponential of matrices. In fp64 it is Taylor's polynomial of a matrix that was halved often enough, which is
squared as often. A library has other polynomials of larger parts, whose products it rounds to the format, and its error
is bounded step by step: that of the polynomial by its value at the magnitudes, and that of each square by those of its
factors and its own sum's."""
import math

import torch

from ..flat import behind
from ..formats import Unknown
from .granted import granted, unit
from .operands import floats
from .table import operator
from .triangular import Parts, square, whole

DEGREE, SMALL = 12, 0.125                        # SMALL^13 / 13! is 2^-71
LARGEST = 3.0                                    # of a library's polynomials: norms that none of them halves
MIXED = 4                                        # by how much their coefficients exceed those of Taylor's
WORST = 2.0 ** -5                                # of the largest magnitude: what is beyond it is no bound


def halvings(norm, least):
    return max(0, math.ceil(math.log2(norm / least))) if norm > 0 else 0


def error(x, u):
    """A bound on what a library's exponential of x is off, and the exponential's largest magnitude."""
    n, q = x.size(-1), halvings(float(x.abs().sum(-2).max()), LARGEST)
    part = x / 2 ** q
    e, y = MIXED * (n + 8) * u * torch.matrix_exp(part.abs()), torch.matrix_exp(part)
    for _ in range(q):
        size = y.abs()
        e, y = size @ e + e @ size + e @ e + (n + 1) * u * size @ size, y @ y
    return e, float(y.abs().max())


@operator("linalg_matrix_exp", "matrix_exp")
def matrix_exp(s, a, out):
    x = a["self"].detach()
    floats(s, x)
    b, n = square(x)
    if x.dtype not in (torch.float32, torch.float64) or not x.isfinite().all():
        raise Unknown("an exponential in 16 bits, or of numbers that are not finite")
    wide = x.double().reshape(b, n, n).cpu()
    e, largest = error(wide, unit(x))
    if not float(e.max()) <= WORST * largest:
        raise Unknown("an exponential that no bound tells much of")
    p, i = Parts(s, b), whole(s, x)
    q = halvings(float(wide.abs().sum(-2).max()), SMALL)
    eye = s.spread(s.add("", torch.eye(n, dtype=torch.float64), name="const.identity", cls="other"), (b, n, n))
    made = eye
    for k in range(DEGREE, 0, -1):               # the identity and x / k times what there is
        factor = 2.0 ** -q / k
        left = s.call("scale", [i], [("part", s.values[i].double() * factor)], {"factor": factor})[0]
        made = p.product(behind(s, [left, eye], 2), behind(s, [made, eye], 1))
    for _ in range(q):
        made = p.product(made, made)
    granted(s, made, e.reshape(out.shape), out)
