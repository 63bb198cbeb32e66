#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Quantised products under validate by node: files of schemes, what each node costs, and what is refused. HALFULP names
# the program.
import json, math, os, struct

from quantised_mlp import *
from quantised_again import *
from npzfile import outputs

# Schemes by node
with open('plan.json', 'w') as file:
    json.dump({'default': 'fp16', 'nodes': {'first': 'int8', 'relu': 'float32'}}, file)
got = tap.halfulp(
    'validate',
    'mlp.onnx',
    '--data',
    'x.npz',
    '--policy',
    './plan.json,int8,layer:second=bf16',
    '--batch',
    '40',
    '--calibrate',
    'x.npz',
    '--exact',
    '0',
    '--outputs',
    'plan',
)
r = [max(f(v + b1[i % H]), 0.0) for i, v in enumerate(product(X, W1, *affine(x, max(map(abs, x)))))]
out = (
    outputs('plan/._plan_json.npz')
    if os.path.exists('plan/._plan_json.npz')
    else outputs('plan/' + next(n for n in os.listdir('plan') if 'plan' in n))
)
half = lambda v: struct.unpack('<e', struct.pack('<e', v))[0]
y = [
    half(f(v))
    for v in plain([[half(v) for v in r[i * H : i * H + H]] for i in range(N)], [[half(w) for w in c] for c in W2])
]
tap.ok(bits(out['r'][1]) == bits(r), 'a file: int8 in one node, float32 in another', got.stderr)
tap.ok(
    sum(a != b for a, b in zip(out['y'][1], y)) < N * C / 50 and all(half(v) == v for v in out['y'][1]),
    'and float16 in the third: operands and results are rounded',
)

# Sensitivity: each node's figures are those of a whole run under a file that has the node alone low, or alone high
files = {}
for low in ('first', 'second', ''):
    for high in (0, 1):
        nodes = {n: 'int8:percentile97' for n in ('first', 'second') if (n == low) != bool(high)}
        files[low, high] = './s%s%d.json' % (low, high)
        with open(files[low, high], 'w') as file:
            json.dump({'nodes': nodes}, file)
got = tap.halfulp(
    'validate',
    'mlp.onnx',
    '--data',
    'x.npz',
    '--policy',
    ','.join(['int8:percentile97'] + list(files.values())),
    '--exact',
    '0',
    '--batch',
    '8',
    '--json',
    '--sensitivity',
    '--sensitivity-inputs',
    '100',
    '--outputs',
    'sens',
)
rows = {r['policy']: r for r in json.loads(got.stdout)['policies']} if got.returncode == 0 else {}
tap.ok(
    got.returncode == 0 and 'sensitivity' not in rows['float32'], 'sensitivity of schemes, not of float32', got.stderr
)
one = rows['int8:percentile97']['sensitivity']
nodes = {n['node']: n for n in one['nodes']}
near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
wrong = [
    '%s %s' % (n, key)
    for n in nodes
    for high, key in ((0, 'low'), (1, 'high'))
    if not near(nodes[n][key + '_rel_l2'], rows[files[n, high]]['rel_l2'])
    or nodes[n][key + '_flips'] != rows[files[n, high]]['flips']
]
tap.ok(
    sorted(nodes) == ['first', 'second'] and not wrong,
    'a node low, or high, alone makes what a run under such a file makes',
    wrong,
)
# One meaning of a format's name: as a policy, in a file and node by node, whatever model the sums have
with open('half.json', 'w') as file:
    json.dump({'default': 'fp16', 'nodes': {}}, file)
