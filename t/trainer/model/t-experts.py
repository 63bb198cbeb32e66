#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A gpt whose blocks have a mixture of experts: the router's choices, gates, results and gradients of a traced step are
# computed again in double precision, token by token and with the chosen experts alone, and so are the balance loss and
# its gradient, which evens the experts' load; under every policy each token
# has as many experts as were asked for, those of the largest recorded logits.
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from experts import gates, largest, result, rows  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

os.chdir(home())
WORDS = '--data length=11,train=32,eval=8 --batch 4 --steps 2 --trace steps=1 --loss-scale none --quiet'
HIDDEN, INNER, TOKENS = 8, 12, 44


def train(name, experts, k, *words, balance=0):
    model = '--model gpt:layers=1,hidden=%d,heads=2,inner=%d,experts=%d,top_k=%d,balance=%g' % (
        HIDDEN, INNER, experts, k, balance)
    p = halfulp('train', *model.split(), *WORDS.split(), *words, name)
    if p.returncode:
        ok(False, 'train ' + name, p.stderr)
        finish()
    return Tensors(name + '/trace/step-000001.safetensors')


def even(z, experts, k, balance):
    """The balance loss of the logits, and its gradient for each: f is each expert's share of the tokens, a constant, p
    its share in a token's softmax."""
    f = [sum(e in largest(row, k) for row in z) / len(z) for e in range(experts)]
    p = [[math.exp(v - max(row)) for v in row] for row in z]
    p = [[v / sum(row) for v in row] for row in p]
    by = balance * experts / k
    slopes = [[by / len(z) * row[j] * (f[j] - sum(a * b for a, b in zip(f, row))) for j in range(experts)] for row in p]
    return by * sum(f[e] * sum(row[e] for row in p) / len(z) for e in range(experts)), slopes


def again(t, experts, k, balance=0):
    """The block's results and gradients: name -> numbers."""
    x, dy, z = (rows(t[n], w) for n, w in (('block1_norm2.y', HIDDEN), ('block1_add2.dy', HIDDEN),
                                          ('block1_router.y', experts)))  # fmt: skip
    part = ['block1_expert%d_%s' % (e + 1, p) for e in range(experts) for p in ('up', 'down')]
    dw, db = ({n + end: [0.0] * len(t[n + '.' + end[2]]) for n in part} for end in ('.dw', '.db'))
    router, chosen, sums = [0.0] * (HIDDEN * experts), [], []
    loss, slopes = even(z, experts, k, balance)
    for i in range(TOKENS):
        mine = largest(z[i], k)
        gate, slope = gates(z[i], mine, k)
        y, parts = result(t, 'block1', x[i], mine, gate)
        chosen += [float(e in mine) for e in range(experts)]
        sums += y
        for e in mine:
            up, down = ('block1_expert%d_%s' % (e + 1, p) for p in ('up', 'down'))
            _, h, bend = parts[e]
            dh = [sum(w * gate[e] * d for w, d in zip(row, dy[i])) for row in rows(t[down + '.w'], HIDDEN)]
            for m in range(INNER):
                back = dh[m] * bend[m]
                db[up + '.db'][m] += back
                for j in range(HIDDEN):
                    dw[down + '.dw'][m * HIDDEN + j] += h[m] * gate[e] * dy[i][j]
                    dw[up + '.dw'][j * INNER + m] += x[i][j] * back
            for j in range(HIDDEN):
                db[down + '.db'][j] += gate[e] * dy[i][j]
        wish = {e: sum(v * d for v, d in zip(parts[e][0], dy[i])) for e in mine}
        for j in range(experts):
            dz = sum(wish[e] * slope.get((e, j), 0.0) for e in mine) + slopes[i][j]
            for a in range(HIDDEN):
                router[a * experts + j] += x[i][a] * dz
    losses = {'block1_balance.y': [loss], 'loss.total': [t['loss.y'][0] + loss]} if balance else {}
    return {**losses, 'block1_router.chosen': chosen, 'block1_expert%d_add.y' % experts: sums,
            'block1_router.dw': router, **dw, **db}  # fmt: skip


def apart(t, found):
    """Names of tensors that are farther than 1e-5 of their largest element from what was computed again: their sums
    have at most 44 terms of float32, whose unit roundoff is 6e-8."""
    for name, want in found.items():
        got, most = t[name], max(abs(v) for v in want)
        if len(got) != len(want) or not all(abs(a - v) <= 1e-5 * most for a, v in zip(got, want)):
            yield '%s: %s, not %s' % (name, got[:4], want[:4])
        if name.endswith('dw') and 'router' in name and not most:
            yield '%s: no gradient' % name


