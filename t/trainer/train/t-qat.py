# SPDX-License-Identifier: Apache-2.0
"""int8_qat: every fake-quantised operand of a traced step is computed again from what was quantised, bit for bit;
products and their gradients are made of them, and the gradients go straight through; a run resumes and verifies, and
its analysis finds no output outside its bound; what is no such policy is refused."""

import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()


def at(*names):
    return os.path.join(folder, *names)


def single(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def faked(values, channels):
    """VALUES, whose element i is of channel i mod CHANNELS, as multiples of each channel's scale."""
    amax = [0.0] * channels
    for i, v in enumerate(values):
        amax[i % channels] = max(amax[i % channels], abs(v))
    scale = [single(max(a, 2.0**-100) * single(1 / 127)) for a in amax]
    return [
        single(min(max(round(single(v / s)), -127), 127) * s) for v, s in zip(values, scale * (len(values) // channels))
    ]


def digests(run):
    return [x.split('\t')[-1] for x in open(at(run, 'metrics.tsv')) if x[:1].isdigit()]


WORDS = '--data train=32,eval=8 --batch 8 --steps 3 --trace steps=0,2 --checkpoint-every 2 --quiet'.split()
TENSOR = 'compute=float32,list=all,fake=int8:tensor'
for run, model, policy in (
    ('mlp', '--model mlp --data size=8 --model width=0.04', 'int8_qat'),
    ('convnet', '--model convnet --data size=9 --model width=0.05', 'int8_qat'),
    ('tensor', '--model mlp --data size=8 --model width=0.04', TENSOR),
):
    got = halfulp('train', *model.split(), *WORDS, '--policy', policy, at(run))
    if not ok(got.returncode == 0, run + ': trains', got.stderr):
        continue
    program = json.load(open(at(run, 'program-train.json')))
    tensors = {t['id']: t for t in program['tensors']}
    step = Tensors(at(run, 'trace', 'step-000002.safetensors'))
    wrong, seen = [], 0
    for call in program['calls']:
        if call['op'] != 'fake_quantise':
            continue
        source, result = tensors[call['in'][0]], tensors[call['out'][0]]
        weight = source.get('trainable') and policy == 'int8_qat'
        want = faked(list(step[source['name']]), source['shape'][-1] if weight else 1)
        seen += 1
        if want != list(step[result['name']]):
            wrong.append(result['name'])
    layers = len([t for t in program['tensors'] if t.get('trainable') and t['name'].endswith('.w')])
    ok(seen == 2 * layers and not wrong, '%s: %d operands are what is left of int8 codes' % (run, seen), wrong)
    products = [c for c in program['calls'] if c['op'].startswith(('matmul', 'conv2d'))]
    plain = [
        c['id']
        for c in products
        for t in c['in']
        if '@int8' not in tensors[t]['name'] and '.d' not in tensors[t]['name']
    ]
    none(plain, run + ': every product, of gradients too, has them or gradients as operands')
    if run == 'mlp':
        # dw = xᵀ dy of the quantised x reaches the weight itself; the scale of the loss is 1
        x, dy = list(step['relu1.y@int8']), list(step['dense2.dy'])
        k, n = len(x) // 8, len(dy) // 8
        dw = [sum(x[r * k + i] * dy[r * n + j] for r in range(8)) for i in range(k) for j in range(n)]
        name = tensors[next(t for t in program['tensors'] if t['name'] == 'dense2.w')['grad']]['name']
        mine = list(step[name])
        norm = math.sqrt(sum(v * v for v in dw))
        far = math.sqrt(sum((a - b) ** 2 for a, b in zip(dw, mine)))
        ok(norm > 0 and far < 1e-5 * norm, 'the gradient goes straight through to the weight', [name, far, norm])
    got = halfulp('verify', at(run))
    ok(got.returncode == 0, run + ': verify finds the same bits', got.stdout + got.stderr)
    got = halfulp('analyze', '--only', 'replay', at(run))
    ok(got.returncode == 0 and ' 0 outside' in got.stdout, run + ': no output is outside its bound', got.stdout)

whole = digests('tensor')
os.remove(at('tensor', 'checkpoint', 'step-000003.safetensors'))
manifest = json.load(open(at('tensor', 'manifest.json')))
manifest['finished'], manifest['steps_done'] = False, 2
manifest['files'] = {k: v for k, v in manifest['files'].items() if '000003' not in k and k.endswith('safetensors')}
json.dump(manifest, open(at('tensor', 'manifest.json'), 'w'))
got = halfulp('train', '--resume', '--quiet', at('tensor'))
ok(got.returncode == 0 and digests('tensor') == whole, 'a resumed training has the same bits', got.stderr)
ok(digests('mlp') != whole, 'one scale for all weights is another training than one a channel')
for policy, say in (
    ('mixed_float16,fake=int8:channel', 'float32'),
    ('int8_qat,layer:dense1=float16', 'float32'),
    ('compute=float32,fake=int4', 'int8:channel'),
):
    got = halfulp('train', '--policy', policy, at('refused'))
    ok(
        got.returncode == 2 and say in got.stderr and len(got.stderr.splitlines()) == 1,
        'refused: ' + policy,
        got.stderr,
    )
finish()
