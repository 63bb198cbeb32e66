# SPDX-License-Identifier: Apache-2.0
# What diff tells of two runs, computed again from the files of the runs: which tensors differ, in how many elements,
# where first and where most, by how many ulps of the coarser format.
import itertools
import json
import math
import os
import re
import struct
import sys
from fractions import Fraction as Q

from diff_runs import at, halfulp, real, train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.baseline import described  # noqa: E402
from independent.files import table  # noqa: E402
from independent.number import FORMATS, log2floor, pow2  # noqa: E402
from tap import finish, none  # noqa: E402


def differences(a, b, step):
    """Tensors that both runs recorded and that differ, in the order in which the first wrote them."""
    one, two, found = a.trace(step), b.trace(step), []
    formats = {t['name']: t['format'] for t in b.tensors}
    producer = {t: c['id'] for c in a.calls for t in c['out']}
    for t in sorted(a.tensors, key=lambda t: (producer.get(t['id'], -1), t['id'])):
        if t['name'] not in one or t['name'] not in two:
            continue
        (x, xf), (y, yf) = one.codes(t['name']), two.codes(t['name'])
        if len(x) != len(y):
            continue
        bits, ebits, p, emin = min((FORMATS[f][:4] for f in (t['format'], formats[t['name']])), key=lambda f: f[2])
        n, first, worst, most, pair = 0, None, None, -1, None
        finite, sums = 0, [[0] * 128, [0] * 128]
        for i in range(len(x)):
            u, v = real(x[i], xf), real(y[i], yf)
            finite += math.isfinite(u) and math.isfinite(v)
            if struct.pack('d', u) == struct.pack('d', v):
                continue
            if u == v:
                ulps = 0.0
            elif not math.isfinite(u) or not math.isfinite(v):
                ulps = math.inf
            else:
                e = max(log2floor(Q(u)), emin) if u else emin
                ulps = float(abs(u - v)) * float(pow2(p - 1 - e))
                d = round(min(ulps, 4096) * 2 ** 24) * (1 if v > u else -1)
                sums[0][i * 128 // len(x)] += d
                sums[1][i * 128 // len(x)] += d * ((u > 0) - (u < 0))
            n += 1
            first = i if first is None else first
            if ulps > most:
                most, worst, pair = ulps, i, (u, v)
        if n:
            c = a.producer.get(t['id'])
            spread = [math.sqrt(sum(s * s for s in side)) for side in sums]
            bias = {'signed_ulp_mean': sum(sums[0]) / 2 ** 24 / finite if finite else None, 'bias_t': None,
                    'outward_ulp_mean': sum(sums[1]) / 2 ** 24 / finite if finite else None}
            if finite:
                bias['bias_t'] = max(abs(sum(side)) / s if s else 0.0 for side, s in zip(sums, spread))
            found.append(
                {
                    'step': step,
                    'call': c['id'] if c else -1,
                    'op': c['op'] if c else '-',
                    'layer': t['name'].split('.')[0],
                    'tensor': t['name'],
                    'kind': 'call' if c else 'input',
                    'elements': len(x),
                    'differ': n,
                    'worst_element': worst,
                    'ulps': most if math.isfinite(most) else None,
                    'first_run': pair[0] if math.isfinite(pair[0]) else None,
                    'second_run': pair[1] if math.isfinite(pair[1]) else None,
                    'first': first,
                    'p': p,
                    **bias,
                }
            )
    return found


def ulps_text(d):
    """Beyond the whole precision of a format their number says nothing."""
    return 'over 2^%d' % d['p'] if d['ulps'] > 2 ** d['p'] else '%g' % d['ulps']


def line(d):
    start = ('step %d, call %d (%s, layer %s), tensor %s: ' % (d['step'], d['call'], d['op'], d['layer'], d['tensor'])
             if d['call'] >= 0 else 'step %d, input %s: ' % (d['step'], d['tensor']))
    end = '; differences have one direction: %+.4g ulps on the mean, %+.4g away from zero, T = %.4g' % (
        d['signed_ulp_mean'], d['outward_ulp_mean'], d['bias_t']) if (d['bias_t'] or 0) > 6.07 else ''
    return start + end.join(
        ['%d of %d elements differ, the first is %d, the worst %d by %s ulps (%.9g and %.9g)', '']
    ) % (d['differ'], d['elements'], d['first'], d['worst_element'], ulps_text(d), d['first_run'], d['second_run'])


def digests(run):
    return [r['digest'] for r in table(os.path.join(run.path, 'metrics.tsv'))[1]]


def programs(run):
    return [
        dict(described(json.load(open(os.path.join(run.path, 'program-%s.json' % name)))))
        for name in ('train', 'eval')
    ]


def body(text):
    """What is said of the runs' states, behind settings and programs."""
    lines = text.splitlines()
    return lines[next(i for i, x in enumerate(lines) if re.match('the first step whose|all [0-9]+ common steps', x)):]


USED = ('halfulp_version', 'compiler', 'device', 'simd', 'accumulate', 'policy', 'loss_scaling', 'loss_weight',
        'dataset')


def settings(a, b):
    """(name, value in A, value in B) of settings that differ: those of USED as the runs used them, objects member by
    member, and the training's options but for these and for what was traced. None: it has no such setting."""
    def leaves(x, y, name):
        if isinstance(x, dict) and isinstance(y, dict):
            return [leaf for k in {**x, **y} for leaf in leaves(x.get(k), y.get(k), k)]
        return [(name, x, y)] if x != y else []

    x, y = a.manifest, b.manifest
    options = [k for k in {**x['config'], **y['config']} if not k.startswith('trace') and k not in USED]
    found = [(k, x['config'].get(k), y['config'].get(k)) for k in options if x['config'].get(k) != y['config'].get(k)]
    return sorted(found + [leaf for k in USED for leaf in leaves(x.get(k), y.get(k), k)], key=str)


def told(line):
    """The same of a line that diff prints."""
    name, _, values = line.partition(': ')
    return (name, *(None if v == 'nothing' else json.loads(v) for v in values.split(' and ')))


def parted(a, b, what):
    """Compares what diff says of two runs."""
    wrong, da, db = [], digests(a), digests(b)
    common = min(len(da), len(db))
    first = next((i for i in range(common) if da[i] != db[i]), -1)
    both = [s for s in a.steps if s in b.steps]
    found, steps = [], 0
    for s in both:
        if not found:
            found, steps = differences(a, b, s), steps + 1
    j = json.loads(halfulp('diff', '--all', '--json', a.path, b.path).stdout)
    want = {
        'same': first < 0 and not found and len(da) == len(db),
        'first_step': first,
        'common_steps': common,
        'common_traces': steps,
    }
    wrong += ['%s is %s there, %s here' % (k, j[k], v) for k, v in want.items() if j[k] != v]
    if sorted(map(told, j['settings']), key=str) != settings(a, b):
        wrong.append('settings %s there, %s here' % (j['settings'], settings(a, b)))
    near = (
        lambda x, y: x == y
        or isinstance(x, float)
        and isinstance(y, float)
        and math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-15)
    )  # noqa: E731
    for got, d in zip(j['tensors'], found):
        wrong += ['%s: %s is %s there, %s here' % (d['tensor'], k, got[k], d[k]) for k in got if not near(got[k], d[k])]
    wrong += ['%d tensors there, %d here' % (len(j['tensors']), len(found))] if len(j['tensors']) != len(found) else []
    lines = [
        (
            'the first step whose state differs is %d (of %d common ones)' % (first, common)
            if first >= 0
            else 'all %d common steps have the same digest%s'
            % (common, '' if len(da) == len(db) else ', and one run has more')
        )
    ]
    for x, y in zip(*(table(os.path.join(r.path, 'metrics.tsv'))[1] for r in (a, b))):
        name = next((k for k in ('eval_loss', 'eval_accuracy') if '-' not in (x[k], y[k]) and x[k] != y[k]), None)
        if name:
            lines.append(
                'the first evaluation that differs is behind step %s: %s %.17g and %.17g'
                % (x['step'], name, float(x[name]), float(y[name]))
            )
            break
    if not both:
        lines.append(
            'no step was traced in both: train %s with --trace steps=%d, and diff names the call where they diverge'
            % (b.path, max(first, 0))
        )
    elif not found:
        lines.append('the %d steps traced in both are the same in every recorded bit' % steps)
    finite = [d for d in found if None not in (d['ulps'], d['first_run'], d['second_run'])]
    r, whole = halfulp('diff', a.path, b.path), halfulp('diff', '--all', a.path, b.path)
    short = (
        lines
        + [line(d) for d in found[:1]]
        + (['%d more tensors differ after it; --all lists them' % (len(found) - 1)] if len(found) > 1 else [])
    )
    if len(finite) == len(found):
        for text, mine in ((r.stdout, short), (whole.stdout, lines + [line(d) for d in found])):
            there = body(text)
            wrong += ['%r there, %r here' % (x, y) for x, y in zip(there + [''] * 999, mine)
                      if x != y] + (['%d lines, not %d' % (len(there), len(mine))] if len(there) != len(mine) else [])
            after = text.partition('settings that differ, first run and second:\n')[2].splitlines()
            if [x[2:] for x in itertools.takewhile(lambda x: x.startswith('  '), after)] != j['settings']:
                wrong.append('settings in the text: %r' % text[:200])
            if ('both run the same programs' in text.splitlines()) != (programs(a) == programs(b)):
                wrong.append('whether the programs are the same')
    if {r.returncode, whole.returncode} != {0 if want['same'] else 1}:
        wrong.append('exit %d' % r.returncode)
    none(wrong, '%s: %d tensors differ' % (what, len(found)))


single = train('single', '--policy', 'float32', '--steps', '4', '--trace', 'steps=0,2')
parted(single, train('again', '--policy', 'float32', '--steps', '4', '--trace', 'steps=0,2'), 'the same run twice')
a, b = train('bare', '--policy', 'float32', '--steps', '2', '--trace', 'steps=none'), train(
    'faster', '--policy', 'float32', '--steps', '2', '--trace', 'steps=none', '--optimizer', 'lr=0.02'
)
r = halfulp('diff', a.path, b.path)
want = 'no step was traced in either: train both with --trace steps=0, and diff names the call where they diverge'
none([r.stdout[-300:]] if r.returncode != 1 or want not in r.stdout.splitlines() else [],
     'two runs without traces: how to see where they diverge')
parted(single, train('longer', '--policy', 'float32', '--steps', '6', '--trace', 'steps=2,5'), 'a longer run')
parted(single, train('half', '--policy', 'mixed_float16', '--steps', '4', '--trace', 'steps=0,2'),
       'float32 and mixed_float16')
parted(train('brain', '--policy', 'bfloat16', '--steps', '4', '--trace', 'steps=2'), single, 'bfloat16 and float32')
parted(single, train('pairs', '--policy', 'float32', '--steps', '4', '--trace', 'steps=2,3', '--accumulate',
                     'pairwise'), 'another order of sums')
parted(single, train('apart', '--policy', 'float32', '--steps', '4', '--trace', 'steps=1', '--seed', '2'),
       'no step traced in both')
# Of several settings that differ the data come first, then the seed, then the first of the others
for name, cause in (
    ('half', 'another setting: compute: "float32" and "float16"'),
    ('pairs', 'another setting: '),
    ('apart', 'another seed: seed: '),
):
    text = halfulp('diff', at('single'), at(name)).stdout
    none([] if '. Most likely cause: ' + cause in text else [text[:600]], '%s: %s' % (name, cause))

# A run beside a file is compared as files are, by name, whichever comes first
other = at('other.tsv')
open(other, 'w').write('step\tstrange\n1\t2\n')
for pair in (single.path, other), (other, single.path):
    r = halfulp('diff', *pair)
    alone = {x.split()[0]: x.split(' is in ')[1] for x in r.stdout.splitlines() if x.endswith(' alone')}
    of_run = [n for n, whose in alone.items() if whose == single.path + ' alone']
    none(
        (
            [r.stdout[:400], r.stderr]
            if r.returncode != 1
            or alone.get('strange') != other + ' alone'
            or not any(n.endswith('/dense2.w') for n in of_run)
            else []
        ),
        'diff of a %s and a %s: %d names of the run alone'
        % (*(('file' if x == other else 'run') for x in pair), len(of_run)),
    )
gone = halfulp('diff', at('gone.npz'), at('gone.npz'))
named = gone.stderr.endswith('gone.npz: neither a file nor a run is there\n')
none([] if gone.returncode == 3 and named else [gone.stderr], 'a file that is not there is named')
finish()