for experts, k in ((4, 2), (5, 3), (4, 1), (3, 3)):
    t = train('e%dk%d' % (experts, k), experts, k)
    none(list(apart(t, again(t, experts, k))), '%d of %d experts: choices, results and gradients' % (k, experts))

for experts, k, balance in ((4, 2, 0.5), (5, 1, 30), (6, 3, 0.01)):
    t = train('b%dk%d' % (experts, k), experts, k, balance=balance)
    plain = again(t, experts, k)['block1_router.dw']
    none(list(apart(t, again(t, experts, k, balance))), '%d of %d experts, balance %g: losses and gradients' % (
        k, experts, balance))  # fmt: skip
    ok(max(abs(a - b) for a, b in zip(plain, t['block1_router.dw'])) > 1e-4 * max(map(abs, plain)),
       'of which the balance has a part in the router\'s')
t = train('scaled', 4, 2, '--policy', 'mixed_float16', balance=0.5)
scale = even(rows(t['block1_router.y'], 4), 4, 2, 0.5)[0]
ok(abs(t['block1_balance.y'][0] - scale) < 1e-6 * scale, 'under mixed_float16 the balance loss of float16 logits is '
   'computed in float32: %.7f' % scale)  # fmt: skip

busiest = {}
for balance in (0, 0.3):
    p = halfulp('train', '--model', 'gpt:layers=1,hidden=8,heads=2,inner=8,experts=8,top_k=1,balance=%g' % balance,
                '--data', 'length=16,train=256,eval=8', '--batch', '16', '--optimizer', 'lr=1e-2', '--steps', '48',
                '--trace', 'steps=last', '--quiet', 'even%g' % balance)  # fmt: skip
    ok(p.returncode == 0, 'a training with balance=%g' % balance, p.stderr)
    chosen = rows(Tensors('even%g/trace/step-000047.safetensors' % balance)['block1_router.chosen'], 8)
    busiest[balance] = max(sum(row[e] for row in chosen) / len(chosen) for e in range(8))
ok(busiest[0.3] < 0.75 * busiest[0], 'after 48 steps the busiest of 8 experts has %.0f %% of the tokens, and with the '
   'balance loss %.0f %%' % (100 * busiest[0], 100 * busiest[0.3]))  # fmt: skip

wrong = []
for policy in ('mixed_float16', 'mixed_bfloat16', 'autocast_bfloat16', 'float16', 'mxfp8', 'nvfp4'):
    t = train(policy, 4, 2, '--policy', policy)
    z, chosen = rows(t['block1_router.y'], 4), rows(t['block1_router.chosen'], 4)
    wrong += ['%s, token %d' % (policy, i) for i in range(TOKENS)
              if [e for e in range(4) if chosen[i][e]] != largest(z[i], 2) or set(chosen[i]) != {0.0, 1.0}]  # fmt: skip
none(wrong, 'under every policy each token has the experts of its two largest logits')

p = halfulp('plan', '--model', 'gpt:layers=3,hidden=32,inner=40,experts=6,vocabulary=70', '--json')
want = 70 * 32 + 24 * 32 + 2 * 32 + 3 * (4 * (32 * 32 + 32) + 4 * 32 + 32 * 6 + 6 * (2 * 32 * 40 + 40 + 32))


def numbers(j, key):
    """All values of a key in nested objects and lists."""
    if isinstance(j, dict):
        return ([j[key]] if key in j else []) + [v for x in j.values() for v in numbers(x, key)]
    return [v for x in j for v in numbers(x, key)] if isinstance(j, list) else []


ok(p.returncode == 0 and want in numbers(json.loads(p.stdout), 'parameters'), 'plan counts %d parameters' % want,
   p.stderr)  # fmt: skip
for words, why in (
    (('gpt:top_k=2',), 'without a mixture of experts nothing is chosen; add experts='),
    (('gpt:experts=4,top_k=5',), 'a token cannot have more than the 4 experts there are'),
    (('gpt:balance=0.1',), 'without a mixture of experts there is no load to balance; add experts='),
    (('gpt:experts=1',), 'an integer from 2 to 256 is needed'),
    (('bert:experts=4',), 'has no effect with --model bert'),
):
    p = halfulp('train', '--model', *words, '--steps', '1', 'x')
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, '%s is refused' % words, p.stderr)
finish()
