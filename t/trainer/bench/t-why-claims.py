# SPDX-License-Identifier: Apache-2.0
# What doc/why-it-paid.md claims in its prose, computed again from the published table and the predictions: each claim
# is a sentence of the page, with its numbers filled in from the data, and what must hold for it to be true.
# t-why-it-paid.sh runs the page's commands.
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, TOP, finish, ok  # noqa: E402

page = re.sub(r'\s+', ' ', open(os.path.join(TOP, 'doc', 'why-it-paid.md'), encoding='utf-8').read())
BATCHES = (32, 64, 128, 256, 512)
GPU = {'v100': 'V100', 'titan_xp': 'Titan XP', 'm2200': 'Quadro M2200'}


def ask(*args):
    return json.loads(subprocess.run([HALFULP, 'bench', *args, '--json'], check=True, stdout=subprocess.PIPE).stdout)


def claim(sentence, holds):
    """SENTENCE stands on the page, and is true."""
    said = re.sub(r'\s+', ' ', sentence) in page
    ok(said and holds, sentence, 'it is not so' if said else 'the page does not say so')


published = {(r['on'], r['batch'], r['policy']): r['ms'] for r in ask('train', '--published') if r['model']
             == 'convnet' and r['policy']}
sheet = {m[1]: (float(m[2]), float(m[3]))
         for m in re.finditer(r'^DEVICE\((\w+), "[^"]*", \d+, [\d.]+, [\d.]+, [\d.]+, ([\d.]+), [\d.]+, ([\d.]+),',
                              open(os.path.join(TOP, 'cuda', 'device', 'devices.def')).read(), re.M)}
layers = {}
for device in GPU:
    for batch in BATCHES:
        for r in ask(
            'why', '--model', 'convnet', '--data', 'size=256', '--data', 'channels=3', '--batch', str(batch),
            '--device', device, '--policy', 'float32,mixed_float16,mixed_bfloat16'
        ):
            layers[device, batch, r['policy'], r['layer']] = r


def floor(device, batch, policy, key='predicted_ms', layer='all'):
    return layers[device, batch, policy, layer][key]


def ms(device, batch, policy):
    return published[GPU[device], batch, policy]


def cells(policy):
    """Published times that are no whole second, and their floors."""
    return [(ms(d, b, policy), floor(d, b, policy if d == 'v100' or policy == 'float32' else 'mixed_float16'))
            for d in GPU for b in BATCHES if (ms(d, b, policy) or 1e3) < 1e3]


def line(device, policy, source):
    """Milliseconds a step and an image through the smallest and the largest batch that has a time in both policies
    and no whole second."""
    last = max(b for b in BATCHES if all((ms(device, b, p) or 1e3) < 1e3 for p in ('float32', 'mixed_float16')))
    image = (source(device, last, policy) - source(device, 32, policy)) / (last - 32)
    return source(device, 32, policy) - 32 * image, image


# The model
macs = floor('v100', 32, 'float32', 'macs') / 32
claim('with %.0f million multiply-adds an image' % (macs / 1e6), True)
shapes = [(128, 32, 5, 3), (64, 64, 7, 32), (32, 128, 11, 64)]  # outputs a side, filters, kernel, channels in
by_hand = sum(
    (3 if i else 2) * side**2 * filters * kernel**2 * channels
    for i, (side, filters, kernel, channels) in enumerate(shapes)
)
claim('convolutions of 32 filters of 5×5, 64 of 7×7 and 128 of 11×11, each with stride 2, SAME padding',
      abs(macs - by_hand - 3 * 128 * 10) <= 1e-3 * by_hand and macs <= by_hand + 3 * 128 * 10)
order = [layer for _, _, _, layer in layers if layer != 'all'][:11]
claim('bias and relu, batchnorm after each; global average pooling, a dense layer of 10, softmax in float32; Keras\'s'
      ' Adam', order == ['conv1', 'relu1', 'bn1', 'conv2', 'relu2', 'bn2', 'conv3', 'relu3', 'bn3', 'gap', 'dense1'])

# The floor
ratios = [t / f for t, f in cells('float32')]
claim('Every published float32 time is %.2f to %.2f times its floor, on all three devices and at every batch size'
      % (min(ratios), max(ratios)), min(ratios) > 1.2 and max(ratios) < 1.6 and len(ratios) == 13)