asked = '--policy fp16,float16,./half.json --exact 0 --sensitivity --sensitivity-inputs 100 --json'.split()
for sums in [], ['--accumulate', 'chunk:4,acc=fp16']:
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', *asked, *sums)
    told = json.loads(got.stdout)['policies'] if got.returncode == 0 else [{}] * 4
    shares = [r.get('sensitivity', {}) for r in told]
    keys = [k for k in told[1] if k not in ('policy', 'sensitivity', 'seconds')]
    tap.ok(
        got.returncode == 0
        and all(r[k] == told[1][k] for r in told[2:] for k in keys)
        and all(near(s['joint_rel_l2'], r['rel_l2']) for r, s in zip(told[1:], shares[1:]))
        and all(s['joint_flips'] == r['flips'] for r, s in zip(told[1:], shares[1:]))
        and told[1]['rel_l2'] > (5e-4 if sums else 0)
        and told[1]['traffic_bytes'] == told[0]['traffic_bytes'] / 2 + 6 * I,  # the input is cast
        'fp16, float16 and a file of it are one policy, whose nodes together make its row %s' % sums[1:],
        got.stderr + ' %s' % told,
    )
# The last batch of 40 inputs by 7 repeats rows to be full, and they do not count
told = {}
for batch in '8', '7':
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', *asked, '--batch', batch)
    share = json.loads(got.stdout)['policies'][1]['sensitivity'] if got.returncode == 0 else {}
    told[batch] = {n['node']: n for n in share.get('nodes', [])}
wrong = [
    (n, key, told['8'][n][key], told['7'].get(n, {}).get(key))
    for n in told['8']
    for key in ('low_rel_l2', 'high_rel_l2', 'local_rel_l2', 'joint_rel_l2', 'amax')
    if not near(told['8'][n][key], told['7'].get(n, {}).get(key, -1))
]
tap.ok(len(told['8']) == 3 and not wrong, 'rows that fill the last batch up have no share in what nodes lose', wrong)
tap.ok(
    rows['int8:percentile97']['traffic_bytes'] < rows['float32']['traffic_bytes'], 'int8 moves fewer bytes than float32'
)
tap.ok(
    near(one['joint_rel_l2'], rows['int8:percentile97']['rel_l2'])
    and one['joint_flips'] == rows['int8:percentile97']['flips']
    and near(one['additive_rel_l2'], math.hypot(*(n['low_rel_l2'] for n in nodes.values()))),
    'all nodes low, and the sum of squares',
)
tap.ok(
    one['calls_run'] < one['calls_of_complete_runs'],
    '%d calls were run of the %d of complete runs' % (one['calls_run'], one['calls_of_complete_runs']),
)
y32 = outputs('sens/float32.npz')['y'][1]
alone = outputs('sens/' + next(n for n in os.listdir('sens') if 'ssecond0' in n))['y'][1]
local = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(alone, y32)) / math.fsum(b * b for b in y32))
tap.ok(
    near(nodes['second']['local_rel_l2'], local)
    and near(nodes['second']['amplification'], nodes['second']['low_rel_l2'] / local)
    and nodes['second']['amax'] == max(map(abs, y32)),
    "the last node's own error, its amplification and amax",
)
r32 = outputs('sens/float32.npz')['r'][1]
s, z = affine(r32[: 32 * H], cut(r32[: 32 * H], 'percentile97'))
q = [rint(f(v / s)) + z for v in r32]
tap.ok(
    nodes['second']['operands'] == N * H
    and nodes['second']['zeroed'] == sum(v != 0 and k == z for v, k in zip(r32, q))
    and nodes['second']['saturated'] == sum(v / s > 255 - z + 0.5 or v / s < -z - 0.5 for v in r32) > 0,
    'operands that became 0, and beyond the last code',
)

write(
    'twice.onnx',
    graph(
        [node('MatMul', 'x u', 'h', name='once'), node('MatMul', 'h u', 'y', name='again')],
        [floats('u', [I, I], draw(I * I, 0.2))],
        [value('x', ['batch', I])],
        [value('y', ['batch', I])],
    ),
)
same = ['int8', 'e4m3:static', 'int8:weights', 'nvfp4']
got = tap.halfulp(
    'validate', 'twice.onnx', '--data', 'x.npz', '--policy', ','.join(same), '--exact', '0', '--json'
)
taken = {r['policy']: r['weight_bytes'] for r in json.loads(got.stdout)['policies']}
want = {'int8': I * I + 4 * I, 'e4m3:static': I * I + 4, 'int8:weights': I * I + 4 * I}
tap.ok(
    all(taken[p] == n for p, n in want.items()) and taken['nvfp4'] < I * I,
    'weights that two products read are stored once',
    '%s %s' % (taken, want),
)
write(
    'one.onnx',
    graph(
        [node('ReduceSum', 'x a', 'y', name='s', keepdims=1)],
        [ints('a', [1], [1])],
        [value('x', ['n', I])],
        [value('y', ['n', 1])],
    ),
)
for command, rest in (('validate', ['--policy', 'fp16']), ('advise', ['--format', 'fp16'])):
    for rule in ('flips<=1%', 'top<=1%', 'kl<=1', 'accuracy>=1'):
        got = tap.halfulp(command, 'one.onnx', '--data', 'x.npz', '--accept', rule, *rest)
        if got.returncode != 2 or 'the output decides nothing' not in got.stderr:
            break
