# SPDX-License-Identifier: Apache-2.0
# What a device's passes cover (kernels.tsv) beside the program's calls.
import json
import os
import re
import sys

from recorded_runs import SMALL, at, doctor, table, train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import NO_SHIM, finish, has_shim, none, skip_all  # noqa: E402

if not has_shim():
    skip_all(NO_SHIM)


def kernels(name):
    """Problems of kernels.tsv: each call in one pass, whose row says what its calls have in common."""
    calls, rows, wrong, seen = (
        json.load(open(at(name, 'program-train.json')))['calls'],
        table(at(name, 'kernels.tsv')),
        [],
        [],
    )
    said = json.load(open(at(name, 'manifest.json')))['gemm']['calls']
    ran = {c['call']: c['ran'] for c in said}
    wrong += ['%s, which is %s of %s' % (c, calls[c['call']]['op'], calls[c['call']]['layer']) for c in said
              if (c['op'], c['layer']) != (calls[c['call']]['op'], calls[c['call']]['layer'])]
    products = [c['id'] for c in calls if c['op'] in ('matmul', 'conv2d', 'conv2d_dx', 'conv2d_dw')]
    wrong += ['products: %s there, %s here' % (sorted(ran), products)] if sorted(ran) != products else []
    launches = moved = 0
    for r in rows[:-1]:
        launches, moved = launches + int(r['launches']), moved + int(r['bytes'])
        if r['calls'] == '0':
            if (r['call'], r['layer'], r['phase'], r['op'], r['covers']) != ('-', 'statistics', '-', '-', '-'):
                wrong.append(r)
            continue
        covers = [
            n for part in r['covers'].split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)
        ]
        runs = [g for g in re.findall(r'\d+-\d+|\d+', r['covers'])]
        shortest = sum(b - 1 not in covers for b in covers)
        mine = [calls[n] for n in covers]
        ops = list(dict.fromkeys(c['op'] for c in mine))
        layers, phases = {c['layer'] for c in mine}, {c['phase'] for c in mine}
        layer = mine[0]['layer'] if r['pass'] == 'chain' else layers.pop() if len(layers) == 1 else 'several'
        want = {
            'call': str(covers[0]),
            'layer': layer,
            'phase': phases.pop() if len(phases) == 1 else 'several',
            'op': '+'.join(ops),
            'calls': str(len(covers)),
            'ran': next((ran[n] for n in reversed(covers) if n in ran), '-'),
        }
        wrong += ['%s: %s is %s there, %s here' % (r['covers'], k, r[k], v) for k, v in want.items() if r[k] != v]
        if (
            covers != sorted(set(covers))
            or len(runs) != shortest
            or (r['pass'] == '-') != (len(covers) == 1)
            or not int(r['launches']) > 0
            or not int(r['bytes']) > 0
        ):
            wrong.append(r)
        seen += covers
    last = rows[-1]
    if sorted(seen) != list(range(len(calls))) or (
        last['layer'], last['calls'], int(last['launches']), int(last['bytes'])
    ) != ('all', str(len(calls)), launches, moved):
        wrong.append('%d calls seen, %s' % (len(seen), last))
    return wrong


for model, policy, more in (
    ('mlp', 'mixed_float16', ['--accumulate', 'tc:hopper']),
    ('convnet', 'mixed_float16', []),
    ('mlp', 'float32', ['--backend', 'fuse=off']),
):
    name = 'device-%s-%s' % (model, policy)
    m, out = train(name, '--model', model, *SMALL, '--data', 'train=16', '--batch', '4', '--steps', '2',
                   '--trace', 'steps=none', '--policy', policy, '--backend', 'shim', *more)
    none(
        kernels(name),
        '%s, %s: kernels.tsv covers each call once, with its layer, phase and operators' % (model, policy),
    )
finish()
