#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# judge --sample: where its tiles cover a result, it finds what the judge of the whole finds, for each kernel and each
# kind of mask; kernels without tiles are refused by name; large arrays take little time and memory. Needs torch.
import json
import os
import re
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, finish, home, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
warnings.simplefilter('ignore')
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402
import hostile  # noqa: E402
import hostile_attention  # noqa: E402
import numpy  # noqa: E402

SAME = ('format', 'differ', 'beyond_proven', 'beyond_probable', 'beyond_declared', 'without_bound', 'worst_element',
        'worst_value', 'worst_exact', 'worst_bound', 'bound_ratio_max', 'largest', 'ulp_max')
with open(TOP + '/analyzers/judge/kernel/samples.def', encoding='utf-8') as f:
    tiled = set(re.findall(r'^SAMPLE\((\w+)', f.read(), re.M))
BF = torch.bfloat16


def more(seed):
    """Attention whose rows have to know where they stand."""
    g = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(2, h, n, 16, generator=g).to(BF) for h, n in ((4, 48), (2, 64), (2, 64)))
    i, j = torch.arange(48)[:, None], torch.arange(64)
    slopes = torch.tensor([.5, .25, .125, .0625])
    lengths = torch.tensor([64, 50])
    for facts, keep, bias in ((dict(causal=1), j <= i, 0), (dict(causal=2), j <= i + 16, 0),
                              (dict(causal=2, window=9), (j <= i + 16) & (j > i + 7), 0),
                              (dict(causal=1, diagonal=5), j <= i + 5, 0),
                              (dict(causal=2, slopes=1), j <= i + 16, slopes[:, None, None] * (j - i - 16)),
                              (dict(causal=1, slopes=1), j <= i, slopes[:, None, None] * (j - i))):
        o, lse = hostile_attention.exact(q.float(), k.float(), v.float(), BF, keep, bias=bias)
        ops = dict(q=q, k=k, v=v)
        if facts.pop('slopes', 0):
            ops['slopes'] = slopes
        yield 'attention', ops, facts, o
        yield 'attention', ops, facts, dict(o=o, lse=lse.to(BF))
    keep = j <= i + lengths.view(2, 1, 1, 1) - 48
    o, lse = hostile_attention.exact(q.float(), k.float(), v.float(), BF, keep)
    yield 'attention', dict(q=q, k=k, v=v, lengths=lengths), dict(causal=2), o


def cases():
    for kernel, o, facts, results in hostile.groups(BF, 5):
        y = results[0][1]
        if not isinstance(y, dict) and y.dtype.is_floating_point:
            first = next(x for x in o.values() if x.dtype.is_floating_point)
            y = y if y.dtype not in (torch.float32, torch.float64) or kernel == 'linear_cross_entropy' else y.to(
                first.dtype)
        yield kernel, o, facts, y
    yield from more(3)


