# SPDX-License-Identifier: Apache-2.0
# plan's tables against each other: a layer's row is the sum of its calls', what is printed are the numbers of JSON,
# times on a device follow from operations and bytes and the rates of its data sheet, and a policy's line from its
# calls.
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, none  # noqa: E402

# NVIDIA Tesla V100 data sheet (SXM2): TFLOP/s of fp64, fp32 and of fp16 on the matrix units, GB/s; a launch takes 5 us
FP64, FP32, MATRIX, GB_S, LAUNCH = 7.8e12, 15.7e12, 125e12, 900e9, 5e-3
SUMS = ('calls', 'casts', 'macs', 'flops', 'bytes')
TIMES = ('arithmetic_ms', 'memory_ms', 'launch_ms', 'predicted_ms')


def plan(*words):
    return subprocess.run([HALFULP, 'plan', *words], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout


def near(a, b):
    return a == b or a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12)


def size(text):
    value, unit = text
    return float(value) * {'B': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9}[unit]


def about(text, x):
    """To half a unit of the last digit that is printed."""
    digits = len(text[0].partition('.')[2])
    return abs(size(text) - x) <= 0.5001 * 10.0 ** -digits * size(('1', text[1]))


def sums(calls, layers, keys, key_of):
    """Problems of LAYERS, whose rows are sums of CALLS' by layer, in the order in which they come, then all of them."""
    wrong, order = [], []
    for c in calls:
        if c['layer'] not in order:
            order.append(c['layer'])
    if [r['layer'] for r in layers] != order + ['all']:
        return ['layers %s there, %s here' % ([r['layer'] for r in layers], order)]
    for r in layers:
        mine = [c for c in calls if r['layer'] in ('all', c['layer'])]
        wrong += ['%s: %s is %s there, %s here' % (r['layer'], k, r[k], math.fsum(c[k] for c in mine)) for k in keys
                  if not math.isclose(r[k], math.fsum(c[k] for c in mine), rel_tol=1e-12, abs_tol=1e-18)]
        wrong += key_of(r, mine)
    return wrong


def bound_of(r, mine):
    most = max([c['bound'] for c in mine if c['bound'] is not None], default=None)
    return [] if near(r['bound'], most) else ['%s: bound %s there, %s here' % (r['layer'], r['bound'], most)]


def limit_of(r, mine):
    by = {k: math.fsum(c['predicted_ms'] for c in mine if c['limit'] == k) for k in ('arithmetic', 'memory', 'launch')}
    first = next((c['odd'] for c in mine if c['odd']), '') if r['layer'] != 'all' else ''
    return (
        []
        if math.isclose(by[r['limit']], max(by.values()), rel_tol=1e-9)
        else ['%s: limited by %s, times %s' % (r['layer'], r['limit'], by)]
    ) + ([] if r['odd'] == first else ['%s: odd %r there, %r here' % (r['layer'], r['odd'], first)])


def timing(rows, timed):
    """Problems of each call's times."""
    wrong = []
    for c, t in zip(rows, timed):
        wrong += ['call %s: %s' % (c['call'], k) for k in ('layer', 'macs', 'flops', 'bytes', 'call', 'op', 'phase')
                  if c[k] != t[k]]
        product = c['op'] in ('matmul', 'conv2d', 'conv2d_dx', 'conv2d_dw')
        half = product and c['reads'] in ('fp16', 'e4m3')  # without units for 8 bits those for 16 compute them
        rate = FP64 if c['op'] == 'adam_clock' else MATRIX if half and not t['odd'] else FP32
        arithmetic, memory = 1e3 * c['flops'] / rate, 1e3 * c['bytes'] / GB_S
        most = max(arithmetic, memory, LAUNCH)
        limit = 'launch' if most == LAUNCH else 'memory' if most == memory else 'arithmetic'
        want = (arithmetic, memory, LAUNCH, most)
        wrong += [
            'call %d %s: %s is %s there, %s here' % (c['call'], c['op'], k, t[k], w)
            for k, w in zip(TIMES, want)
            if not math.isclose(t[k], w, rel_tol=1e-12)
        ]
        if t['limit'] != limit or t['odd'] and not half:
            wrong.append('call %d: limit %s there, %s here; odd %r' % (c['call'], t['limit'], limit, t['odd']))
    return wrong


def printed(text, by_call, rows, timed):
    """Problems of one policy's two tables in TEXT, which has the lines after its heading."""
    wrong, tables = [], []
    for head in (
        r' *call +op .*bound$|layer +calls +casts.*bound$',
        r' *call +op .*odd extents$|layer +calls +Gflop.*odd extents$',
    ):
        i = next(k for k, x in enumerate(text) if re.match(head, x))
        j = next(k for k in range(i, len(text)) if not text[k])
        tables.append(text[i + 1:j])
    number = lambda x: '%.0f' % x  # noqa: E731
    for line, r in zip(tables[0], rows):
        w = line.split()
        front = (
            [str(r['call']), r['op'], r['phase'], r['layer'], r['tensor'], r['format'], str(r['casts'])]
            if by_call and r['call'] is not None
            else (
                ['-', '-', '-', 'all', '-', '-', str(r['casts'])]
                if by_call
                else [r['layer'], str(r['calls']), str(r['casts'])]
            )
        )
        tail = [number(r['macs']), number(r['flops'])]
        rest = w[len(front) + 2:]
        bound = '-' if r['bound'] is None else '%.3g' % r['bound']
        if (
            w[: len(front)] != front
            or w[len(front) : len(front) + 2] != tail
            or not about(rest[:2], r['bytes'])
            or rest[2] != '%.2f' % (r['flops'] / r['bytes'])
            or rest[3] != bound
        ):
            wrong.append('%r there, %s here' % (line, r))
    for line, t in zip(tables[1], timed):
        w, odd = re.fullmatch(r'(.* (?:arithmetic|memory|launch)) +(\S.*)', line).groups()
        w = w.split()
        front = (
            [str(t['call']), t['op'], t['phase'], t['layer']]
            if by_call and t['call'] is not None
            else ['-', '-', '-', 'all'] if by_call else [t['layer'], str(t['calls'])]
        )
        n = len(front)
        want = ['%.3f' % t[k] for k in TIMES] + [t['limit']]
        if (
            w[:n] != front
            or w[n] != '%.3f' % (1e-9 * t['flops'])
            or not about(w[n + 1 : n + 3], t['bytes'])
            or w[n + 3 :] != want
            or odd != (t['odd'] or '-')
        ):
            wrong.append('%r there, %s here' % (line, t))
    if [len(t) for t in tables] != [len(rows), len(timed)]:
        wrong.append('%s rows' % [len(t) for t in tables])
    return wrong


