# SPDX-License-Identifier: Apache-2.0
"""Kernels that are wrong, for tests of how narrow bounds are: each result of an operator that is new is 2^-9 too large,
which a bound of float32 has to tell."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import halfulp  # noqa: E402

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FACTOR = 1 + 2.0 ** -9
FREE = 'aten::clone', 'aten::ones_like'          # a copy that nothing may read, and a constant
TYPES = torch.float32, torch.float64, torch.complex64, torch.complex128


class Wrong(TorchDispatchMode):
    """Operators whose first result is off, as a training and its recorder see them. What the recorder computes by
    operators of its own is right."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder, self.own, self.guard = recorder, 0, recorder.guard
        self.kernels = []                        # name, and how many calls and opaque results were there before
        recorder.guard = self.guarded

    def guarded(self, *what):
        self.own += 1
        try:
            return self.guard(*what)
        finally:
            self.own -= 1

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        given = [t for x in args for t in (x if isinstance(x, (list, tuple)) else [x]) if isinstance(t, torch.Tensor)]
        name, written = func._schema.name, any(r.alias_info for r in func._schema.returns)
        if self.own or not given or written or 'empty' in name or name in FREE:
            return out
        if isinstance(out, torch.Tensor):
            return self.off(out, func)
        if isinstance(out, (list, tuple)) and out and isinstance(out[0], torch.Tensor):
            return type(out)([self.off(out[0], func)]) + out[1:]
        return out

    def off(self, t, func):
        if t.dtype not in TYPES or t.layout is not torch.strided or t.is_nested:
            return t
        if torch._C._current_graph_task_id() == -1 and bool(((t != 0) & t.isfinite()).any()):
            self.kernels.append((func._schema.name,) + self.made())
        return t * FACTOR

    def made(self):
        return len(self.recorder.program.calls), sum(self.recorder.opaque.values())


def missed(recorder, run, passes, rows_of):
    """Of forward and backward passes by the layer that they run, the kernels of the former that were wrong where none
    of the calls that came of them is outside of its bound, and nothing became opaque since, as what reads a copy does
    that is none."""
    ranges = []
    with Wrong(recorder) as wrong, recorder:
        for layer, (forward, backward) in passes.items():
            wrong.kernels = []
            ys = forward()
            for y in ys:
                y.mul(1)                         # reads it
            calls, opaque = wrong.made()
            backward(ys)
            ends = [k[1] for k in wrong.kernels[1:]] + [calls]
            ranges += [(layer, *k, end, opaque) for k, end in zip(wrong.kernels, ends)]
    p = halfulp('analyze', run, '--only', 'replay', '--sample', 'all')
    try:
        table = rows_of(run + '/analysis/replay.tsv')
    except FileNotFoundError:
        return [p.stdout + p.stderr]
    far = {int(r['call']) for r in table if int(r['over_bound']) and r['phase'] == 'forward'}
    few = ['%s: %s, calls %d to %d' % (layer, name, first, last)
           for layer, name, first, before, last, opaque in ranges
           if opaque == before and not far & set(range(first, last))]
    return few if ranges else ['no kernel was wrong']
