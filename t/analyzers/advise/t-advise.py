#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# advise: what it finds is held against brute force, by validate under a file for every assignment. HALFULP names the
# program.
import itertools, json, os, re

from advised_model import *

# Every assignment on both halves
choices = list(itertools.product(SCHEMES, repeat=3))
names = ['./p%d.json' % i for i in range(len(choices))]
for name, choice in zip(names, choices):
    policy(name, choice)
halves = [validate(data, names) for data in ('a.npz', 'b.npz')]
bytes_of = lambda c: halves[0][names[choices.index(tuple(c))]]['weight_bytes']
one = lambda c, i, s: tuple(s if k == i else old for k, old in enumerate(c))
damage = lambda i, s: (
    0 if s == 'float32' else halves[0][names[choices.index(one(['float32'] * 3, i, s))]]['rel_l2'] ** 2
)


def greedy(good):
    """The search as doc/validate describes it: raised from the cheapest on until the budget is kept, then lowered
    one by one."""
    c = tuple(min(SCHEMES, key=lambda s: bytes_of(one(['float32'] * 3, i, s))) for i in range(3))
    path = [c]
    while True:
        steps = []
        for i in range(3):
            less = [s for s in SCHEMES if damage(i, s) < damage(i, c[i])]
            if less:
                s = min(less, key=lambda s: bytes_of(one(c, i, s)))
                steps.append(
                    (
                        (damage(i, c[i]) - damage(i, s)) / max(bytes_of(one(c, i, s)) - bytes_of(c), 1e-9),
                        -i,
                        one(c, i, s),
                    )
                )
        if not steps:
            break
        c = max(steps)[2]
        path.append(c)
    low, high, best = 0, len(path), None
    while low < high:
        middle = (low + high) // 2
        if path[middle] in good:
            best, high = path[middle], middle
        else:
            low = middle + 1
    raised = best
    while best:
        lower = [
            (bytes_of(one(best, i, s)) - bytes_of(best), one(best, i, s))
            for i in range(3)
            for s in SCHEMES
            if bytes_of(one(best, i, s)) < bytes_of(best)
        ]
        lower = [(saves, c) for saves, c in sorted(lower, key=lambda x: x[0]) if c in good]
        if not lower:
            return bytes_of(best), bytes_of(raised)
        best = lower[0][1]
    return None, None


# A budget on which lowering single nodes saves bytes
limits = sorted(1.0001 * max(h[n]['rel_l2'] for h in halves) for n in names)
within = lambda t: [c for n, c in zip(names, choices) if max(h[n]['rel_l2'] for h in halves) <= t]
telling = [t for t in limits if greedy(within(t))[0] != greedy(within(t))[1]]
tap.ok(telling, 'there is a budget on which the greedy search ends by lowering')


for rules in (
    ['rel_l2<=0.02'],
    ['rel_l2<=0.006', 'max_error<=0.02'],
    ['sqnr>=60'],
    ['rel_l2<=0.09', 'flips<=10%'],
    ['rel_l2<=1'],
    *[['rel_l2<=%.17g' % t] for t in telling[:1]],
):
    holds = lambda r: all(
        {
            'rel_l2': float(r['rel_l2']),
            'max_error': float(r['max_error']),
            'flips': r['flips'] * 100 / HALF,
            'sqnr': -float(r['sqnr_db']),
        }[key]
        <= (-1 if key == 'sqnr' else 1) * float(limit.rstrip('%'))
        for key, limit in (rule.replace('>', '<').split('<=') for rule in rules)
    )
    good = [
        (halves[0][n]['weight_bytes'], c)
        for n, c in zip(names, choices)
        if holds(halves[0][n]) and holds(halves[1][n])
    ]
    got = tap.halfulp(
        'advise',
        'm.onnx',
        '--data',
        'x.npz',
        *sum((['--accept', r] for r in rules), []),
        '--format',
        'int8,bf16,int4:g8',
        '--json'
    )
    o = json.loads(got.stdout) if got.returncode == 0 else {}
    choice = tuple(n['scheme'] for n in o.get('nodes', []))
    tap.ok(
        got.returncode == 0
        and o['exhaustive']
        and o['bytes'] == min(good)[0]
        and (o['bytes'], choice) in good
        and o['greedy_bytes'] >= o['bytes'],
        '%s: of %d assignments the cheapest that keeps it takes %s bytes; a greedy search comes to %s'
        % (' '.join(rules), len(choices), o.get('bytes'), o.get('greedy_bytes')),
        '%s %s %s' % (got.stderr, choice, sorted(good)[:2]),
    )
    want = greedy([c for _, c in good])[0]
    tap.ok(
        o.get('greedy_bytes') == want,
        'the greedy search, made again step by step, comes to the same',
        '%s, not %s' % (o.get('greedy_bytes'), want),
    )
    r = [h[names[choices.index(choice)]] for h in halves] if choice in choices else []
    tap.ok(
        all(
            abs(e['rel_l2'] - h['rel_l2']) <= 1e-12 and e['flips'] == h['flips']
            for e, h in zip((o['searched'], o['held_apart']), r)
        )
        and len(r) == 2,
        'and both halves are as validate has them',
    )
