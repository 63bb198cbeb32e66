# SPDX-License-Identifier: Apache-2.0
"""Outputs that analyze found outside of their call's bound, computed once more in float64 with nothing of halfulp's:
the sums of a layer norm's gradients of its weight and bias, from the operands in the trace. An output is confirmed to
be outside where no order of fp32 additions explains it."""
import json
import math
import os

import torch

TYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16}
DIGITS = {torch.float64: (53, -1074), torch.float32: (24, -149), torch.float16: (11, -24), torch.bfloat16: (8, -133)}


def trace_of(path):
    """A function from a tensor's name to its values, read from a file of safetensors."""
    with open(path, 'rb') as f:
        size = int.from_bytes(f.read(8), 'little')
        head, data = json.loads(f.read(size)), f.read()

    def read(name):
        entry = head[name]
        first, end = entry['data_offsets']
        return torch.frombuffer(bytearray(data[first:end]), dtype=TYPES[entry['dtype']]).reshape(entry['shape'])
    return read


def half_ulp(t):
    digits, least = DIGITS[t.dtype]
    wide = t.to(torch.float64)
    return torch.ldexp(torch.ones_like(wide), (torch.frexp(wide)[1] - digits).clamp(min=least)) / 2


def layer_norm_sums(x, mean, rstd, dy, which):
    """The exact sums of the gradients of weight (1) or bias (2), the sums of their terms' magnitudes, and how many."""
    n = x.shape[-1]
    x, dy = (t.to(torch.float64).reshape(-1, n) for t in (x, dy))
    terms = dy
    if which == 1:
        mean, rstd = (t.to(torch.float64).reshape(-1, 1) for t in (mean, rstd))
        terms = dy * ((x - mean) * rstd)
    exact = torch.tensor([math.fsum(column) for column in terms.t().tolist()], dtype=torch.float64)
    return exact, terms.abs().sum(0), len(terms)


def beyond(read, program, row):
    """How many elements of the tensor of a row of replay.tsv are beyond what fp32 sums in any order explain; None where
    nothing here computes its operator."""
    call = program['calls'][int(row['call'])]
    names = {t['id']: t['name'] for t in program['tensors']}
    which = [names[i] for i in call['out']].index(row['tensor'])
    if call['op'] != 'layernorm_dx' or not which:
        return None
    x, _, mean, rstd, dy = (read(names[i]) for i in call['in'])
    got = read(row['tensor'])
    exact, size, n = layer_norm_sums(x, mean, rstd, dy, which)
    # n additions and the three roundings of a term in fp32, then the rounding of the result
    bound = (n + 3) * 2.0 ** -24 * size * (1 + 2.0 ** -10) + half_ulp(got)
    return int((~((got.to(torch.float64) - exact).abs() <= bound)).sum())


def unconfirmed(run, replay):
    """Lines that name the tensors with more outputs outside of their bound than are confirmed."""
    program = json.load(open(os.path.join(run, 'program-train.json')))
    out = []
    for row in replay:
        over = int(row['over_bound'])
        read = trace_of(os.path.join(run, 'trace', 'step-%06d.safetensors' % int(row['step']))) if over else None
        found = beyond(read, program, row) if over else None
        if over and (found is None or found < over):
            out.append('%s of %s: %d outside, %s confirmed' % (row['tensor'], row['op'], over, found))
    return out
