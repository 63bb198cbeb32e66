# SPDX-License-Identifier: Apache-2.0
"""Keras's Adam casts its constants to the variable's format: under the policies bfloat16 and float16 the calls have
what Keras 3.15 computes with, in bfloat16 beta2 = .999 is 1 and no weight moves, which the training warns of and the
verdict calls fatal, and beta2 = .99 learns. PyTorch's formulas and other policies keep doubles. What Keras 3.15 did
with a net of 354 weights on its torch back end: bfloat16, beta2 .999: 0 moved; .99 and .998: all moved. The loss scale
is a number of Python, a double, under the rules of Apex and DeepSpeed, and a float32 tensor under the others."""

import json
import os
import re
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import finish, halfulp, none, ok  # noqa: E402
from trained import Trainings  # noqa: E402

SMALL = '--model mlp --data size=8 --model width=0.4 --data train=800,eval=200 --batch 20 --meter none '
runs = Trainings(SMALL)


def bf16(x):
    """x to bfloat16, nearest even, of a double that float32 does not round to a tie by mistake."""
    bits = struct.unpack('<I', struct.pack('<f', x))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack('<f', struct.pack('<I', bits))[0]


def fp16(x):
    return struct.unpack('<e', struct.pack('<e', x))[0]


def attributes(run, op):
    return [c['attr'] for c in runs.program(run)['calls'] if c['op'] == op]


def trained(words, run):
    p = halfulp('train', *(SMALL + words).split(), runs.at(run))
    return p.stderr if p.returncode == 0 else ok(False, 'train ' + words, p.stderr)


def moved(run):
    """How many elements of weights differ between the first and the last traced step."""
    steps = sorted(int(re.sub(r'\D', '', name)) for name in os.listdir(runs.at(run, 'trace')))
    a, b = runs.traced(run, steps[0]), runs.traced(run, steps[-1])
    names = ['dense%d.%s' % (k, role) for k in (1, 2, 3) for role in 'wb']
    return sum(x != y for n in names for x, y in zip(a[n], b[n])), sum(len(a[n]) for n in names)


# --- what the calls have, beside Keras's casts: of lr, beta^t's base, 1 - beta (computed in double) and epsilon
STEPS = '--steps 3 --trace steps=0,1,2 '
wrong = []
for policy, to in (
    ('bfloat16', bf16),
    ('float16', fp16),
    ('bfloat16,constants=double', float),
    ('O3', float),
    ('mixed_bfloat16', float),
    ('compute=bfloat16,variable=bfloat16', float),
    ('compute=bfloat16,variable=bfloat16,constants=variable', bf16),
):
    for optimizer in ('adam', 'adamw', 'sgd', 'nesterov', 'lamb'):
        run = policy + optimizer
        said = trained(STEPS + '--quiet --policy %s --optimizer %s' % (policy, optimizer), run)
        cast = to if optimizer == 'adam' else float
        for c in attributes(run, 'adam_clock'):
            wrong += [] if (c['beta1'], c['beta2']) == (cast(0.9), cast(0.999)) else [(run, c)]
        for c in attributes(run, optimizer) if optimizer[:4] == 'adam' else []:
            exact = {'lr': 1e-3, 'eps': 1e-7, 'beta1': 0.9, 'beta2': 0.999}
            want = {k: cast(v) for k, v in exact.items()}
            if cast is not float:
                want.update({k: 1 - cast(1 - exact[k]) for k in ('beta1', 'beta2')})
            wrong += [] if {k: c[k] for k in want} == want else [(run, c, want)]
        policy_json = json.load(open(runs.at(run, 'manifest.json')))['policy']
        says = 'variable' if to is not float else 'double'
        wrong += [] if policy_json['constants'] == says else [(run, policy_json)]
none(wrong, 'constants are rounded to the variables\' format where the policy is Keras\'s and so is the formula')

# --- a learning rate that changes is cast as well
trained(STEPS + '--quiet --policy bfloat16 --optimizer adam:beta2=.99 --schedule cosine', 'cosine')
rates = [runs.traced('cosine', k) for k in (0, 1, 2)]
got = [(t['optim.rate'][0], t['optim.rate@bf16'][0]) for t in rates]
ok(all(bf16(a) == b for a, b in got) and len({b for _, b in got}) > 1, 'so is a rate that changes', got)