odd = floor('m2200', 256, 'mixed_float16')
claim(
    'Every mixed_float16 time is above its floor as well, save the one cell that was rounded to a second: 1000 ms'
    ' against at least %.0f'
    % int(odd),
    all(t > f for t, f in cells('mixed_float16')) and ms('m2200', 256, 'mixed_float16') == 1000 and 1000 < odd < 1500,
)

# The table alone
fixed = {p: line('v100', p, ms)[0] for p in ('float32', 'mixed_float16')}
claim(
    'on the V100 it is some 4 ms of 28 and 30, and no less in mixed precision than in float32',
    all(3.5 < t < 5 for t in fixed.values())
    and fixed['mixed_float16'] >= fixed['float32']
    and (ms('v100', 32, 'mixed_float16'), ms('v100', 32, 'float32')) == (28, 30),
)
rate = {(d, p): 2e-9 * macs / line(d, p, ms)[1] for d in GPU for p in ('float32', 'mixed_float16')}
share = {(d, p): '%.0f %%' % (100 * r / sheet[d][0]) for (d, p), r in rate.items()}
claim(
    'The V100 worked at %.0f TFLOP/s in float32 and at %.0f in mixed precision: %s and %s of its float32 peak, and'
    ' less than a tenth of the %.0f TFLOP/s of its matrix units'
    % (
        rate['v100', 'float32'], rate['v100', 'mixed_float16'], share['v100', 'float32'],
        share['v100', 'mixed_float16'], sheet['v100'][1]
    ),
    rate['v100', 'mixed_float16'] < sheet['v100'][0] and rate['v100', 'mixed_float16'] < 0.1 * sheet['v100'][1],
)
claim('The Titan XP (%s and %s) and the M2200 (%s and %s), which have no matrix units, stand just where it does'
      % tuple(share[d, p] for d in ('titan_xp', 'm2200') for p in ('float32', 'mixed_float16')), sheet['titan_xp'][1]
      == sheet['m2200'][1] == 0 and all(abs(rate[d, p] / sheet[d][0] - rate['v100', p] / sheet['v100'][0]) < 0.05
                                        for d, p in rate))

# Layer by layer
f32, f16, half = ('v100', 32, 'float32'), ('v100', 32, 'mixed_float16'), ('v100', 32, 'mixed_bfloat16')
claim(
    '%d calls in float32 and %d in mixed precision are less than half a millisecond'
    % (floor(*f32, 'calls'), floor(*f16, 'calls')),
    floor(*f16, 'launch_ms') < 0.5 and floor(*f32, 'launch_ms') < 0.5,
)
claim('keep the first convolution off a V100\'s matrix units', 'last extent 3' in (floor(*f16, 'odd', 'conv1') or '')
      and floor(*f16, 'arithmetic_ms', 'conv1') > 0.99 * floor(*f32, 'arithmetic_ms', 'conv1'))
claim('That layer has 2 % of the multiply-adds: with the others on the units, a step would still take a fifth of'
      ' float32\'s', round(100 * floor(*f32, 'macs', 'conv1') / floor(*f32, 'macs')) == 2
      and 0.17 < floor(*f16) / floor(*f32) < 0.22)
claim(
    'The ten classes miss it too, in a layer that costs one launch a call',
    'last extent 10' in (floor(*f16, 'odd', 'dense1') or '') and floor(*f16, 'limit', 'dense1') == 'launch',
)
claim(
    'Memory traffic** is halved by fp16, but it limits only the small layers: all bytes together, moved once, take an'
    ' eighth of float32\'s step',
    0.45 < floor(*f16, 'bytes') / floor(*f32, 'bytes') < 0.55
    and 0.11 < floor(*f32, 'memory_ms') / floor(*f32) < 0.14
    and floor(*f32, 'limit') == 'arithmetic',
)
big = sum(floor(*f32, 'macs', layer) for layer in ('conv2', 'conv3')) / floor(*f32, 'macs')
claim('two convolutions have %.0f %% of the multiply-adds' % (100 * big), big > 0.95)

