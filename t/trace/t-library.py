# SPDX-License-Identifier: Apache-2.0
"""Calls that a library computed (the attribute library=K): their bound holds for sums in any order and for functions
that are K unit roundoffs off, and no more; nothing claims their bits. Each is judged without the attribute, too. The
program and its tensors are written here, so nothing but Python is needed."""
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
TYPES = {'fp32': ('F32', '<%df'), 'fp16': ('F16', '<%de')}


def rows(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


class Step:
    def __init__(self):
        self.tensors, self.calls, self.values = [], [], []

    def tensor(self, name, values, shape=None, format='fp32'):
        self.tensors.append({'id': len(self.tensors), 'name': name, 'format': format,
                'shape': [len(values)] if shape is None else shape, 'class': 'other'})
        self.values.append(values)
        return len(self.tensors) - 1

    def call(self, op, name, inputs, values, shape=None, format='fp32', library=4, **attr):
        out = self.tensor(name, values, shape, format)
        if library is not None:
            attr['library'] = library
        f = self.tensors[inputs[0]]['format']
        self.calls.append({'id': len(self.calls), 'op': op, 'phase': 'forward', 'layer': name.split('.')[0],
                'in': inputs, 'out': [out], 'attr': attr,
                           'fmt': {'in': f, 'compute': 'fp32', 'acc': 'fp32',
                                   'out': format}, 'mode': 'RNE', 'sum': 'sequential,acc=fp32', 'seed_name': name})

    def write(self, run):
        os.makedirs(run + '/trace')
        json.dump({'version': 1, 'name': 'train', 'tensors': self.tensors, 'calls': self.calls},
                open(run + '/program-train.json', 'w'))
        header, data = {}, b''
        for i in sorted(range(len(self.values)), key=lambda i: self.tensors[i]['format'] == 'fp16'):
            t, (dtype, code) = self.tensors[i], TYPES[self.tensors[i]['format']]
            piece = struct.pack(code % len(self.values[i]), *self.values[i])
            header[t['name']] = {'dtype': dtype, 'shape': t['shape'],
                    'data_offsets': [len(data), len(data) + len(piece)]}
            data += piece
        text = json.dumps(header).encode()
        text += b' ' * (-len(text) % 8)
        open(run + '/trace/step-000000.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + data)
        json.dump({'run_version': 1, 'seed': 0, 'finished': True}, open(run + '/manifest.json', 'w'))


s, E, want = Step(), math.e, {}
x, x16 = s.tensor('input.one', [1.0]), s.tensor('input.half', [1.0], format='fp16')
near = struct.unpack('<f', struct.pack('<f', E))[0]


def expect(name, over):
    want[name] = over


# the bound of exp(1): 4 unit roundoffs of e are 2.72 of its ulps, 2^-22, and its own rounding is half of one
for library, off, over in ((4, 0, 0), (4, 3, 0), (4, 4, 1), (None, 0, 0), (None, 1, 1), (1, 1, 0), (1, 2, 1)):
    name = 'exp%s.off%d' % (library, off)
    s.call('exp', name, [x], [near + off * 2.0 ** -22], library=library)
    expect(name, over)
# in fp16 the last rounding comes on top, and is no larger for a library
near16 = struct.unpack('<e', struct.pack('<e', E))[0]
for off, over in ((0, 0), (1, 1), (-1, 1)):
    s.call('exp', 'half%d.y' % off, [x16], [near16 + off * 2.0 ** -9], format='fp16')
    expect('half%d.y' % off, over)
# 1 and 4095 halves of the last place of what is below it: added one by one from the left nothing of them remains
terms = [1.0] + [2.0 ** -25] * 4095
many = s.tensor('input.terms', terms)
for library, over in ((4, 0), (None, 1)):
    s.call('reduce_sum', 'sum%s.y' % library, [many], [1.0], shape=[], library=library)
    expect('sum%s.y' % library, over)
s.call('reduce_sum', 'wrong.y', [many], [1.0 - 2.0 ** -12], shape=[])
expect('wrong.y', 1)
# a product of 4096 terms in the same order: n roundings of fp32
ones = s.tensor('input.ones', [1.0] * 4096, [4096, 1])
row = s.tensor('input.row', terms, [1, 4096])
s.call('matmul', 'product.y', [row, ones], [1.0], [1, 1], ta=0, tb=0)
expect('product.y', 0)
s.call('matmul', 'far.y', [row, ones], [1.0 - 2.0 ** -12], [1, 1], ta=0, tb=0)
expect('far.y', 1)
# what is exact stays so: no allowance for relu, nor for a move
s.call('relu', 'relu.y', [x], [1.0 + 2.0 ** -23])
expect('relu.y', 1)
s.write('run')

p = halfulp('analyze', 'run', '--no-propagate')
if not os.path.exists('run/analysis/replay.tsv'):
    bail_out(p.stderr)
got = {r['tensor']: int(r['over_bound']) for r in rows('run/analysis/replay.tsv')}
none(['%s: %s outside, not %d' % (k, got.get(k), v) for k, v in want.items() if got.get(k) != v],
        'what a library may be off by, and what not (%d calls)' % len(want))
ok(p.returncode == 1 and sum(got.values()) == sum(want.values()), 'analyze: exit 1', p.stderr)
sums = {r['tensor']: r['sum'] for r in rows('run/analysis/replay.tsv')}
ok(sums['product.y'] == "a library's", 'no order is claimed of its sums', sums['product.y'])
swamped = {r['tensor'] for r in rows('run/analysis/swamping.tsv')}
ok('sumNone.y' in swamped and not swamped & {'sum4.y', 'wrong.y', 'product.y', 'far.y'},
        'additions of an unknown order are not counted', sorted(swamped))
p = halfulp('verify', 'run', '--trace', '--json')
seen = json.loads(p.stdout)
mine = sum('library' in c['attr'] for c in s.calls)
ok(seen['library_calls'] == mine and seen['calls'] == len(s.calls) - mine,
        'verify: their bits are not compared, and the number of such calls is told', p.stdout[:200])
ok({d['tensor'] for d in seen['differences']} == {'expNone.off1', 'sumNone.y'} and p.returncode == 1,
        'those of the other calls are', p.stdout[:400])
s.calls[0]['attr']['library'] = 'four'
s.write('bad')
p = halfulp('analyze', 'bad')
ok(p.returncode == 3 and 'library is a number' in p.stderr, 'an allowance is a number', p.stderr)
finish()