tap.ok(
    got.returncode == 2 and 'the output decides nothing' in got.stderr,
    'no rule on decisions where there are none',
    '%s %s %s' % (command, rule, got),
)
bad = {
    'node.json': {'nodes': {'third': 'int8'}},
    'relu.json': {'nodes': {'relu': 'int8'}},
    'scheme.json': {'nodes': {'first': 'int9'}},
    'key.json': {'nodes': {}, 'rest': 'int8'},
    'list.json': {'nodes': ['first']},
    'number.json': {'nodes': {'first': 8}},
}
for name, what in bad.items():
    with open(name, 'w') as file:
        json.dump(what, file)
with open('cut.json', 'w') as file:
    file.write('{"nodes": {"first"')
npz('other.npz', x=([4, I + 1], [0.0] * (4 * I + 4)))
for what, args, code, pattern in (
    ('a word that is none', ['int8:foo'], 2, 'no word of int8'),
    ('groups with activations', ['int8:g32'], 2, ':weights'),
    ('a method without static scales', ['int8:dynamic:mse'], 2, 'static'),
    ('a colon without a word', ['int8:'], 2, 'colon'),
    ('a margin without a history', ['e4m3:static:margin1'], 2, 'history'),
    ('a history of no batch', ['e4m3:history0'], 2, 'history'),
    ('a margin of half a step', ['e4m3:history:margin0.5'], 2, 'margin'),
    ('a layer that is none', ['int8,layer:zzz=fp16'], 2, "'zzz'"),
    ('a key that is none', ['int8,foo=3'], 2, 'layer:PATTERN'),
    ('biases without a scale', ['int8:dynamic:biases'], 2, 'static'),
    ('saturation of signed codes', ['int8:sym:pairs16'], 2, 'signs'),
    ('a percentile below 50', ['int8:percentile30'], 2, 'percentile'),
    ('a group of one', ['int4:g1'], 2, 'gN'),
    ('a node that is none', ['./node.json'], 2, "'third'"),
    ('int8 of no product', ['./relu.json'], 2, 'no product'),
    ('a scheme that is none', ['./scheme.json'], 3, 'int9'),
    ('an unknown key', ['./key.json'], 3, "'rest'"),
    ('nodes that are a list', ['./list.json'], 3, 'object'),
    ('a scheme that is a number', ['./number.json'], 3, 'text'),
    ('a file cut short', ['./cut.json'], 3, 'cut.json'),
    ('calibration without static scales', ['int4', '--calibrate', 'x.npz'], 2, '--calibrate'),
    ('sensitivity of a policy without schemes', ['mixed_float16,e4m3', '--sensitivity'], 2, '--sensitivity'),
    ('a rule on right answers without labels', ['int8', '--accept', 'accuracy>=0.9'], 2, '--labels'),
    ('calibration inputs of another shape', ['int8', '--calibrate', 'other.npz'], 3, 'another shape'),
):
    got = tap.halfulp('validate', 'mlp.onnx', '--data', 'x.npz', '--exact', '4', '--policy', *args)
    tap.ok(
        got.returncode == code and not got.stdout and got.stderr.count('\n') == 1 and pattern in got.stderr,
        '%s: exit %d, one line' % (what, code),
        '%d %s' % (got.returncode, got.stderr),
    )
tap.finish()