# Which case it was
ratio = {(d, b): ms(d, b, 'mixed_float16') / ms(d, b, 'float32') for d in GPU for b in BATCHES if ms(d, b, 'float32')}
v100 = [ratio['v100', b] for b in BATCHES]
claim('The step would have taken less than a fifth of float32\'s at every batch size; %.2f to %.2f was published'
      % (min(v100), max(v100)), all(floor('v100', b, 'mixed_float16') < 0.2 * floor('v100', b, 'float32')
                                    for b in BATCHES) and all(r > 0.9 for r in v100))
need, got = line('v100', 'mixed_float16', floor)[1], line('v100', 'mixed_float16', ms)[1]
claim('A V100 that needs %.2f ms an image and gets one every %.2f would have been idle for %.0f %% of the time'
      % (need, got, 100 * (1 - need / got)), 1 - need / got > 0.8)
bytes_only = {(d, b): floor(d, b, 'mixed_bfloat16' if d == 'v100' else 'mixed_float16') / floor(d, b, 'float32')
              for d in GPU for b in BATCHES}
claim('On the M2200 the floor\'s ratio is the published one at batch 32 and 64 to within 0.01',
      all(abs(bytes_only['m2200', b] - ratio['m2200', b]) < 0.01 for b in (32, 64)))
facts = os.path.join(os.environ.get('HALFULP_DATA') or os.path.join(TOP, '..', 'shared', 'data'), '..', 'facts',
                     'published-tables.md')
busy = (
    [
        int(x)
        for x in re.search(
            r'GPU utilisation (\d+) % at batch 32, \d+ % at 128, up to (\d+) % at 512',
            open(facts, encoding='utf-8').read(),
        ).groups()
    ]
    if os.path.exists(facts)
    else (72, 100)
)
claim('%d %% (batch 32) to %d %% (batch 512) busy was reported, though not for which device' % tuple(busy), 100
      * need / got < 0.5 * busy[0])
least, most = 27.5 / 30.5, 28.5 / 29.5
claim('On the V100 at batch 32 the two whole milliseconds leave room for any ratio from %.2f to %.2f, and %.2f is'
      ' predicted' % (least, most, bytes_only['v100', 32]), least < bytes_only['v100', 32] < most)
claim(
    'At batch 512 they do not: %.2f was published, %.2f is predicted where every byte moves once'
    % (ratio['v100', 512], bytes_only['v100', 512]),
    377.5 / 414.5 < bytes_only['v100', 512]
    and (ms('v100', 512, 'mixed_float16'), ms('v100', 512, 'float32')) == (377, 415),
)
saved = ms('v100', 512, 'float32') - ms('v100', 512, 'mixed_float16')
by_bytes = {b: floor('v100', b, 'float32') - floor('v100', b, 'mixed_bfloat16') for b in BATCHES}
claim('Of the %.0f ms saved there the floor explains %.0f; to explain all, bytes would have to move %.1f times as often'
      ' as they must' % (saved, by_bytes[512], saved / by_bytes[512]), saved > 2 * by_bytes[512])
units = 1 - sheet['v100'][0] / sheet['v100'][1]  # of a product's time, saved at peak rates
one = {(layer, b): floor('v100', b, 'float32', 'arithmetic_ms', layer) / 3 * units for layer in ('conv2', 'conv3')
       for b in (32, 512)}
claim(
    'One of the three products of conv2, moved there at peak rates, saves %.1f ms at batch 32 and %.0f at batch 512;'
    ' with what bytes save that makes %.1f where 2 ms were published, and %.0f where %.0f were'
    % (one['conv2', 32], one['conv2', 512], one['conv2', 32] + by_bytes[32], one['conv2', 512] + by_bytes[512], saved),
    abs(one['conv2', 32] + by_bytes[32] - 2) <= 1 and abs(one['conv2', 512] + by_bytes[512] - saved) <= 0.05 * saved,
)
claim('All of conv2, or any product of conv3, would have saved more than was', 3 * one['conv2', 32] + by_bytes[32] > 3
      and one['conv3', 32] + by_bytes[32] > 3 and one['conv3', 512] + by_bytes[512] > saved + 1)
titan = [ratio['titan_xp', b] for b in BATCHES]
claim('The Titan XP gained nothing (%.2f to %.2f, where the floor\'s ratio is 0.95)' % (min(titan), max(titan)),
      sum(r >= 1 for r in titan) == 4 and all(round(bytes_only['titan_xp', b], 2) == 0.95 for b in BATCHES))
finish()
