#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What takes from an update apart from its own rounding: in how many steps clipping shortened the gradients, and by how
# much (the manifest's clip-norm over the norm), is counted again from metrics.tsv; the second moments' own swamped
# updates from the recorded moments; weight decay stands beside the swamped updates. Each of the three is told alone.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

os.chdir(home())
MLP = '--model mlp:width=0.1 --data size=8,train=160,eval=16 --batch 16 --steps 10 --trace steps=last --quiet'


def judged(name, words):
    for line in (['train', *MLP.split(), *words.split(), name], ['analyze', name, '--json']):
        p = halfulp(*line)
        if p.returncode > 1:
            ok(False, name, p.stderr)
            finish()
    s = json.load(open(name + '/analysis/summary.json'))
    return s['numbers'], s['verdict'][1]


def norms(name):
    rows = [line.rstrip('\n').split('\t') for line in open(name + '/metrics.tsv') if not line.startswith('#')]
    return [float(r[rows[0].index('grad_norm')]) for r in rows[1:]]


free, said = judged('free', '--policy float32')
unclipped = [free[k] for k in ('clip_norm', 'clipped_steps', 'clip_factor_least')] == [None, None, None]
ok(unclipped and 'lipping' not in said, 'a training that clips nothing says nothing of it')
middle = sorted(norms('free'))[5]
some, said = judged('some', '--policy float32 --optimizer clip_norm=%.6g' % middle)
got = norms('some')
most = json.load(open('some/manifest.json'))['config']['clip-norm']
above = [x for x in got if x > most]
ok(some['clipped_steps'] == len(above) and 0 < len(above) < 10 and
   abs(some['clip_factor_least'] - most / max(got)) < 1e-12,
   'clipping shortened the gradients of %d of 10 steps' % len(above), '%s %s' % (some, got))  # fmt: skip
want = ' Clipping to a norm of %g shortened the gradients of %d of 10 steps, to %.3g of their length at the least.' % (
    most, len(above), most / max(got))  # fmt: skip
ok(said.endswith(want), 'and the verdict says so', said)
none, said = judged('none', '--policy float32 --optimizer clip_norm=1e6')
ok((none['clipped_steps'], none['clip_factor_least']) == (0, 1) and 'lipping' not in said, 'a norm that none reaches')

# Second moments in bfloat16: of those whose exact update is not 0, how many kept their value
short, said = judged('short', '--policy bfloat16 --optimizer adam')
t = Tensors('short/trace/step-000009.safetensors')
moments = [n for n in t.head if n.endswith('_v') and n + '_next' in t.head]
moved = kept = 0
for n in moments:
    g = next(t[k] for k in (n[: -len('w_v')] + 'd' + n[-3] + '_unscaled', n[:-3] + 'd' + n[-3]) if k in t.head)
    for old, new, slope in zip(t[n], t[n + '_next'], g):
        exact = (slope * slope - old) != 0
        moved += exact
        kept += exact and old == new != 0
ok(moments and moved and abs(short['second_moment_swamped_share'] - kept / moved) < 1e-12 and kept > 0,
   'of the second moments %d of %d kept their value' % (kept, moved), short['second_moment_swamped_share'])  # fmt: skip
want = " Of the second moments' own updates %.3g %% were swamped." % (100 * kept / moved)
ok(want in said, 'and the verdict says so', said)
ok(free['second_moment_swamped_share'] is not None and free['swamped_share_updates_by_decay'] is not None,
   'moments and weight decay have numbers of their own')  # fmt: skip
finish()
