#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# H. He and Thinking Machines Lab, Defeating nondeterminism in LLM inference, 2025 (batch_invariant_ops): a product whose
# order of additions follows from the size of the batch gives a row other bits in other batches; one with a fixed order
# does not. Their test compares mm(a[:1], b) with mm(a, b)[:1] for a linspace from -100 to 100.
# Reproduced, with 16 rows of 512 terms in place of 2048 of 4096: under every order of one model a row alone has the bits
# that it has in batches of 2 to 16; between the orders that kernels choose for one row and for many (one chain against
# chunks or split sums) all outputs differ. Not reproduced: completions of a language model, nor any GPU.
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, none, ok, told  # noqa: E402

where = home()
ROWS, TERMS, COLUMNS = 16, 512, 8


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def linspace(n):
    return [f32(-100 + 200 * i / (n - 1)) for i in range(n)]


a, b = linspace(ROWS * TERMS), linspace(TERMS * COLUMNS)


def product(rows, model, form):
    paths = [os.path.join(where, x + '.npy') for x in 'abd']
    for path, shape, values in ((paths[0], (rows, TERMS), a[: rows * TERMS]), (paths[1], (TERMS, COLUMNS), b)):
        with open(path, 'wb') as f:
            f.write(npy(shape, values))
    p = halfulp('op', 'matmul', '--in', 'a=' + paths[0], '--in', 'b=' + paths[1], '--set', 'in=' + form, '--set', 'out=fp32', '--sum', model,
                '--out', paths[2])  # fmt: skip
    if p.returncode:
        ok(False, model, p.stderr)
        finish()
    n = rows * COLUMNS
    return struct.unpack('<%dI' % n, open(paths[2], 'rb').read()[-4 * n :])


MODELS = ('fma', 'sequential', 'pairwise', 'chunk:192', 'splitk:4', 'kahan')
for form in ('fp32', 'bf16'):
    wrong, alone = [], {}
    for model in MODELS:
        alone[model] = product(1, model, form)
        wrong += ['%s in a batch of %d' % (model, rows) for rows in (2, 5, 16)
                  if product(rows, model, form)[:COLUMNS] != alone[model]]  # fmt: skip
    none(wrong, '%s: a row has the same bits alone and in batches of 2, 5 and 16 under each of %d orders' %
         (form, len(MODELS)))  # fmt: skip
    for other in ('chunk:192', 'splitk:4'):
        apart = sum(x != y for x, y in zip(alone['fma'], alone[other]))
        ok(apart == COLUMNS, '%s: one chain and %s differ in %d of %d outputs' % (form, other, apart, COLUMNS))
told('for one row and for many all outputs differ')
finish()
