#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of optimizers: states in a format of their own, weights that are rounded stochastically and what the verdict
then says, constants that Keras casts; what is refused; stochastic rounding of NaNs, which torchao's rule destroys."""

import json
import math
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, none, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp:width=0.25 --batch 40 --quiet --policy bfloat16 '
runs = Trainings(SMALL)
at, train, traced = runs.at, runs.train, runs.traced
NAMES = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']


def formats(run):
    return {t['name']: t['format'] for t in runs.program(run)['tensors']}


for optimizer, states in (('adamw', 'mv'), ('lion', 'm'), ('muon', 'm'), ('lamb', 'mv')):
    run = optimizer + '-state'
    if train('--optimizer %s:state=fp32,ema=0.9 --steps 2' % optimizer, run):
        f = formats(run)
        wrong = [n + '_' + s for n in NAMES for s in [*states, 'ema'] if f.get(n + '_' + s) != 'fp32']
        none(wrong, '%s:state=fp32: moments and averages are float32' % optimizer)
        none([n for n in NAMES if f[n] != 'bf16'], 'while weights stay bfloat16')

# A weight that is rounded stochastically is one of its exact value's two neighbours, and is not off on average.
LR = 0.001
if train('--optimizer sgd:update=sr --optimizer lr=%g --steps 3 --trace steps=2' % LR, 'sr'):
    t, off, spread, wrong, kept = traced('sr', 2), 0.0, 0.0, [], 0
    for name in NAMES:
        g = t[name.replace('.', '.d') + ('_unscaled' if name.replace('.', '.d') + '_unscaled' in t.head else '')]
        for w, d, after in zip(t[name], g, t[name + '_next']):
            exact = w - LR * d
            if exact == 0:
                continue
            ulp = 2.0 ** (math.floor(math.log2(abs(exact))) - 7)
            low = math.floor(exact / ulp) * ulp
            p = (exact - low) / ulp
            if not (after in (low, low + ulp) or abs(after - exact) < 1e-6 * ulp):
                wrong.append('%s: %r became %r' % (name, exact, after))
            off += (after - exact) / ulp
            spread += p * (1 - p)
            kept += after == w and d != 0
    none(wrong[:5], 'update=sr: each weight is a neighbour of its exact value')
    ok(abs(off) < 4 * math.sqrt(spread), 'and their mean is not off', '%g of %g' % (off, math.sqrt(spread)))
    ok(kept > 1000, 'although %d keep their bits' % kept)

# Muon's iterations are no weights: they are rounded to nearest where updates are not.
if train('--optimizer muon:update=sr --steps 1', 'muon-sr'):
    program = runs.program('muon-sr')
    names = [t['name'] for t in program['tensors']]
    modes = {names[o]: c['mode'] for c in program['calls'] if c['phase'] == 'update' for o in c['out']}
    drawn = {n for n, mode in modes.items() if mode == 'SR'}
    ok(all(n + '_next' in drawn for n in NAMES), 'muon:update=sr: weights are rounded stochastically', str(drawn))
    ok('dense1.w_m_moved' in drawn, 'so are the moments', str(drawn))
    none([n for n in drawn if '_x' in n or '_gram' in n or '_poly' in n], 'and no iteration')
    ok(any('_gram5' in n for n in modes), 'of which there are five')

word = {}
for update in ('rne', 'sr'):
    run = 'adamw-' + update
    if train('--optimizer adamw:update=%s,state=fp32 --optimizer lr=1e-4 --steps 12 --trace steps=10' % update, run):
        halfulp('analyze', at(run))
        word[update] = json.load(open(at(run, 'analysis', 'summary.json')))
cosine = {u: s['numbers']['update_cosine'] for u, s in word.items()}
ok(word['rne']['verdict_word'] == 'fatal' and word['sr']['verdict_word'] != 'fatal',
   'updates that nearest swallows are fatal, those that stochastic rounding makes on average are not',
   '%s %s' % (word['rne']['verdict'][0], word['sr']['verdict'][0]))  # fmt: skip
ok(cosine['sr'] < 0.9 and word['sr']['numbers']['update_cosine_expected'] > 0.999, 'one draw is far off, all are not',
   str(cosine))  # fmt: skip
ok(word['rne']['numbers']['update_cosine_expected'] is None, 'nothing is drawn under update=rne')

if train('--optimizer adam:constants=double --steps 3 --trace steps=2', 'double') and train(
    '--optimizer adam --steps 3 --trace steps=2', 'variable'
):
    moved = {r: sum(a != b for n in NAMES for a, b in zip(traced(r, 2)[n], traced(r, 2)[n + '_next']))
             for r in ('double', 'variable')}  # fmt: skip
    ok(moved['double'] > 0 == moved['variable'], 'constants=double moves what beta2 = .999 in bfloat16 does not',
       str(moved))  # fmt: skip

# Constants of every optimizer, and the decay of averages, as bfloat16 has them: 0.9 is 0.8984375, 0.999 is 1.
def bf16(x):
    u = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', u + 0x7FFF + (u >> 16 & 1) & 0xFFFF0000))[0]


KEYS = {'lr': 0.003, 'momentum': 0.9, 'weight_decay': 0.0123, 'beta1': 0.9, 'beta2': 0.99, 'eps': 1e-6, 'alpha': 0.99,
        'decay': 0.97}  # fmt: skip
