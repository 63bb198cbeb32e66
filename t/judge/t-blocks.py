#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# blocks.tsv and block-scales.tsv: what casts to block formats made zero and saturated, the scales of their blocks, how
# much they shrank, and what became of outliers' neighbours with a Hadamard transform and without it, each counted here
# from the traced tensors by a rule of scales and a grid of their own.
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, finish, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()
GRID = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def run(*words):
    done = subprocess.run([HALFULP, *words], capture_output=True, text=True)
    if done.returncode:
        ok(False, ' '.join(words), done.stderr)
        finish()
    return done.stdout


def table(name, file):
    lines = [x.rstrip('\n').split('\t') for x in open(os.path.join(where, name, 'analysis', file)) if x[0] != '#']
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def train(name, policy):
    path = os.path.join(where, name)
    run('train', '--model', 'mlp:width=0.25', '--policy', policy, '--steps', '2', '--batch', '40',
        '--trace', 'steps=1', '--quiet', path)  # fmt: skip
    said = run('analyze', '--only', 'blocks', path)
    program = json.load(open(os.path.join(path, 'program-train.json')))
    names = [t['name'] for t in program['tensors']]
    calls = [c for c in program['calls'] if c['op'] in ('block_cast', 'hadamard')]
    made = {names[c['out'][0]]: (c, names[c['in'][0]]) for c in calls}
    return made, Tensors(os.path.join(path, 'trace', 'step-000001.safetensors')), said


def rows_of(values, columns, across):
    if across:
        return [values[k::columns] for k in range(columns)]
    return [values[k : k + columns] for k in range(0, len(values), columns)]


def scale_of(block):
    """OCP's: 2^(floor(log2 amax) - 2), and the smallest one where all are 0."""
    most = max(map(abs, block))
    return 2.0 ** (math.frexp(most)[1] - 1 - 2) if most else 2.0**-127


def cast(block):
    s, out = scale_of(block), []
    for v in block:
        a = abs(v) / s
        k = min(range(len(GRID)), key=lambda i: (abs(GRID[i] - a), i % 2))
        out.append(math.copysign(GRID[k] * s, v))
    return out


KEYS = ('elements', 'nonzeros', 'became_zero', 'saturated', 'all_blocks', 'saturated_blocks', 'outlier_blocks',
        'neighbours', 'neighbours_zero', 'neighbours_zero_untransformed')  # fmt: skip
POLICY = 'mixed_bfloat16,recipe=mxfp4,' + ','.join(
    '%s=mxfp4:ocp' % k for k in ('forward_x', 'forward_w', 'dgrad_g', 'dgrad_w', 'wgrad_x', 'wgrad_g')
)
made, traced, said = train('mx', POLICY)
casts = {n: v for n, v in made.items() if v[0]['op'] == 'block_cast'}
got = {r['tensor']: r for r in table('mx', 'blocks.tsv')}
ok(set(got) == set(casts) and len(got) > 10, 'a row of each of the %d casts' % len(casts))
wrong, scales, sums = [], {}, {}
for name, (call, source) in casts.items():
    columns, across = call['attr']['columns'], call['attr'].get('across', 0)
    plain = made[source][1] if source in made and made[source][0]['op'] == 'hadamard' else source
    matrices = [rows_of(list(traced[n]), columns, across) for n in (source, name, plain)]
    n = dict.fromkeys(KEYS, 0)
    exps, exact2, error2, dot, other = [], 0.0, 0.0, 0.0, 0
    for xs, ys, ps in zip(*matrices):
        for k in range(0, len(xs), 32):
            x, y, p = xs[k : k + 32], ys[k : k + 32], ps[k : k + 32]
            other += cast(x) != y
            s = scale_of(x)
            # beyond 6 a value saturates where it would not be rounded to 6: from 7 on
            high = sum(abs(v) / s >= 7 for v in x)
            exps.append(round(math.log2(s)))
            n['elements'] += len(x)
            n['nonzeros'] += sum(v != 0 for v in x)
            n['became_zero'] += sum(v != 0 and w == 0 for v, w in zip(x, y))
            n['saturated'] += high
            n['all_blocks'] += 1
            n['saturated_blocks'] += high > 0
            squares = sorted(v * v for v in p)
            rest = math.fsum(squares[:-1])
            if len(p) > 1 and rest > 0 and squares[-1] >= 64 * rest / (len(p) - 1):
                n['outlier_blocks'] += 1
                n['neighbours'] += sum(v != 0 for v in p) - 1
                n['neighbours_zero'] += sum(v != 0 and w == 0 for v, w in zip(x, y))
                n['neighbours_zero_untransformed'] += sum(v != 0 and w == 0 for v, w in zip(p, cast(p)))
            exact2 += math.fsum(v * v for v in x)
            error2 += math.fsum((v - w) ** 2 for v, w in zip(x, y))
            dot += math.fsum(v * w for v, w in zip(x, y))
    row = got[name]
    wrong += ['%s: other values' % name] if other else []
    for key, value in n.items():
        told = row[key]
        if key == 'neighbours_zero_untransformed' and plain == source:
            wrong += [name + ' has no transform'] if told != '-' else []
        elif int(told) != value:
            wrong.append('%s %s: %s, not %d' % (name, key, told, value))
        sums[key] = sums.get(key, 0) + (value if plain != source or not key.startswith('neighb') else 0)
    exps.sort()
    for key, value in (('min', exps[0]), ('median', exps[(len(exps) + 1) // 2 - 1]), ('max', exps[-1])):
        if float(row['log2_scale_' + key]) != value:
            wrong.append('%s log2_scale_%s: %s, not %d' % (name, key, row['log2_scale_' + key], value))
    for key, value in (('l2_error', math.sqrt(error2 / exact2)), ('shrinkage', dot / exact2 - 1)):
        if abs(float(row[key]) - value) > 1e-9:
            wrong.append('%s %s: %s, not %g' % (name, key, row[key], value))
    scales[name] = {e: exps.count(e) for e in exps}
none(wrong[:8], 'each count of each cast: %d zeroed, %d saturated' % (sums['became_zero'], sums['saturated']))
ok(min(sums.values()) > 0, 'of which none is 0 everywhere', str(sums))
ok(sums['neighbours_zero'] < 0.75 * sums['neighbours_zero_untransformed'],
   "a Hadamard transform keeps outliers' neighbours: %d became zero, %d would have without it"
   % (sums['neighbours_zero'], sums['neighbours_zero_untransformed']))  # fmt: skip
told = {}
for r in table('mx', 'block-scales.tsv'):
    told.setdefault(r['tensor'], {})[int(r['log2_scale'])] = int(r['blocks'])
ok(told == scales, 'the histograms of scales')
share = 100 * sum(int(r['became_zero']) for r in got.values()) / sum(int(r['nonzeros']) for r in got.values())
ok('%.3g %% of' % share in said, 'the line of analyze has their share', said)

made, traced, said = train('none', 'mixed_bfloat16')
ok('no tensor is cast to a block format' in said and not os.path.exists(
    os.path.join(where, 'none', 'analysis', 'blocks.tsv')), 'other policies have no such table')  # fmt: skip
finish()