# By time: each node's roofline from the table of devices, and the quickest of all assignments that keep the budget
sheet = open(os.path.join(TOP, 'cuda/device/devices.def')).read()
row = re.search(r'^DEVICE\(t4, "[^"]*", (.*), "', sheet, re.M)[1].split(',')
gb_s, (fp32, fp16, bf16, int8) = float(row[2]), (float(row[i]) for i in (4, 6, 7, 9))
BATCH = 16
# In, weights, out, operations
sizes = {'conv': (32, 4 * 9, 64, 2 * 64 * 9), 'fc1': (64, 1024, 16, 2 * 1024), 'fc2': (16, 80, 5, 2 * 80)}


def seconds(n, s):
    i, w, out, flops = sizes[NODES[n]]
    width, rate = {'float32': (32, fp32), 'bf16': (16, bf16 or fp32), 'int8': (8, int8), 'int4:g8': (32, fp32)}[s]
    weights = halves[0][names[choices.index(one(['float32'] * 3, n, s))]]['weight_bytes']
    weights += 4 * w - halves[0][names[choices.index(tuple(['float32'] * 3))]]['weight_bytes']
    moved = weights + BATCH * (i * width + out * (16 if s == 'bf16' else 32)) / 8
    return max(BATCH * flops / rate / 1e12, moved / gb_s / 1e9, 5e-6)


for rule in 'rel_l2<=0.006', 'rel_l2<=0.09':
    most = float(rule.split('=')[1])
    good = [c for n, c in zip(names, choices) if max(h[n]['rel_l2'] for h in halves) <= most]
    got = tap.halfulp(
        *'advise m.onnx --data x.npz --by time --device t4 --format int8,bf16,int4:g8 --json --accept'.split(), rule
    )
    t = json.loads(got.stdout) if got.returncode == 0 else {'nodes': []}
    choice = tuple(n['scheme'] for n in t['nodes'])
    near = lambda a, b: abs(a - b) <= 1e-9 * b
    told = [n['alone'] for n in t['nodes']]
    each = [(n, s) for n, a in enumerate(told) for s in SCHEMES[1:] if not near(a[s]['seconds'], seconds(n, s))]
    least = min(sum(seconds(n, s) for n, s in enumerate(c)) for c in good)
    tap.ok(
        got.returncode == 0 and choice in good and near(t['seconds'], least) and not each
        and near(t['float32_seconds'], sum(seconds(n, 'float32') for n in range(3))),
        '%s: the quickest assignment takes %.3g us of a T4' % (rule, 1e6 * least), '%s %s %s' % (got.stderr, each, t),
    )
# A product of 1024 x 1024 weights and 64 rows: in float32 arithmetic takes longest, in fp16 memory, in int8 the launch
K, R = 1024, 64
held = floats('w', [K, K], [((7 * i) % 13 - 6) / 64 for i in range(K * K)])
ports = [value('x', ['n', K])], [value('y', ['n', K])]
write('wide.onnx', graph([node('MatMul', 'x w', 'y', name='wide')], [held], *ports), opset=19)
npz('wide.npz', x=([2 * R, K], [((5 * i) % 11 - 5) / 8 for i in range(2 * R * K)]))
asked = 'advise wide.onnx --data wide.npz --batch 64 --by time --device t4 --format fp16,int8 --json'.split()
got = tap.halfulp(*asked, '--accept', 'rel_l2<=1')
t = json.loads(got.stdout) if got.returncode == 0 else tap.bail_out(got.stderr)
each = [t['float32_seconds']] + [t['nodes'][0]['alone'][s]['seconds'] for s in ('fp16', 'int8')]
want = [2 * R * K * K / fp32 / 1e12, (K * K + 2 * R * K) * 2 / gb_s / 1e9, 5e-6]
tap.ok(
    all(near(a, b) for a, b in zip(each, want))
    and near(t['seconds'], 5e-6)
    and t['nodes'][0]['scheme'] == 'int8'
    and t['batch'] == 64,
    'rooflines of arithmetic, memory and launches: %.3g, %.3g and %.3g us' % tuple(1e6 * v for v in want),
    each,
)
alone = {n['node']: n['alone'] for n in o['nodes']}
wrong = []
for i, n in enumerate(NODES):
    for s in SCHEMES[1:]:
        name = names[choices.index(tuple(s if k == i else 'float32' for k in range(3)))]
        want = halves[0][name]['rel_l2']
        if abs(alone[n][s]['rel_l2'] - want) > 1e-9 * want:
            wrong.append('%s %s %s %s' % (n, s, alone[n][s], want))
tap.none(wrong, "each scheme's damage in each node alone")
# In float32 a weight takes 4 bytes, and validate tells what all of them take with one node in another scheme
plain = halves[0][names[choices.index(one(['float32'] * 3, 0, 'float32'))]]['weight_bytes']
own = {n: 4 * sizes[n][1] for n in NODES}
wrong = ['%s %s %s' % (n, s, alone[n][s]) for i, n in enumerate(NODES) for s in SCHEMES[1:]
         if alone[n][s]['bytes'] != bytes_of(one(['float32'] * 3, i, s)) - plain + own[n]]
tap.none(wrong, 'and the bytes of its weights')
got = tap.halfulp('advise', 'm.onnx', '--data', 'x.npz', '--accept', 'rel_l2<=-1', '--out', 'none')
tap.ok(
    got.returncode == 1 and not os.path.exists('none') and 'No assignment' in got.stdout,
    'a budget that nothing keeps: exit 1 and no file',
    got.stderr,
)
tap.finish()
