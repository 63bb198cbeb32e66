# SPDX-License-Identifier: Apache-2.0
"""What Python reads of a step's tensors: numbers by item(), arrays by numpy() and tolist(), truth values. The exact
step takes what the program did with them as recorded. What it read before an update and depends on weights is marked:
truth values as choices, numbers as such, and as a search those that the program computed with updated weights, or of
gradients there, and that no update goes on from, as a line search does."""
import contextlib
import math

import torch
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from .formats import FORMATS, WHOLE
from .values import holdable

# Calls whose results are whole numbers or truth values, which small errors of their operands do not move.
STEPS = {"less", "less_equal", "greater", "greater_equal", "equal", "logical_not", "argmax", "argmin", "floor", "ceil",
         "round", "sign", "finite_check"}
STALE = "a cast from before the update"          # the name of what autocast kept for too long
MEANS = "numpy", "tolist", "__array__", "__dlpack__"   # methods of a tensor by which Python reads all of it


class Reads:
    """What was read in a step, and how often weights had been written to before. What an optimizer reads steers it,
    also behind its last update."""

    def __init__(self):
        self.seen, self.writes, self.arrays = [], 0, False

    def note(self, s, t):
        """Notes that Python read all of a tensor."""
        if not holdable(t) or s.quiet:
            return
        if t.dtype in WHOLE:
            self.seen.append((t.dtype, s.decisions([t]), -1 if s.stepping else self.writes))
        elif s.learned(t):
            if t.dtype.is_floating_point and t.numel() == 1 and not math.isfinite(t.item()):
                s.doubtful = True
            self.arrays |= t.numel() > 1
            self.seen.append((t.dtype, s.operands([s.old(t)]), -1 if s.stepping else self.writes))

    def hides(self, s, t):
        """Whether a tensor that Python made during an update may be made of an array that it read."""
        return self.arrays and s.phase() == "update" and not t.is_complex() and (t.numel() > 1 or bool(t.any()))

    def mark(self, s):
        """Marks what was read, once the step has ended."""
        if not self.seen:
            return
        smooth, again, used, alone = flags(s)
        searched = any(self.is_search(i, again, used) and at < self.writes for _, ids, at in self.seen for i in ids)
        deep = any(i in again and at < self.writes for _, ids, at in self.seen for i in ids)
        for dtype, ids, at in self.seen:
            for i in ids:
                search = self.is_search(i, again, used) and (at < self.writes or searched or deep or i in alone)
                info = s.program.tensors[i]
                if dtype in WHOLE:
                    if at < self.writes or search:
                        info["choice"] = True
                elif search:
                    info["read"] = "search"
                elif at < self.writes and i in smooth:
                    info.setdefault("read", "number")

    @staticmethod
    def is_search(i, again, used):
        return i in again and i not in used


def flags(s):
    """Of the step's tensors those whose values follow smoothly from the weights; those that a forward pass made of
    updated weights, or of gradients, and what followed of these; of these those that an update uses; and gradients that
    none does: who reads those does not just log them."""
    program, calls = s.program, [c for c in s.program.calls if all(i in s.values for i in c["out"])]
    updated = {i for (of, version, _), value in s.known.items() if of in s.trained and version or of in s.swaps.new
               for i in value.ids.values()}
    smooth = {i for i in s.values if program.tensors[i].get("trainable")}
    passes = forward_calls(program, calls, updated)
    again, forward = updated | stale(calls), {i for c in passes for i in c["out"]}
    mine = {c["id"] for c in passes}
    for c in calls:
        if c["op"] not in STEPS and not smooth.isdisjoint(c["in"]):
            smooth.update(c["out"])
        if c["id"] in mine and any(i in again or i not in forward and i in program.maker for i in c["in"]):
            again.update(c["out"])
    wanted, useful = set(updated), set()
    for c in reversed(calls):
        if not wanted.isdisjoint(c["out"]):
            wanted.update(c["in"])
            if c["id"] not in mine:
                useful.update(i for i in c["in"] if i in forward and i in again)
    used = set(useful)
    for c in passes:
        if not used.isdisjoint(c["in"]):
            used.update(c["out"])
    again -= updated
    slopes, used_slopes = slopes_of(program, [c for c in calls if c["id"] not in mine], again, updated, wanted)
    return smooth, again | slopes, used | used_slopes, slopes - used_slopes


def stale(calls):
    """Casts of weights from before an update that are read again as if they were those from behind it."""
    return {i for c in calls if c["op"] == "opaque" and c["opaque"]["name"] == STALE for i in c["out"]}


def forward_calls(program, calls, updated):
    """The calls of forward passes: also those behind an update's begin, of no module, that compute with what a forward
    pass before was given."""
    given = {i for c in calls if c["phase"] == "forward" for i in c["in"] if i not in program.maker}
    given = {i for i in given if not program.tensors[i].get("state") and not program.tensors[i].get("trainable")
             and not program.tensors[i]["name"].startswith("const.")}
    out = []
    for c in calls:
        follows = c["phase"] != "backward" and not given.isdisjoint(c["in"])
        if follows:
            given.update(set(c["out"]) - updated)
        if c["phase"] == "forward" or c["phase"] == "update" and follows and updated.isdisjoint(c["out"]):
            out.append(c)
    return out


def slopes_of(program, calls, again, updated, wanted):
    """The gradients of passes by updated weights and what was made of them but weights, such as their norm; and those
    of them that an update uses, or that were made of such."""
    weights = updated | {i for i, t in enumerate(program.tensors) if t.get("trainable")}
    slopes, used = set(), set()
    for c in calls:
        mine = slopes.intersection(c["in"])
        if c["phase"] == "backward" and (mine or not again.isdisjoint(c["in"])) or mine and weights.isdisjoint(c["in"]):
            out = set(c["out"]) - updated
            slopes |= out
            used |= {i for i in out if i in wanted or any(k in wanted or k in used for k in mine)}
    return slopes, used


@contextlib.contextmanager
def watched(s):
    """Until this ends, what Python reads of tensors as arrays is noted."""
    usual = {name: getattr(torch.Tensor, name) for name in MEANS}
    own = {name: torch.Tensor.__dict__[name] for name in MEANS if name in torch.Tensor.__dict__}

    def method(name):
        def read(t, *args, **kwargs):
            plain = type(t) in (torch.Tensor, torch.nn.Parameter) and t.dtype in FORMATS
            if plain and s in _get_current_dispatch_mode_stack():        # the recorder's own reads are not in it
                with _disable_current_modes(), s.lock:
                    s.was = {}
                    s.r.guard(s.reads.note, s, t)
            return usual[name](t, *args, **kwargs)
        return read
    for name in MEANS:
        setattr(torch.Tensor, name, method(name))
    try:
        yield
    finally:
        for name in MEANS:
            if name in own:
                setattr(torch.Tensor, name, own[name])
            else:
                delattr(torch.Tensor, name)