def judge(name, *words):
    policies = ('mixed_float16', 'float32', 'mixed_bfloat16', 'mixed_e4m3')
    base = [*words, '--device', 'v100', *(w for p in policies for w in ('--policy', p))]
    by_call, by_layer = json.loads(plan(*base, '--by', 'call', '--json')), json.loads(plan(*base, '--json'))
    texts = {how: plan(*base, '--by', how).split('\n') for how in ('call', 'layer')}
    line, wrong, shown = {}, [], []
    for c, l in zip(by_call, by_layer):
        for r in c['rows'][:-1]:  # a product reads what the policy computes in
            r['reads'] = {'float16': 'fp16', 'bfloat16': 'bf16', 'float32': 'fp32', 'e4m3': 'e4m3'}[c['compute']]
        none(
            sums(c['rows'][:-1], l['rows'], SUMS, bound_of)
            + sums(
                c['timing']['rows'][:-1], l['timing']['rows'], TIMES + ('macs', 'flops', 'bytes', 'calls'), limit_of
            ),
            '%s, %s: layers are sums of calls' % (name, c['policy']),
        )
        none(timing(c['rows'][:-1], c['timing']['rows'][:-1]),
             '%s, %s: times follow from operations, bytes and the data sheet' % (name, c['policy']))
        for how, p in (('call', c), ('layer', l)):
            text = texts[how]
            i = next(k for k, x in enumerate(text) if x.split(', ')[-1].startswith(p['policy'] + ':')
                     or ', %s: compute' % p['policy'] in x)
            shown += printed(text[i:], how == 'call', p['rows'], p['timing']['rows'])
        odd = [t for t in c['timing']['rows'][:-1] if t['odd']]
        by = [math.fsum(t['predicted_ms'] for t in c['timing']['rows'][:-1] if t['limit'] == k)
              for k in ('arithmetic', 'memory', 'launch')]
        all_of_it = math.fsum(t['predicted_ms'] for t in c['timing']['rows'][:-1])
        line[c['policy']] = all_of_it, by, math.fsum(t['predicted_ms'] for t in odd), len(odd)
    none(shown, name + ': the printed tables have the numbers of JSON')
    text = texts['layer']
    i = next(k for k, x in enumerate(text) if x.startswith('ms at least a step'))
    for p, x in zip(policies, text[i + 1:]):
        total, by, odd, n = line[p]
        want = [p, '%.3f' % total, '%.2f' % (total / line[policies[0]][0]), *('%.3f' % v for v in by)] + (
            ['%.3f' % odd, str(n)] if n else ['-']
        )
        got = x.split()
        if got[:6] != want[:6] or n and got[6:8] != want[6:8]:
            wrong.append('%s there, %s here' % (got, want))
    none(wrong, name + ': a policy\'s line sums its calls up, by what limits them')


judge('mlp', '--model', 'mlp', '--batch', '2048', '--model', 'width=4')
judge('convnet', '--model', 'convnet', '--data', 'size=64,channels=3', '--batch', '64')
# A call belongs to the layer that its result is named after. Casts belong to the layer that reads them, and gradients
# of what another layer made to the one that hands them back.
wrong = []
for model in 'mlp convnet resnet resnet1d unet bert gpt ncf'.split():
    for optimizer in 'sgd nesterov adam adamw lamb'.split() if model == 'mlp' else ['adam']:
        words = '--policy mixed_float16 --optimizer clip_norm=1,ema=0.9 --batch 2 --by call --json'.split()
        rows = json.loads(plan('--model', model, '--optimizer', optimizer, *words))[0]['rows'][:-1]
        for r in rows:
            layer, _, role = r['tensor'].partition('.')
            given = r['phase'] != 'update' and (r['op'] == 'cast' or role.startswith('d'))
            if r['layer'] != layer and not given:
                wrong.append('%s, %s: %s has the layer %s' % (model, optimizer, r['tensor'], r['layer']))
        if {r['phase'] for r in rows} != {'forward', 'backward', 'update'}:
            wrong.append('%s: phases' % model)
none(wrong, 'each call of every model and optimizer is of the layer that its result is named after')
few = plan('--model', 'mlp:width=0.0625', '--data', 'size=8', '--batch', '1', '--memory', '1000000000GiB', '--json')
none([few[:300]] if json.loads(few)[0]['largest_batch'] != 2**24 - 1 else [],
     'a memory without end has room for a batch of 2^24 - 1, the largest that is looked at')
finish()
