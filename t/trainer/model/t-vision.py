# SPDX-License-Identifier: Apache-2.0
"""Residual nets and U-Nets: parameters and multiply-adds are those that were published; a step is recomputed by replay
under five policies without an output outside its bound, and has the same bits on the launch shim; resuming changes
no bit; metrics of masks follow from the recorded probabilities; weights under torchvision's names are taken; what
does not fit is refused."""

import glob
import json
import math
import os
import struct
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import HALFULP, NO_SHIM, finish, halfulp, has_shim, ok, skip  # noqa: E402
from trained import Trainings  # noqa: E402

runs = Trainings()
at, train, column = runs.at, runs.train, runs.column
POLICIES = 'float32', 'mixed_float16', 'mixed_bfloat16', 'autocast_float16', 'float16'
SMALL = {
    'resnet': '--model resnet --data scenes:size=8 --model depth=10,width=0.04',
    'resnet50': '--model resnet --data scenes:size=8 --model depth=50,width=0.02,stem=imagenet',
    'resnet1d': '--model resnet1d:width=0.02',
    'unet': '--model unet --data size=9 --model levels=2,width=0.15',
}
RUN = ' --data train=6,eval=3 --batch 3 --quiet '


def load(path):
    raw = open(path, 'rb').read()
    size = struct.unpack('<Q', raw[:8])[0]
    head = json.loads(raw[8 : 8 + size])
    return {name: (t['dtype'], t['shape'], raw[8 + size + t['data_offsets'][0] : 8 + size + t['data_offsets'][1]])
            for name, t in head.items() if name != '__metadata__'}


def write(path, tensors):
    head, body = {}, b''
    for name, (dtype, shape, raw) in tensors.items():
        head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + body)


# --- published sizes: torchvision's parameters, and multiply-adds of convolutions and dense layers for one image
def published(words, parameters, macs):
    p = halfulp('plan', *words.split(), '--by', 'call', '--json')
    plan = json.loads(p.stdout)[0]
    forward = sum(r['macs'] for r in plan['rows'] if r.get('phase') == 'forward') / int(words.split('--batch ')[1])
    ok(plan['parameters'] == parameters and abs(forward - macs) <= 0.0005 * macs,
       'plan %s: %d parameters, %.4g multiply-adds forward' % (words, parameters, macs), '%d, %.6g'
       % (plan['parameters'], forward))


published('--model preset=resnet18 --batch 2', 11689512, 1.814e9)
published('--model preset=resnet34 --batch 2', 21797672, 3.664e9)
published('--model preset=resnet50 --batch 2', 25557032, 4.089e9)
published('--model preset=resnet50,depth=152 --batch 2', 60192808, 11.514e9)


def conv(pixels, taps, before, after):
    return pixels * taps * before * after


# of the U-Net by hand: 64 to 1024 channels in two convolutions a level, transposed convolutions with bias on the way up
macs = parameters = 0
for i in range(5):
    n, side = 64 << i, 256 >> i
    before = n // 2 if i else 3
    macs += conv(side * side, 9, before, n) + conv(side * side, 9, n, n)
    parameters += 9 * before * n + 9 * n * n + 4 * n
    if i < 4:
        macs += (
            conv(side * side, 1, 2 * n, n) + conv(side * side, 9, 2 * n, n) + conv(side * side, 9, n, n)
        )  # a pixel meets one tap
        parameters += 4 * 2 * n * n + n + 9 * 2 * n * n + 9 * n * n + 4 * n
published('--model preset=unet --batch 2', parameters + 64 * 2 + 2, macs + conv(256 * 256, 1, 64, 2))
ok(parameters + 130 == 31037698, 'which is the 31,037,698 of its best-known implementation in PyTorch')

# of the net for signals: strides halve 500 samples to 250, 125, 63, 32
for words, widths, total in (
    ('--model resnet1d --batch 2', (64, 128, 256, 256, 256), 2.5e6),
    ('--model preset=resnet1d-8m --batch 2', (115, 229, 458, 458, 458), 8.0e6),
):
    macs = parameters = 0
    before = 2
    for n, length in zip(widths, (250, 125, 63, 32)):
        macs += length * (9 * before * n + 9 * n * n + before * n)
        parameters += 9 * before * n + 9 * n * n + before * n + 6 * n
        before = n
    macs += before * widths[4] + widths[4] * 8
    parameters += (before + 1) * widths[4] + (widths[4] + 1) * 8
    published(words, parameters, macs)
    ok(abs(parameters - total) < 0.005 * total, 'which is %.1f million' % (total / 1e6))

