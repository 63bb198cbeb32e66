# SPDX-License-Identifier: Apache-2.0
"""Operators on lists of tensors (_foreach_add_ and others): each element is the call that the operator on one tensor
is."""
import torch

from ..formats import Unknown
from ..values import tensors_in
from .table import OPERATORS, operator

# The lists' operators by the names of their arguments: what the same argument of the operator on one tensor is called.
SAME = {**{name: {} for name in """add sub mul div neg abs sqrt rsqrt reciprocal exp log log1p expm1 sign sin cos tanh
                sigmoid erf addcmul addcdiv copy maximum minimum""".split()},
        "lerp": {"tensors1": "end", "weights": "weight", "scalars": "weight"},
        "pow": {"scalar": "exponent", "scalars": "exponent"},
        "clamp_min": {"scalar": "min", "scalars": "min", "other": "min"},
        "clamp_max": {"scalar": "max", "scalars": "max", "other": "max"}}
USUAL = {"scalar": "other", "scalars": "other"}
OF_PRODUCTS = {"scalars": "value", "scalar": "value"}


def element(a, k, names, scalars):
    """The arguments of element k."""
    out = {}
    for key, x in a.items():
        x = x[k] if isinstance(x, (list, tuple)) else x
        if key == "scalars" and isinstance(a[key], torch.Tensor):
            x = a[key][k].item()
        out[names.get(key, scalars.get(key, key))] = x
    return out


def rounded(one, t):
    """The number of a product in place: on the CPU it is rounded to a format of 16 bits before."""
    x = one["other"]
    if isinstance(x, torch.Tensor) or t.device.type != "cpu" or t.dtype not in (torch.bfloat16, torch.float16):
        return one
    return dict(one, other=float(torch.tensor(x, dtype=torch.float64).to(t.dtype)))


def reach(s, t):
    """A tensor's storage, and the bytes of it from its first element to its last one."""
    first = t.storage_offset() * t.element_size()
    last = first + sum((n - 1) * k for n, k in zip(t.size(), t.stride())) * t.element_size()
    return s.storage(t), first, last + t.element_size() if t.numel() else first


def meets(x, y):
    return x[0] == y[0] and x[1] < y[2] and y[1] < x[2]


def register(name, names):
    scalars = OF_PRODUCTS if name.startswith("addc") else USUAL

    @operator("_foreach_" + name)
    def foreach(s, a, out):
        results = list(tensors_in(out))
        wrote = [reach(s, t) for t in results]
        for k, t in enumerate(results):
            one = element(a, k, names, scalars)
            if any(meets(reach(s, x), w) for x in one.values() if isinstance(x, torch.Tensor) for w in wrote[:k]):
                raise Unknown("a list that reads what it wrote before")
            if name == "mul" and s.running[0]._schema.name.endswith("_"):
                one = rounded(one, t)
            one.setdefault("alpha", 1)
            OPERATORS[name](s, one, t)


for name, names in SAME.items():
    register(name, names)


@operator("_foreach_zero")
def foreach_zero(s, a, out):
    for t in tensors_in(out):
        s.known[s.key(t)] = s.unmade(t, "zero")


@operator("_foreach_norm")
def foreach_norm(s, a, out):
    for x, t in zip(a["self"], tensors_in(out)):
        OPERATORS["linalg_vector_norm"](s, {"self": x, "ord": a["ord"], "dim": None, "keepdim": False}, t)