judged, odd, spoiled, refused, seen, partly = 0, [], [], [], set(), 0
for kernel, o, facts, y in cases():
    parts = y if isinstance(y, dict) else {'': y}
    one = next(iter(parts.values()))
    what = '%s %s %s' % (kernel, sorted(o), facts)
    if kernel not in tiled or (isinstance(y, dict) and kernel.endswith('_dx') and kernel != 'attention_dx'):
        try:
            halfulp.judge(kernel, o, y, options=('--sample', '100'), **facts)
            refused.append(what)
        except halfulp.ProgramError as why:
            refused += [] if '--sample' in str(why) and kernel in str(why) else ['%s: %s' % (what, why)]
        if not kernel.endswith('_dx') or not isinstance(y, dict) or kernel not in tiled:
            continue
        y = {'dx': y['dx']}
        one = y['dx']
    for wrong in (0, 1):
        if wrong:
            one.view(-1)[one.numel() * 5 // 7] += 3 * one.float().abs().nan_to_num(0, 0, 0).max().to(one.dtype) + 1
        whole = halfulp.judge(kernel, o, y, options=('--no-culprit',), **facts)
        part = halfulp.judge(kernel, o, y, options=('--no-culprit', '--sample', str(one.numel()), '--seed', '4'),
                             **facts)
        judged += 1
        seen.add(kernel)
        for a, b in zip(whole['results'], part['results']):
            if b['elements'] == b['sample_of'] == a['elements']:
                other = [k for k in SAME if a[k] != b[k] and not (
                    k.startswith('worst') and a['bound_ratio_max'] == b['bound_ratio_max'])]
                other += ['tiles'] if b['tiles'] < 2 and a['elements'] > 500 and kernel != 'conv' else []
                # the probable bound is that of as many elements
                odd += ['%s %d: %s %s' % (what, wrong, k, (a.get(k), b.get(k))) for k in other]
            else:
                partly += 1
                odd += ['%s: %s of %s' % (what, b['elements'], a['elements'])] if not (
                    b['elements'] * 2 > a['elements']) else []
            if not wrong and not b['verdict'].startswith('right') and not a['verdict'] == b['verdict']:
                odd.append('%s: %s' % (what, b['verdict']))
        if wrong and whole['verdict'] != 'beyond the proven bound':
            spoiled.append(what)
none(odd, '%d results: tiles find what the judge of the whole finds; %d are covered in part' % (judged, partly))
none(spoiled, 'a spoiled element is beyond the proven bound')
none(refused, 'results that have no tiles are refused by name')
none(sorted(tiled - seen), 'each kernel with tiles is tried')
os.chdir(home())
g = numpy.random.default_rng(1)
n = 2048
a, b = (g.standard_normal((n, n), dtype=numpy.float32) for _ in range(2))
y = a @ b
for name, x in (('a', a), ('b', b), ('y', y), ('z', y + numpy.float32(0.01))):
    numpy.save(name + '.npy', x)


# A child's memory counts that of the process it was forked from, so that a small one stands between.
MEASURE = ("import json, resource, subprocess, sys; p = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
           "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
           "print(json.dumps([json.loads(p.stdout), u.ru_utime + u.ru_stime, u.ru_maxrss // 1024]))")


def sample(got, *options):
    p = subprocess.run([sys.executable, '-S', '-c', MEASURE, HALFULP, 'judge', 'matmul', '--in', 'a=a.npy', '--in',
                        'b=b.npy', '--got', got, '--sample', '4096', '--json'] + list(options), capture_output=True,
                       text=True)
    return json.loads(p.stdout)


v, seconds, megabytes = sample('y.npy')
r = v['results'][0]
ok(v['verdict'] == 'right' and r['elements'] == 4096 and r['sample_of'] == n * n and r['tiles'] == 16,
   'a product of %d^3 is right in 4096 elements' % n, v)
ok(seconds < 8, 'in %.2f s of processor time' % seconds)
ok(megabytes < 120, 'and %d MB of memory' % megabytes)
v = sample('z.npy')[0]
ok(v['verdict'] != 'right', 'a product that is 0.01 too large is not', v)
first = v['results'][0]['worst_element']
ok(sample('z.npy', '--seed', '9')[0]['results'][0]['worst_element'] != first, 'another seed looks at other tiles')
# A stretch of the queries that somebody else has cut knows where it stands, sampled or whole.
for kernel, o, facts, y in more(8):
    if isinstance(y, dict) or 'lengths' in o:
        continue
    part = dict(o, q=o['q'][:, :, 17:41])
    for options in ((), ('--sample', str(y[:, :, 17:41].numel()))):
        v = halfulp.judge(kernel, part, y[:, :, 17:41], first=17, of=48, options=('--no-culprit',) + options, **facts)
        ok(v['verdict'] == 'right' and v['assumed']['first'] == '17' and v['assumed']['of'] == '48',
           'queries 17 to 40 of 48, %s %s' % (facts, options), v)
done = subprocess.run([HALFULP, 'judge', 'matmul', '--in', 'a=a.npy', '--in', 'b=b.npy', '--got', 'y.npy', '--sample',
                       '64', '--sum', 'all'], capture_output=True, text=True)
ok(done.returncode == 2 and '--sum' in done.stderr, '--sum is refused with --sample', done.stderr)
finish()