for row in ('sgd:momentum=0.9,weight_decay=0.0123', 'adamw:beta1=0.9,beta2=0.99,eps=1e-6,weight_decay=0.0123',
            'lion:beta1=0.9,beta2=0.99,weight_decay=0.0123'):  # fmt: skip
    wrong, seen = [], set()
    for how, rule in (('double', float), ('variable', bf16)):
        run = row.split(':')[0] + '-constants-' + how
        if train('--optimizer %s,constants=%s,ema=0.97 --optimizer lr=0.003 --steps 1' % (row, how), run):
            for c in runs.program(run)['calls']:
                if c['op'] in ('sgd', 'adamw', 'ema'):
                    for key, value in c['attr'].items():
                        want = {rule(KEYS[key]), 0.0} if key in KEYS else {value}
                        wrong += [] if value in want else ['%s %s: %s is %r' % (run, c['op'], key, value)]
                        seen |= {key} if key in KEYS and value else set()
    none(wrong[:5], '%s: constants are numbers of bfloat16 where the key says so, and else as they were given' % row)
    ok({'lr', 'weight_decay', 'decay'} <= seen, 'of which %s are read' % ', '.join(sorted(seen)))
p = halfulp('train', *SMALL.replace('--quiet', '').split(), '--optimizer', 'adamw:constants=variable,ema=0.999',
            '--steps', '1', at('lost'))
ok(p.returncode == 0 and "the averages' decay 0.999 is 1 in bfloat16" in p.stderr, 'a decay that becomes 1 is told',
   p.stderr)

for spec, words in (('lion:foo=1', 'unknown key'), ('lion:', 'behind the colon'),
                    ('lion:iterate=fp32', 'no effect with'),
                    ('adamw:constants=half', 'one of double variable'), ('adamw:state=xx', 'unknown format'),
                    ('adam:update=up', 'one of rne sr kahan'), ('adam:update', 'unknown optimizer'),
                    ('nope:update=sr', 'there are sgd'), ('sgd:state=bf16', 'without momentum='),
                    ('adam8bit:state=bf16', 'no moment has that format'),
                    ('adam4bit:state=fp32', 'adam8bit and adam4bit have codes'),
                    ('muon:iterate=x', 'unknown format')):  # fmt: skip
    p = halfulp('train', '--optimizer', spec, '--steps', '1', at('refused'))
    good = p.returncode == 2 and words in p.stderr and p.stderr.count('\n') == 1
    ok(good, '--optimizer %s is refused' % spec, p.stderr)


def survivors(draw):
    """Of a NaN's 65536 draws of 16 bits, how many are NaN as a bfloat16."""
    return sum(draw(r) & 0x7F80 == 0x7F80 and draw(r) & 0x7F != 0 for r in range(65536))


def torchao(bits):
    """The code of a float32 that is rounded up where 16 random bits are below its lower half."""
    return lambda r: ((bits >> 16) + (r < bits & 0xFFFF)) & 0xFFFF


ok(survivors(torchao(0x7FFFFFFF)) == 1, "torchao's rule keeps CUDA's NaN in 1 of 65536 draws")
ok(survivors(torchao(0x7F800001)) == 1 and survivors(torchao(0x7FC00000)) == 65536,
   'and 0x7F800001 in one, and 0x7FC00000 in all')
with open(at('nan.npy'), 'wb') as f:
    values = [float('nan')] * 65536
    raw = npy((65536,), values)
    f.write(raw[: -4 * 65536] + struct.pack('<I', 0x7FFFFFFF) * 65536)
words = ['--in', 'a=' + at('nan.npy'), '--set', 'out=bf16', '--set', 'mode=SR', '--out', at('y.npy')]
p = halfulp('op', 'cast', *words)
got = open(at('y.npy'), 'rb').read()[-4 * 65536 :] if p.returncode == 0 else b''
ok(len(got) == 4 * 65536 and all(x != x for x in struct.unpack('<65536f', got)),
   'stochastic rounding here keeps all 65536', p.stderr)  # fmt: skip

# Of several policies update= is told to those runs alone in which it has an effect.
def told(keys):
    """What each policy's run says of its optimizer, and the exit code."""
    where = at('told-' + keys.replace(':', '-').replace(',', '-').replace('=', '-'))
    p = halfulp('compare', '--model', 'mlp:width=0.1', '--steps', '2', '--policy', 'float32,bfloat16', '--optimizer',
                keys, where)  # fmt: skip
    said = {}
    for name in os.listdir(where) if p.returncode == 0 else ():
        path = os.path.join(where, name, 'manifest.json')
        if os.path.exists(path):
            c = json.load(open(path))['config']
            keys = ['%s=%s' % (k, c[n]) for k, n in (('state', 'optimizer-state'), ('update', 'update')) if n in c]
            said[name.split('-')[0]] = ':'.join([c['optimizer']] + [','.join(keys)] * bool(keys))
    return said, p.stderr


said, err = told('adamw:update=sr')
ok(said == {'float32': 'adamw', 'bfloat16': 'adamw:update=sr'}, 'compare: update=sr is of short weights',
   said or err)  # fmt: skip
said, err = told('adamw:state=bf16,update=kahan')
ok(said == {'float32': 'adamw:state=bf16', 'bfloat16': 'adamw:state=bf16,update=kahan'},
   'and so is update=kahan, beside a key that both have', said or err)  # fmt: skip
said, err = told('adamw:update=sr,state=bf16')
ok(set(said.values()) == {'adamw:state=bf16,update=sr'} and len(said) == 2,
   'while update=sr rounds moments in bfloat16 of float32 weights too', said or err)  # fmt: skip
finish()
