#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# doc/gate.md's tables of how often `check` in statistics mode is red are those that bench/operating-curve.py makes of
# its last output, doc/operating-curve.tsv, and that output keeps what the page says of the mode.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import TOP, finish, none, ok  # noqa: E402

CURVE = os.path.join(TOP, 'doc', 'operating-curve.tsv')
page = open(os.path.join(TOP, 'doc', 'gate.md'), encoding='utf-8').read()
p = subprocess.run([sys.executable, '-B', os.path.join(TOP, 'bench', 'operating-curve.py'), '--from', CURVE],
                   capture_output=True, text=True, encoding='utf-8', env=dict(os.environ, PYTHONIOENCODING='utf-8'))
tables = p.stdout.strip().split('\n')
ok(p.returncode == 0 and len(tables) > 20, 'the tables are made', p.stderr)
none([line for line in tables if line and line not in page.split('\n')], 'and stand on the page')

lines = open(CURVE).read().splitlines()
head = lines[1].split('\t')
rows = [dict(zip(head, l.split('\t'))) for l in lines[2:]]
rate = {(r['setup'], r['change'], r['mode'], int(r['n']), int(r['k'])): 100 * int(r['red']) / int(r['trials'])
        for r in rows}
setups = sorted({r['setup'] for r in rows})
ok(len(setups) == 9, 'nine set-ups', setups)
agreed = re.search(r'agreed with (\d+) of (\d+) verdicts', lines[0])
ok(agreed and agreed[1] == agreed[2], "the program's verdicts are those computed there", lines[0])
none([k for k, x in rate.items() if k[1:3] == ('none', 'paired') and x > 0], 'unchanged and paired: none is red')
ok('40 unpaired;' in lines[0], 'unpaired runs are drawn from forty seeds', lines[0])


def said(sentence, *values):
    """The page has the sentence, each % of which is a number of the curve."""
    text = sentence.replace('%%', '\0')
    for x in values:
        text = text.replace('%', '%g' % x if x != int(x) else '%d' % x, 1)
    flat = ' '.join(page.split())
    ok(text.replace('\0', '%') in flat, 'the page says: ' + text.replace('\0', '%'))


def red(setup, change, n=5, k=1, mode='paired'):
    return rate[setup, change, mode, n, k]


unpaired = {k: x for k, x in rate.items() if k[1:3] == ('none', 'unpaired')}
calm = [x for k, x in unpaired.items() if k[0] != 'ncf']
said('are red in % to % %% of eight set-ups', min(calm), max(calm))
none([x for x in calm if x > 2], 'which is at most 2 %')
said("ncf's are in % %% at 5/1 and in % %% at 10/1", *(red('ncf', 'none', n, 1, 'unpaired') for n in (5, 10)))
none([k for k, x in unpaired.items() if k[4] == 5 and x > 0.5], 'with five candidates at most 0.5 % are')
said('a rate 20 %% off is red in % and % %% of trials in the U-Net', *(red('unet', 'lr %s20 %%' % s) for s in '+-'))
said('and in % and % %% in bert', *(red('bert', 'lr %s20 %%' % s) for s in '+-'))
said(
    'eps 1e-3 in % %% in the convolutional net, % %% in gpt and % %% in the U-Net',
    *(red(s, 'eps 1e-3') for s in ('convnet', 'gpt', 'unet'))
)
said('beta2 0.9 in % %% in the U-Net', red('unet', 'beta2 0.9'))
three = [x for k, x in rate.items() if k[1:] == ('RZ casts', 'paired', 3, 1)]
said('With three seeds casts toward zero are red in % to % %%', min(three), max(three))
none([s for s in ('gpt', 'unet', 'bert') if red(s, 'no decay') > 1], 'a decay that was dropped is not seen there')
blind = [k[0] for k, x in rate.items() if k[1:] == ('RZ sums', 'paired', 5, 1) and k[0] != 'float32' and x > 1]
none(blind, 'nor are sums toward zero under 16 bits')
quiet = [r for r in rows if r['change'] == 'none' and (r['mode'], r['n'], r['k']) == ('paired', '5', '1')]
of = [sum(int(r[c]) for r in quiet) for c in ('runs', 'trials', 'red')]
ok(of[0] >= 149 and of[1] >= 1000 and of[2] == 0, 'of 149 distinct runs and 1000 trials or more', of)
guarding = open(os.path.join(TOP, 'doc/ci.md'), encoding='utf-8').read()
ok('0 of %d trials were red' % of[1] in ' '.join(guarding.split()), 'doc/ci.md says of how many trials none was red')
said('0 of % distinct runs bounds the rate of false alarms by % %%', of[0], round(100 * (1 - 0.05 ** (1 / of[0])), 1))
MUST = [k[:2] for k in rate if k[1] in ('fp16 second moment', 'fp16 momentum', 'scale 2^20', 'RZ casts', 'fp16 sums')
        and k[2:] == ('paired', 5, 1)]
MLP = ('float32', 'float16', 'bfloat16', 'sgd')
MUST += [(s, c) for s in MLP for c in ('lr +20 %', 'lr -20 %', 'eps 1e-3', 'beta2 0.9', 'no decay')]
found = {k: rate[k + ('paired', 5, 1)] for k in MUST if k + ('paired', 5, 1) in rate}
none([(k, x) for k, x in found.items() if x < 100], 'what must be red with one candidate of five seeds')
ok(len(found) == 56, 'which are %d' % len(found))
none([k for k, x in rate.items() if k[1:] == ('lr +1 %', 'paired', 5, 1) and x > 6], 'lr +1 %: red in at most 6 %')
finish()