# --- five policies: replay, and the bits of the shim
shim = has_shim()
for i, (name, words) in enumerate(SMALL.items()):
    for k, policy in enumerate(POLICIES):
        if name == 'resnet50' and policy != 'mixed_float16':
            continue
        run = '%s-%s' % (name, policy)
        if not train(words + RUN + '--steps 2 --trace steps=1 --policy ' + policy, run):
            continue
        p = halfulp('analyze', '--only', 'replay', '--no-propagate', '--sample', '60', at(run))
        ok(p.returncode == 0 and '; 0 outside their call' in p.stdout,
           '%s, %s: replay finds no output outside its bound' % (name, policy), p.stdout + p.stderr)
        if not shim:
            skip('%s, %s: the same bits on the shim' % (name, policy), NO_SHIM)
        elif k == i and train(
            words + RUN + '--steps 2 --trace steps=1 --backend shim --policy ' + policy, run + '-shim'
        ):
            same = column(run, 'digest') == column(run + '-shim', 'digest') and load(
                at(run) + '/trace/step-000001.safetensors'
            ) == load(at(run + '-shim') + '/trace/step-000001.safetensors')
            ok(same, '%s, %s: the same bits on the shim' % (name, policy))


# --- resuming
def killed(words, run):
    """A training that is killed once it has a checkpoint."""
    p = subprocess.Popen([HALFULP, 'train'] + words.split() + [at(run)], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    for _ in range(1000):
        if p.poll() is not None or glob.glob(at(run) + '/checkpoint/*.safetensors'):
            break
        time.sleep(0.005)
    p.kill()
    p.wait()


for name in ('resnet', 'unet'):
    words = SMALL[name] + RUN + '--steps 24 --checkpoint-every 2 --trace steps=none --policy mixed_float16 '
    if train(words + '--threads 1', name + '-whole'):
        killed(words, name + '-half')
        p = halfulp('train', '--resume', '--quiet', at(name + '-half'))
        ok(p.returncode == 0 and column(name + '-half', 'digest') == column(name + '-whole', 'digest')
           and len(column(name + '-half', 'digest')) == 24, name
           + ': killed and resumed, the digests of a run that never stopped', p.stderr)

# --- metrics of masks, from what the last step's program read and wrote
if train(
    SMALL['unet'] + ' --data train=3,eval=3 --batch 3 --quiet --steps 3 --optimizer lr=.03 --trace steps=2', 'mask'
):
    t = load(at('mask') + '/trace/step-000002.safetensors')
    p, y = [struct.unpack('<%df' % (len(t[k][2]) // 4), t[k][2]) for k in ('loss.p', 'input.mask')]
    mine = [int(p[2 * i + 1] > p[2 * i]) for i in range(len(y))]
    right = sum(a == b for a, b in zip(mine, y)) / len(y)
    ok(len(y) == 243 and abs(float(column('mask', 'accuracy')[2]) - right) < 1e-12,
       "accuracy is the share of pixels that the probabilities put in their mask's class: %.3f" % right)
    precision, recall, dice, iou, accuracy = [
        float(column('mask', 'eval_' + k)[-1]) for k in ('precision', 'recall', 'dice', 'iou', 'accuracy')
    ]
    # every count of hits and misses of two classes that has these three has these Dice coefficients too
    n, right, found = 243, round(accuracy * 243), []
    for tp in range(right + 1):
        for fp in range(n - right + 1):
            tn, fn = right - tp, n - right - fp
            share = lambda a, b: a / b if b else 0.0  # noqa: E731
            if (
                abs(share(tp, tp + fp) + share(tn, tn + fn) - 2 * precision) < 1e-12
                and abs(share(tp, tp + fn) + share(tn, tn + fp) - 2 * recall) < 1e-12
            ):
                found.append(
                    (
                        (share(2 * tp, 2 * tp + fp + fn) + share(2 * tn, 2 * tn + fp + fn)) / 2,
                        (share(tp, tp + fp + fn) + share(tn, tn + fp + fn)) / 2,
                    )
                )
    ok(found and all(abs(d - dice) < 1e-12 and abs(i - iou) < 1e-12 for d, i in found),
       'Dice coefficient %.3f and intersection over union %.3f are those of the counts that have '
       'the accuracy, precision and recall' % (dice, iou), found)
    ok(set(column('resnet-float32', 'eval_dice')) == {'-'}, 'a classifier has neither')

# --- weights with torchvision's names
source = load(at('resnet-whole') + '/checkpoint/step-000024.safetensors')
ROLES = {'w': 'weight', 'b': 'bias', 'gamma': 'weight', 'beta': 'bias', 'rm': 'running_mean', 'rv': 'running_var'}
theirs = {}
for name, (dtype, shape, raw) in source.items():
    layer, role = name.split('.')
    if role not in ROLES:
        continue
    if len(shape) > 1:  # output features first
        data, taps = struct.unpack('<%df' % (len(raw) // 4), raw), len(raw) // 4 // (shape[-1] * shape[-2])
        raw = struct.pack('<%df' % len(data), *[data[(k * shape[-2] + i) * shape[-1] + o] for o in range(shape[-1])
                                                for i in range(shape[-2]) for k in range(taps)])
        shape = [shape[-1], shape[-2]] + shape[:-2]
    theirs[layer.replace('_', '.') + '.' + ROLES[role]] = dtype, shape, raw
write(at('torchvision.safetensors'), theirs)
ok({'conv1.weight', 'layer1.0.bn2.running_var', 'layer2.0.downsample.0.weight', 'fc.bias'} <= set(theirs),
   "the layers' names are torchvision's, with _ for a dot")
words = SMALL['resnet'] + RUN + '--steps 1 --trace steps=none --init '
if train(words + at('torchvision.safetensors'), 'from-torch') and train(
    words + at('resnet-whole') + '/checkpoint/step-000024.safetensors', 'from-own'
):
    ok(column('from-torch', 'digest') == column('from-own', 'digest') != column('resnet-float32', 'digest')[:1],
       '--init takes them')

# --- Nesterov's momentum and clipped gradients, in exact arithmetic but for the roundings of float32
ALL = ('dense1.w', 'dense1.b', 'dense2.w', 'dense2.b', 'dense3.w', 'dense3.b')


def floats(tensors, name):
    return struct.unpack('<%df' % (len(tensors[name][2]) // 4), tensors[name][2])


def gradient(name, suffix):
    layer, role = name.split('.')
    return '%s.d%s_%s' % (layer, role, suffix)


for limit in 0.05, 1000:
    words = (
        '--model mlp --data size=8 --model width=0.03 --data train=32,eval=4 --batch 8 --steps 3 --optimizer'
        ' nesterov:lr=0.1'
    )
    run = 'nesterov-%g' % limit
    if not train(
        words + ' --optimizer weight_decay=0.25 --trace steps=2 --quiet --optimizer clip_norm=%g' % limit, run
    ):
        continue
    t = load(at(run) + '/trace/step-000002.safetensors')
    norm = math.sqrt(math.fsum(g * g for name in ALL for g in floats(t, gradient(name, 'unscaled'))))
    share, far, grew = min(1, limit / norm), 0, 0
    for name in ALL:
        rows = zip(*[floats(t, k) for k in (name, name + '_v', gradient(name, 'unscaled'), gradient(name, 'clipped'))])
        for k, (w, v, g, clipped) in enumerate(rows):
            d = clipped + 0.25 * w
            moved = 0.9 * v + d
            size = abs(w) + abs(v) + abs(d) + 1e-30
            far = max(
                far, abs(clipped - g * share) / (abs(g) + 1e-30), abs(floats(t, name + '_v_next')[k] - moved) / size
            )
            far = max(far, abs(floats(t, name + '_next')[k] - (w - 0.1 * (d + 0.9 * moved))) / size)
            grew += v != 0
    # a dozen roundings of relative size 2^-24 of numbers that are no larger than these
    ok(far < 12 * 2.0**-24 and grew > 100,
       'gradients of norm %.3f are clipped to %g, and Nesterov moves weights and velocities' % (norm, limit), far)

# --- refusals
for words, why in (
    ('--model resnet:depth=20', 'one of 10 18 34'),
    ('--model mlp:depth=18', 'no effect with --model mlp'),
    ('--model resnet:levels=2', 'no effect with --model resnet'),
    ('--model preset=resnet5', 'did you mean resnet50'),
    ('--model preset=resnet50 --model mlp', 'is of the model resnet'),
    ('--model unet --data digits', 'has no mask'),
    ('--model unet --data size=8 --model levels=4', 'cannot be halved 4 times'),
    ('--model resnet1d --data digits', 'reads x[n,1,samples,channels]'),
    ('--data digits:classes=9', 'no effect with --data digits'),
    ('--data scenes:size=7', 'from 8 to 1024'),
):
    p = halfulp('plan', *words.split())
    ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1, 'plan %s: %s' % (words, why), p.stderr)
finish()
