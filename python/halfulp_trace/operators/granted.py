# SPDX-License-Identifier: Apache-2.0
"""Results of algorithms that show none of their inner values, such as those of LAPACK. The program has the function in
fp64, by calls that an exact step computes again; what PyTorch's own result may be off beside it, by a bound of the
algorithm, is granted by a sum: of the function's value, and of a number that is added and taken away."""
import torch

from ..flat import behind, reshaped
from ..values import Value, snapshot


def unit(t):
    """The unit roundoff of a tensor's format."""
    return torch.finfo(t.dtype).eps / 2


def inner(t):
    """The unit roundoff of the format in which a kernel computes t: float32 for those of 16 bits."""
    return unit(t) if t.dtype == torch.float64 else 2.0 ** -24


def wide(s, op, f, *ids, **attr):
    """A value of fp64."""
    return s.call(op, list(ids), [("part", f(*(s.values[i].double() for i in ids)))], attr, library=True,
            compute="fp64")[0]


def granted(s, i, e, t):
    """Notes that PyTorch's tensor t has the numbers of the program's tensor i, of fp64, to within e, a tensor as t or a
    number; in fp64 tensor i is itself off. A sum of three terms is granted two unit roundoffs of their magnitudes."""
    own = snapshot(t)
    n = own.numel()
    e = torch.as_tensor(e, dtype=torch.float64).expand(own.shape).reshape(1, n)
    e = e / ((1 if own.dtype == torch.float64 else 2) * inner(own))
    more = s.add("", torch.cat([e, -e]), name="input.grant", cls="other")
    terms = behind(s, [reshaped(s, i, (1, n)), more])
    made = s.call("reduce_sum", [terms], [("y", own.reshape(-1))], {"axis": 0, "axes": 1}, library=True)[0]
    s.known[s.key(t)] = Value(own, {"plain": reshaped(s, made, own.shape)})
