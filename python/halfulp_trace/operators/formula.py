# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch that are several calls of ours: a formula of element by element, whose intermediate values are
computed here. What a kernel keeps in fp32 between two roundings stands in fp32, where its bits decide; elsewhere an
intermediate value has fp64, so that the last call alone is held to PyTorch's result."""
import torch

from ..flat import reshaped
from ..values import snapshot
from .operands import floats, rounded_scalar

F = torch.nn.functional
# What our operators compute, in the format of their operands.
VALUES = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "neg": torch.neg, "abs": torch.abs,
    "max": torch.maximum, "min": torch.minimum, "floor": torch.floor, "round": torch.round, "sign": torch.sign,
    "exp": torch.exp, "log": torch.log, "log1p": torch.log1p, "expm1": torch.expm1, "sqrt": torch.sqrt,
    "erf": torch.erf, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "pow": torch.pow, "atan2": torch.atan2,
    "less": torch.lt, "greater": torch.gt, "less_equal": torch.le, "greater_equal": torch.ge, "equal": torch.eq,
    "logical_and": lambda a, b: (a != 0) & (b != 0), "logical_or": lambda a, b: (a != 0) | (b != 0),
    "logical_not": lambda a: a == 0, "where": lambda c, a, b: torch.where(c != 0, a, b),
    "mask": lambda c, a: torch.where(c != 0, a, torch.zeros_like(a)),
    "mask_out": lambda c, a: torch.where(c != 0, torch.zeros_like(a), a),
    "scale": lambda a, factor: a * factor, "softplus": lambda a: F.softplus(a, 1, 1e9),
    "clip": lambda a, low, high: a.clamp(low, high),
}
TRUTHS = {"less", "greater", "less_equal", "greater_equal", "equal", "logical_and", "logical_or", "logical_not"}
EXACT = TRUTHS | {"neg", "abs", "max", "min", "floor", "round", "sign", "where", "mask", "mask_out", "clip"}
# Operations that PyTorch rounds correctly, whatever the format. Its roots are not: of vectors they are a library's.
ONCE = EXACT | {"add", "sub", "mul", "div", "scale"}


class Formula:
    """Calls whose results have the shape of one result of PyTorch. Operands are tensors of PyTorch, numbers (floats),
    and tensors of the program (whole numbers)."""

    def __init__(self, s, out, shape=None, dtype=torch.float64):
        floats(s, out)
        self.s, self.out, self.dtype = s, out, dtype
        self.shape = tuple(out.shape if shape is None else shape)
        self.wide = torch.promote_types(out.dtype, torch.float32)    # what a kernel computes in

    def of(self, x):
        """The program's tensor of an operand, repeated to the formula's shape."""
        if isinstance(x, torch.Tensor):
            x = rounded_scalar(self.s, x, self.out) if self.out.dim() else self.s.input(x)
        elif isinstance(x, float):
            exact = float(torch.tensor(x, dtype=torch.float32)) == x or x != x
            x = self.s.constant(x, torch.float32 if exact else torch.float64)
        return self.s.spread(x, self.shape)

    def values(self, i, dtype=None):
        return self.s.values[i].to(dtype or self.dtype)

    def __call__(self, op, *operands, dtype=None, data=None, **attr):
        """A call whose result is an intermediate value, `data` where its values are known otherwise."""
        ids = [self.of(x) for x in operands]
        dtype = torch.float32 if op in TRUTHS else dtype or self.dtype
        if data is None:
            wide = [self.s.values[i].to(dtype if op not in TRUTHS else torch.float64) for i in ids]
            data = VALUES[op](*wide, **attr)
        return self.s.call(op, ids, [(op, data.to(dtype))], attr, library=op not in ONCE)[0]

    def whole(self, op, *operands, **attr):
        """A call whose result is an intermediate value in the format of fp32, or of fp64 where the result has that."""
        return self(op, *operands, dtype=self.wide, **attr)

    def end(self, op, *operands, out=None, role="y", library=None, compute=None, **attr):
        """The call that makes PyTorch's result."""
        library = op not in EXACT if library is None else library
        self.s.result(op, [self.of(x) for x in operands], self.out if out is None else out, attr, role=role,
                library=library, compute=compute)

    def shaped(self, x, shape):
        """A tensor of the program in another shape of as many elements."""
        return reshaped(self.s, self.of(x) if not isinstance(x, torch.Tensor) else self.s.input(x), shape)

    def branches(self, condition, first, second, role="y"):
        """The result is that of one of two calls, which are each an operator, its operands and its attributes; where a
        branch is not taken it has values of its own."""
        own, ids = snapshot(self.out), []
        taken = self.s.values[condition] != 0
        for (op, *x), mine in ((first, taken), (second, ~taken)):
            attr = x.pop() if x and isinstance(x[-1], dict) else {}
            if op is None:
                ids.append(self.of(x[0]))
                continue
            operands = [self.of(k) for k in x]
            data = VALUES[op](*[self.values(i) for i in operands], **attr).to(own.dtype)
            data = torch.where(mine, own, data)
            ids.append(self.s.call(op, operands, [("branch", data)], attr, library=op not in EXACT)[0])
        self.s.result("where", [condition] + ids, self.out, role=role)


def rounding(t):
    """The least and the largest number, in fp64, that t's format may round to t, element by element."""
    t, wide = t.detach().cpu(), t.detach().cpu().to(torch.float64)
    digits, least = {torch.float64: (53, -1074), torch.float32: (24, -149), torch.float16: (11, -24),
                     torch.bfloat16: (8, -133)}[t.dtype]
    step = torch.ldexp(torch.ones_like(wide), (torch.frexp(wide)[1] - digits).clamp(min=least))
    return wide - step / 2, wide + step / 2


def nearest(exact, ends):
    """The number between two ends that is nearest to the exact one; where an end is no finite number, the exact one."""
    low, high = torch.minimum(*ends), torch.maximum(*ends)
    kept = torch.minimum(torch.maximum(exact, low), high)
    return torch.where(kept.isfinite(), kept, exact)


def fitted(guess, f, own, reach=2):
    """For each element the neighbour of a guess in fp32, at most `reach` numbers from it, of which f is the result, or
    comes nearest to it."""
    best, own = guess.clone(), own.to(torch.float64)

    def error(x):
        return (f(x).to(torch.float64) - own).abs()
    least = error(best)
    for toward in (float("inf"), -float("inf")):
        x = guess
        for _ in range(reach):
            x = torch.nextafter(x, torch.full_like(x, toward))
            e = error(x)
            better = e < least
            best, least = torch.where(better, x, best), torch.where(better, e, least)
    return best
