#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# train --reductions: gradients of biases add by the model, as computed again here with exact fractions; the run is
# verified bit for bit, its replay is within the bounds of the model, and losses keep the fixed tree.
import json, os, sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

os.chdir(home())


def run(*words):
    p = halfulp(*words)
    return p.returncode, p.stdout, p.stderr


def table(path):
    with open(path, encoding='utf-8') as f:
        lines = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


# x rounded to nearest even in bf16, of normal numbers.
def bf16(x):
    if x == 0:
        return Fraction(0)
    a, e = abs(x), 0
    while a >= Fraction(2) ** (e + 1):
        e += 1
    while a < Fraction(2) ** e:
        e -= 1
    n = a / Fraction(2) ** (e - 7)
    whole = n.numerator // n.denominator
    rest = n - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    return (1 if x > 0 else -1) * whole * Fraction(2) ** (e - 7)


def sequential(terms):
    s = Fraction(0)
    for t in terms:
        s = bf16(s + bf16(Fraction(t)))
    return float(s)


MLP = ['train', '--model', 'mlp', '--data', 'size=8', '--model', 'width=0.1', '--data', 'train=192,eval=48', '--policy',
       'float32', '--batch', '48', '--steps', '2',
       '--trace', 'steps=0', '--quiet', '--backend', 'cpu']
code, out, err = run(*MLP, '--reductions', 'sequential,acc=bf16', 'r')
ok(code == 0, 'a training whose reductions add in bf16: %s' % err.strip())
with open('r/program-train.json', encoding='utf-8') as f:
    program = json.load(f)
told = [c for c in program['calls'] if c['attr'].get('summed')]
ok(told and {c['sum'] for c in told} == {'sequential,acc=bf16'} and 'bias_db' in {c['op'] for c in told}
   and not any(c.get('loss') for c in told),
   'the program says so of %s, and of no loss' % ', '.join(sorted({c['op'] for c in told})))
file = Tensors('r/trace/step-000000.safetensors')
names = [t['name'] for t in program['tensors']]
for call in told:
    if call['op'] != 'bias_db':
        continue
    dy, db = (names[call[k][0]] for k in ('in', 'out'))
    x, got = list(file[dy]), list(file[db])
    want = [sequential(x[j::len(got)]) for j in range(len(got))]
    ok(got == want and any(got), '%s is the sum of its %d rows in bf16, one after another' % (db, len(x) // len(got)))
code, out, err = run('verify', 'r')
ok(code == 0, 'verify computes the same bits')
code, out, err = run('analyze', '--only', 'replay', 'r')
rows = table('r/analysis/replay.tsv') if code == 0 else []
mine = [r for r in rows if r['op'] == 'bias_db']
ok(mine and all(r['over_bound'] == '0' and r['sum'] == 'sequential,acc=bf16' for r in mine),
   'replay judges them by the model: none of %d is beyond its bound' % len(mine))
ok(mine and max(float(r['bound_ratio_max']) for r in mine) > 1e-3, 'and the bound is no looser than a thousand errors')
code, out, err = run(*MLP, 'plain')
ok(Tensors('plain/trace/step-000000.safetensors')[db] != file[db], 'the fixed tree gives other bits')
for model, said in (('tc:ampere,in=fp16', 'tensor cores'), ('fma,acc=bf16,mode=SR', 'random bits'),
                    ('fmaa', 'did you mean fma')):
    code, out, err = run(*MLP, '--reductions', model, 'no')
    ok(code == 2 and said in err and err.count('\n') == 1, '--reductions %s is refused: %s' % (model, err.strip()))
finish()