# --- what that does: who moves, who learns, who is warned
wrong, seen = [], {}
for policy, words, is_still in (
    ('bfloat16', '--optimizer adam', True),
    ('bfloat16', '--optimizer adam:beta2=.9985', True),
    ('bfloat16', '--optimizer adam:beta2=.99', False),
    ('bfloat16', '--optimizer adam:beta2=.998', False),
    ('bfloat16', '--optimizer adamw', False),
    ('bfloat16,constants=double', '--optimizer adam', False),
    ('float16', '--optimizer adam:eps=1e-4', False),
    ('mixed_bfloat16', '--optimizer adam', False),
):
    run = policy + words.replace(' ', '')
    said = trained('--epochs 3 --trace steps=0,1,119 --optimizer lr=3e-3 --policy %s %s' % (policy, words), run)
    warned = re.findall(r'^warning: beta2 (\S+) is 1 in bfloat16.*below 1 there is 0.99609375$', said, re.M)
    many, of = moved(run)
    loss = float(runs.column(run, 'loss')[-1])
    beta = (re.findall(r'beta2=(\S+)', words) or ['.999'])[0]
    seen[run] = (many, of, loss)
    if [float(x) for x in warned] != ([float(beta)] if is_still else []) or (many == 0) != is_still:
        wrong.append((run, many, of, said))
    if (loss < 1.5) == is_still:
        wrong.append((run, 'loss', loss))
none(wrong, 'a beta2 that the cast makes 1 moves nothing, is warned of by name, and .99 and .998 learn')

# --- the verdict: fatal, with the reason; a rate of zero by choice is no verdict of the format; .99 is judged as ever
wrong = []
for run, word, says in (
    ('bfloat16--optimizeradam', 'fatal', r'^Fatal: none of the \d+ elements of weights .*: beta2 is 1 in bfloat16'),
    ('bfloat16--optimizeradam:beta2=.99', None, r'^(?!Fatal: none of)'),
    ('still', 'unknown', '^No verdict: no traced step moved the weights'),
):
    if run == 'still':
        trained('--steps 3 --trace steps=0,1,2 --quiet --policy bfloat16 --optimizer adam:beta2=.99,lr=0', run)
    p = halfulp('analyze', runs.at(run))
    s = json.load(open(runs.at(run, 'analysis', 'summary.json')))
    if p.returncode or not re.search(says, s['verdict'][0]) or (word and s['verdict_word'] != word):
        wrong.append((run, p.stderr, s['verdict_word'], s['verdict'][0]))
none(wrong, 'the verdict says that nothing moved, and why')

# a run of another recorder need not name the format
manifest = json.load(open(runs.at('bfloat16--optimizeradam', 'manifest.json')))
del manifest['policy']['variable']
json.dump(manifest, open(runs.at('bfloat16--optimizeradam', 'manifest.json'), 'w'))
halfulp('analyze', runs.at('bfloat16--optimizeradam'))
said = json.load(open(runs.at('bfloat16--optimizeradam', 'analysis', 'summary.json')))['verdict'][0]
ok("beta2 is 1 in the variables' format, to which" in said, 'or that it is the format of the variables', said)

p = halfulp('plan', '--policy', 'bfloat16,constants=half')
says = 'constants=half is unknown; known: double, variable'
ok(p.returncode == 2 and says in p.stderr, 'other words are refused', p.stderr)
# --- loss scales: two steps make the scale 1.1 times as large, an overflow at 2^30 0.7 times
wrong = []
for rule, held in (('apex', float), ('deepspeed', float), ('pytorch', 'f'), ('keras', 'f')):
    words = '--steps 12 --quiet --trace steps=0 --policy mixed_float16 --loss-scale interval=2,growth=1.1 '
    trained(words + '--loss-scale backoff=0.7,init=4e9 --loss-scale ' + rule, 'scale-' + rule)
    scales, skipped = runs.column('scale-' + rule, 'loss_scale'), runs.column('scale-' + rule, 'skipped')
    keep = float if held is float else (lambda x: struct.unpack('f', struct.pack('f', x))[0])
    scale, good, left, last, want = keep(4e9), 0, 2, -1, []
    for step, skip in enumerate(skipped):
        want.append(scale)
        if skip == '1':
            falls, left = (rule != 'deepspeed' or left == 1), left - (left > 1)
            scale, good, last = keep(scale * 0.7) if falls else scale, 0, step
        else:
            good += 1
            if (step - last) % 2 == 0 if rule == 'deepspeed' else good == 2:
                scale, good, left = keep(scale * 1.1), 0, 2
                scale = min(scale, 16777216.0) if rule == 'apex' else scale
    kind = runs.traced('scale-' + rule, 0).head['scaler.scale']['dtype']
    if [float(x) for x in scales] != want or kind != ('F64' if held is float else 'F32') or len(set(want)) < 3:
        wrong.append((rule, kind, scales, want, skipped))
none(wrong, 'the loss scale is the double that Apex and DeepSpeed keep, and the float32 of PyTorch and Keras')

finish()
