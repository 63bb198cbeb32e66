# SPDX-License-Identifier: Apache-2.0
"""compare --policy layerwise:P: the first row is float32's training and the last the policy's, bit for bit; in between
each row has the products of one more layer in low precision, in the order of the layers, and no others."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402

folder = home()


def at(*names):
    return os.path.join(folder, *names)


def digests(run):
    return [x.split('\t')[-1] for x in open(at(run, 'metrics.tsv')) if x[:1].isdigit()]


def low(run):
    """Layers whose product with weights has operands of 16 bits, by the forward calls' order."""
    program = json.load(open(at(run, 'program-train.json')))
    format_of = {t['id']: t['format'] for t in program['tensors']}
    return [
        c['layer']
        for c in program['calls']
        if c['op'] in ('matmul', 'conv2d') and c['phase'] == 'forward' and format_of[c['in'][1]] == 'fp16'
    ]


for model, layers in (
    ('mlp --data size=8', 'dense1 dense2 dense3'),
    ('convnet --data size=9', 'conv1 conv2 conv3 dense1'),
):
    name, more = (
        model.split()[0],
        model.split()[1:] + '--model width=0.05 --data train=32,eval=8 --batch 16 --steps 2'.split(),
    )
    got = halfulp('compare', '--model', name, *more, '--policy', 'layerwise:mixed_float16', at(name))
    if not ok(got.returncode == 0, name + ': layer after layer is moved', got.stderr):
        continue
    names = ['float32'] + ['+' + x for x in layers.split()]
    rows = [x.split('\t')[0] for x in open(at(name, 'compare.tsv')) if x[0] != '#'][1:]
    ok(rows == names, 'its rows are float32 and the layers with weights', rows)
    runs = [os.path.join(name, r + '-seed1') for r in names]
    wrong = [r for k, r in enumerate(runs) if low(r) != layers.split()[:k]]
    ok(not wrong, 'each has one layer more in float16', [(r, low(r)) for r in wrong])
    for policy, run in (('float32', runs[0]), ('mixed_float16', runs[-1])):
        got = halfulp('train', '--model', name, *more, '--policy', policy, '--quiet', at(name, policy))
        ok(got.returncode == 0 and digests(run) == digests(os.path.join(name, policy)), policy + ': the same bits')
for words, say in (
    ('--policy layerwise:mixed_float16,layer:dense1=float32', 'without layers'),
    ('--policy layerwise:no_such', 'unknown policy'),
    # 104 convolutions and batchnorms, 100 relus, 33 sums, a mean, a dense layer and the loss
    (
        '--model resnet:depth=101 --policy layerwise:mixed_float16',
        '344 layers are too many for the overrides of a policy; 63 ',
    ),
):
    got = halfulp('compare', *words.split(), at('refused'))
    ok(got.returncode == 2 and say in got.stderr and not os.path.exists(at('refused')), 'refused: ' + words, got.stderr)
finish()
