# SPDX-License-Identifier: Apache-2.0
"""What Python reads of a step's tensors: numbers by item(), arrays by numpy() and tolist(), truth values. The exact
step takes what the program did with them as recorded. What it read before an update and depends on weights is marked:
truth values as choices, numbers as such, and as a search those that the program computed with updated weights, or of
gradients there, and that no update goes on from, as a line search does."""
import math

import torch

from .formats import FORMATS, WHOLE
from .values import geometry, holdable

# Calls whose results are whole numbers or truth values, which small errors of their operands do not move.
STEPS = {"less", "less_equal", "greater", "greater_equal", "equal", "logical_not", "argmax", "argmin", "floor", "ceil",
         "round", "sign", "finite_check"}
STALE = "a cast from before the update"          # the name of what autocast kept for too long


class Reads:
    """What was read in a step, and how often weights had been written to before. What an optimizer reads steers it,
    also behind its last update."""

    def __init__(self):
        self.seen, self.writes, self.arrays = [], 0, False

    def note(self, s, t):
        """Notes that Python read all of a tensor."""
        if not holdable(t) or s.quiet:
            return
        t, codes = seen_as(s, t)
        if t.dtype in WHOLE:
            self.arrays |= t.numel() > 1 and codes
            self.seen.append((t.dtype, s.decisions([t]), -1 if s.stepping else self.writes))
        elif s.learned(t):
            if t.dtype.is_floating_point and t.numel() == 1 and not math.isfinite(t.item()):
                s.doubtful = True
            self.arrays |= t.numel() > 1
            self.seen.append((t.dtype, s.operands([s.old(t)]), -1 if s.stepping else self.writes))

    def note_memory(self, s, storage):
        """Notes that Python may read the memory of tensors."""
        ids = [i for v in s.inside(storage._cdata) for i in v.ids.values()]
        self.arrays |= storage._cdata in s.trained or any(s.is_learned(i) for i in ids)

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


def seen_as(s, t):
    """The tensor whose values tell what t's do: t, or the floats of whose bits t shows others; and whether these are
    codes of what is learned: whole numbers of few bits, which are no choices."""
    above = t
    while above is not None and above.dtype in WHOLE and s.key(above) not in s.known:
        above = s.parent.get((s.storage(above), geometry(above)))
    if above is None or above.dtype in FORMATS:
        return (t if above is None else above), False
    value = s.known[s.key(above)]
    few = above.dtype not in (torch.bool, torch.int32, torch.int64)
    return t, few and any(s.is_learned(i) for i in [*value.ids.values(), *value.behind])
