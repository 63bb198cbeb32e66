# SPDX-License-Identifier: Apache-2.0
# What calc --explain draws and says, read back from its text and computed again by fractions: the digits of every row
# under their weights, the line at the last bit kept, what each addition of a sum loses, what a tensor core's block
# chops, guard, round and sticky, and the words below.
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, '..', '..', 'judge'), os.path.join(here, '..', '..', 'tool')]
from drawn.operation import operation  # noqa: E402
from drawn.sums import block, models, sums  # noqa: E402
from drawn.svg import slides, svg  # noqa: E402
from tap import finish, none  # noqa: E402

for f, n, spread in (
    ('fp16', 1, 3),
    ('fp16', 4, 12),
    ('fp16', 13, 14),
    ('fp16', 14, 14),
    ('bf16', 18, 30),
    ('fp32', 30, 40),
    ('fp32', 9, 60),
    ('fp64', 6, 100),
):
    none(
        [w for seed in range(6) for w in sums(f, n, seed, spread)],
        'sums of %d terms in %s, as rows and words' % (n, f),
    )
for model, f, acc, outer in (
    ('fma', 'fp16', 'fp16', 'fp16'),
    ('fma', 'bf16', 'fp32', 'fp32'),
    ('sequential', 'fp16', 'fp16', 'fp16'),
    ('sequential', 'bf16', 'bf16', 'bf16'),
    ('chunk:3', 'fp16', 'fp16', 'fp16'),
    ('chunk:4', 'bf16', 'fp16', 'fp16'),
    ('splitk:2', 'fp16', 'bf16', 'bf16'),
    ('splitk:5', 'fp16', 'fp16', 'fp16'),
    ('promote:4', 'fp16', 'fp16', 'fp32'),
):
    none(
        [w for n in (1, 7, 11, 17) for w in models(model, f, acc, outer, n, n)],
        'products by %s,acc=%s, in %s' % (model, acc, f),
    )
for function in ('+', '-', '*', '/', 'fma'):
    for f, modes in (('fp16', ('RNE', 'RU', 'RNA')), ('bf16', ('RNE', 'RD', 'RNZ')), ('fp32', ('RZ',))):
        none(
            [w for mode in modes for seed in range(8) for w in operation(function, f, mode, seed)],
            '%s in %s: rows, codes and words' % (function, f),
        )
for model, inner, out, n, width, bits in (
    ('tc:hopper', 'fp16', 'fp32', 12, 16, 25),
    ('tc:ampere', 'fp16', 'fp32', 8, 8, 24),
    ('tc:ada,in=bf16', 'bf16', 'fp32', 5, 8, 24),
):
    none([w for seed in range(6) for w in block(model, inner, out, n, seed, width, bits)], 'a block of %s' % model)
for words in (
    ['--format', 'fp16', 'sum(1, 2.5, 0.001, -100)'],
    ['--format', 'fp32', '1e30 + 3'],
    ['--format', 'e4m3', '--mode', 'RU', '0.1*3', '1/3'],
    ['--sum', 'tc:hopper', 'sum(1, 0.1*0.2, 0.3*-0.0001, 2^-12*2^-13, 3*100)'],
    ['--format', 'bf16', '--sum', 'chunk:3,acc=fp16', 'sum(%s)' % ', '.join('%d*0.3' % k for k in range(1, 14))],
    ['--format', 'fp64', '1/3', 'fma(1.5, 2.5, -0.001)'],
):
    none(svg(*words), 'the SVG of %s has the digits of the text, and stands straight' % words[-1])
for words in (['--format', 'fp16', 'sum(%s)' % ', '.join('%d*0.3' % k for k in range(1, n))] for n in (3, 10, 15)):
    none(slides(*words), 'slides of %s' % words[-1])
finish()
