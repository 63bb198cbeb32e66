# SPDX-License-Identifier: Apache-2.0
# Rows of the benchmarks against the lists of options that ask for them: each combination once and in order, ratios of
# the times beside them, what a cast moves a second, and the printed table against the file of the same run: the same
# numbers, columns under their names. No figure is compared with a clock's.
import itertools
import json
import math
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, none  # noqa: E402

folder = home()


def bench(*words, env=None):
    """Rows of the file and lines of the terminal; a number of the file is a float, - is None."""
    path = os.path.join(folder, 't.tsv')
    r = subprocess.run([HALFULP, 'bench', *words, '-o', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True, env=dict(os.environ, PYTHON='/none', **(env or {})))
    if r.returncode:
        return [], [], ['%s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr)]
    lines = [x.split('\t') for x in open(path).read().splitlines() if not x.startswith('#')]
    rows = []
    for x in lines[1:]:
        cells = dict(zip(lines[0], x))
        rows.append({k: (None if v == '-' else (float(v) if re.fullmatch(r'-?\d+(\.\d+)?(e[-+]\d+)?', v)
                                                and k not in ('simd', 'width', 'lr', 'size') else v)) for k,
                     v in cells.items()})
    return rows, r.stdout.rstrip('\n').split('\n'), aligned(lines, r.stdout.rstrip('\n').split('\n'))


# What the terminal has above a column whose key has no unit, or has it in words
HEADINGS = {
    'ns': 'ns/value',
    'gb_s': 'GB/s',
    'memcpy': 't/memcpy',
    'mpfr': 'MPFR/t',
    'python': 'Python/t',
    'gflops': 'GFLOP/s',
    'ceiling': 'ceiling_GFLOP/s',
    'samples_per_s': 'samples/s',
    'joules_step': 'J/step',
    'joules_sample': 'J/sample',
    'watts': 'W',
}


def aligned(file, printed):
    """Problems of the PRINTED table: its numbers are the FILE's, rounded, and each column's cells all begin or all
    end with its name."""
    file = [cells[:-1] for cells in file]  # the machine, which one process does not print
    head, wrong = file[0], []
    headings = dict(HEADINGS, ms='ms/step') if 'policy' in head else HEADINGS
    if printed[0].split() != [headings.get(k, k) for k in head] or len(printed) != len(file):
        return [
            '%r is printed above %d rows, the file has %r and %d' % (printed[0], len(printed) - 1, head, len(file) - 1)
        ]
    place = lambda line: [(m.start(), m.end()) for m in re.finditer(r'\S+', line)]  # noqa: E731
    names, sides = place(printed[0]), {}
    for want, line in zip(file[1:], printed[1:]):
        cells = place(line)
        if any(' ' in c for c in want) or len(cells) != len(head):
            continue
        for k, (name, w, (a, b)) in enumerate(zip(head, want, cells)):
            if k and head[k - 1] == 'note':
                break  # which is as wide as it is
            said = line[a:b]
            try:
                digits = len(said.partition('.')[2])
                same = said == w or abs(float(said) - float(w)) <= 0.5000001 * 10.0**-digits and digits <= 5
            except ValueError:
                same = False
            if not same:
                wrong.append('%s: %s is printed, the file has %s' % (name, said, w))
            if all(
                cells[i][1] < names[i + 1][0] and (cells[i][1] == names[i][1] or cells[i][0] == names[i][0])
                for i in range(k)
            ):  # until one is too long for its column
                sides.setdefault(name, set()).add((a == names[k][0], b == names[k][1]))
    for name, found in sides.items():
        if not all(left for left, right in found) and not all(right for left, right in found):
            wrong.append('column %s: cells neither all begin nor all end with its name' % name)
    if printed[1:] and len(sides) < len(head) // 2:
        wrong.append('no row tells how the columns stand')
    return wrong


def levels():
    text = subprocess.run([HALFULP, 'doctor'], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return re.search(r'^processor .*\(this build uses (.*) here\)$', text, re.M)[1].split(',')


def close(a, b):
    return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9)


simds = [s.strip() for s in levels()]

# Casts: fastest instruction set first; a row an operation and a mode, where the operation draws on one
sizes = {'fp64': 8, 'fp32': 4, 'tf32': 4, 'fp16': 2, 'bf16': 2, 'e4m3': 1, 'e2m1': 1, 'e8m0': 1, 'e5m2': 1}
ops, modes = ['round', 'encode', 'unpack', 'pack', 'round64', 'pieces'], ['RNE', 'RZ', 'RU', 'RD', 'RNA', 'SR']
rows, printed, wrong = bench('cast', '--format', 'fp16,e4m3,e2m1,e8m0,tf32', '--mode', ','.join(modes), '--op',
                             ','.join(ops), '--sizes', '0.02', '--trials', '1')
want, told = [], set()
for f in ('fp16', 'e4m3', 'e2m1', 'e8m0', 'tf32'):
    for s in reversed(simds):
        for o in ops:
            if o == 'pieces':
                want += [(s, None, o, 'SR')] if s not in told else []
                told.add(s)
            elif sizes[f] <= 2 or o in ('round', 'round64'):
                want += [(s, f, o, m) for m in (modes if o in ('round', 'encode', 'round64') else [None])]
got = [(r['simd'], r['format'], r['op'], r['mode']) for r in rows]
none(wrong + ['%s there, %s here' % (g, w) for g, w in itertools.zip_longest(got, want) if g != w],
     'bench cast: %d rows, and none but these' % len(want))
moved = lambda r: (
    16 if r['op'] == 'round64' else 4 if r['op'] == 'pieces' else 4 + (4 if r['op'] == 'round' else sizes[r['format']])
)  # noqa: E731
none([r for r in rows if not (r['ns'] > 0 and close(r['gb_s'] * r['ns'], moved(r)) and r['memcpy'] > 0)],
     'bytes a nanosecond are what is read and written of an element over its time')
by_mpfr = (
    lambda r: r['op'] == 'round' and r['mode'] in ('RNE', 'RZ', 'RU', 'RD') and r['format'] != 'e8m0'
)  # noqa: E731
none([r for r in rows if (r['mpfr'] is not None) != by_mpfr(r) or r['mpfr'] is not None and not r['mpfr'] > 0
      or r['python'] is not None],
     'MPFR beside each rounding that it has, of formats with a sign; no Python, no ratio to it')
rows, printed, wrong = bench('cast', '--format', 'fp16', '--mode', 'RNE', '--op', 'pieces', '--sizes', '0.01',
                             '--trials', '1', '--backend', 'simd=scalar')
none(wrong + ([rows] if [(r['simd'], r['op']) for r in rows] != [('scalar', 'pieces')] else []),
     'the random pieces alone')
rows, printed, wrong = bench('cast', '--format', 'fp16', '--mode', 'RNE', '--op', 'round,pieces', '--sizes', '0.01',
                             '--trials', '1', '--backend', 'simd=scalar')
none(wrong + ([rows] if [r['op'] for r in rows] != ['round'] else []), 'and not beside others where no mode draws')
name = os.path.join(folder, 'python')
open(name, 'w').write(
    '#!/bin/sh\ncase "$5" in fp16,*|*,fp16*) echo 40 8 ;; *) exit 1 ;; esac\n'
)  # ns an element to the type and back
os.chmod(name, 0o755)
path = os.path.join(folder, 't.tsv')
wrong = []
subprocess.run([HALFULP, 'bench', 'cast', '--format', 'fp16,e4m3', '--mode', 'RNE,RZ', '--op',
                'round,encode,unpack,pack', '--sizes', '0.01', '--trials', '1', '--backend', 'simd=scalar', '-o',
                path], stdout=subprocess.PIPE, env=dict(os.environ, PYTHON=name))
lines = [x.split('\t') for x in open(path).read().splitlines() if not x.startswith('#')]
took = {('round', 'RNE'): 48, ('encode', 'RNE'): 40, ('unpack', '-'): 8}
for x in lines[1:]:
    r = dict(zip(lines[0], x))
    other = took.get((r['op'], r['mode'])) if r['format'] == 'fp16' else None
    if (r['python'] == '-') != (other is None) or other and not close(float(r['python']) * float(r['ns']), other):
        wrong.append(r)
none(wrong + ([lines] if len(lines) < 5 else []),
     'the ratio to what Python took: to codes, back, and both for a rounding')

# Products: the rows are the options' combinations, flops two a multiply-add
sums = ['fma,acc=fp32', 'chunk:8,acc=fp16', 'sequential,acc=bf16']
rows, printed, wrong = bench('gemm', '--sizes', '8', '--format', 'fp32', '--backend', 'simd='
                             + ','.join(reversed(simds)), '--trials', '1')
none(wrong + ([] if {r['simd'] for r in rows} == set(simds) else [r['simd'] for r in rows]),
     'products by each of %d instruction sets' % len(simds))
rows, printed, wrong = bench(
    'gemm', '--sizes', '8,5x9x7', '--format', 'fp32,fp16', *[w for s in sums for w in ('--sum', s)], '--backend',
    'simd=scalar', '--trials', '1'
)
want = [(size, f, s) for size in ('8', '5x9x7') for f in ('fp32', 'fp16') for s in sums]
none(
    wrong
    + (
        [[(r['size'], r['format'], r['sum']) for r in rows]]
        if [(r['size'], r['format'], r['sum']) for r in rows] != want
        else []
    ),
    'bench gemm: %d rows' % len(want),
)
flops = {'8': 2 * 8**3, '5x9x7': 2 * 5 * 9 * 7}
none([r for r in rows if not close(r['gflops'] * r['ms'] * 1e6, flops[r['size']]) or r['check'] != 'bits'
      or r['on'] != 'cpu'], 'two operations a multiply-add, every bit checked')

# Trainings: every combination, float32 first, and its ratio to float32 of the same combination
small = ['--model', 'mlp', '--data', 'size=8', '--data', 'train=16', '--data', 'eval=4', '--steps', '2', '--steps',
         'warm=0', '--meter', 'none']
lists = {'batch': ['4', '8'], 'width': ['0.125', '0.25'], 'lr': ['0.01', '0.5'], 'seed': ['3', '1']}
rows, printed, wrong = bench('train', *small, '--policy', 'mixed_float16,float32,mixed_bfloat16', '--batch', '4,8',
                             '--model', 'width=0.125,0.25', '--optimizer', 'lr=0.01,0.5', '--seeds', '3,1')
want = [(*c, p) for c in itertools.product(*lists.values()) for p in ('float32', 'mixed_float16', 'mixed_bfloat16')]
got = [('%g' % r['batch'], r['width'], r['lr'], '%g' % r['seed'], r['policy']) for r in rows]
none(wrong + ['%s there, %s here' % (g, w) for g, w in itertools.zip_longest(got, want) if g != w],
     'bench train: %d rows' % len(want))
none([r for r in rows if (r['model'], r['image'], r['on']) != ('mlp', '8x8x1', 'cpu')],
     'each names its model, the size of its images and the back end')
single = {g[:4]: r['ms'] for g, r in zip(got, rows) if g[4] == 'float32'}
none([r for g, r in zip(got, rows) if not close(r['ratio'], r['ms'] / single[g[:4]])],
     'each beside float32 of the same batch, width, rate and seed')
none(
    [
        r
        for r in rows
        if not close(r['samples_per_s'] * r['ms'], 1e3 * r['batch'])
        or not 0 < r['ms_min'] <= r['ms']
        or not close(1 + r['ms_spread'], 1 + r['ms'] - r['ms_min'])  # quartiles of two steps
        or r['loss'] is None
        or r['accuracy'] is None
    ],
    'images a second, the fastest, loss and accuracy',
)
none(['two seeds, one digest'] if len({r['digest'] for r in rows}) != len(rows) else [],
     'no two of these end in the same weights')
rows, printed, wrong = bench('train', *small, '--policy', 'float32,mixed_float16', '--batch', '4', '--backend',
                             'simd=' + ','.join(simds[-2:]))
by = {(r['simd'], r['policy']): r['digest'] for r in rows}
want = list(itertools.product(simds[-2:], ('float32', 'mixed_float16')))
none(wrong + ([by] if [(r['simd'], r['policy']) for r in rows] != want or len(set(by.values())) != 2 else []),
     'each policy ends in its own bits under %s, which is no failure' % ' and '.join(simds[-2:]))
rows, printed, wrong = bench('train', *small, '--policy', 'mixed_float16,mixed_bfloat16', '--batch', '4')
none(wrong + [r for r in rows if r['ratio'] is not None or r['seed'] is not None or r['loss'] is not None],
     'without float32 there is no ratio, without seeds no loss')
none([r for r in rows if r['joules_step'] is not None or r['joules_sample'] is not None
      or not r['computed_mb'] >= r['peak_mb']], 'without a meter no joules')

# Memory that is computed: a row more is 64 pixels, a label and its place in the order of rows
computed = []
for option, n in (('--data', 'train=16'), ('--data', 'train=1016'), ('--data', 'eval=104')):
    rows, printed, wrong = bench('train', *small, option, str(n), '--policy', 'float32', '--batch', '4')
    computed += [r['computed_mb'] * 1e6 for r in rows]
more = [round(x - computed[0]) for x in computed[1:]]
none([] if more == [1000 * (64 + 1 + 8), 100 * (64 + 1 + 8)] else [more],
     'computed_mb: a thousand rows more to train on, and a hundred to evaluate on')

# Energy: a counter of 5 J every two milliseconds; a step's is its images' together
zone = os.path.join(folder, 'powercap', 'intel-rapl:0')
os.makedirs(zone)
for file, text in (('name', 'package-0'), ('max_energy_range_uj', '%d' % 2**50), ('energy_uj', '1000')):
    open(os.path.join(zone, file), 'w').write(text + '\n')
done = threading.Event()


def count():
    joules = 0
    while not done.is_set():
        joules += 5000000
        open(os.path.join(zone, 'next'), 'w').write('%d\n' % (1000 + joules))
        os.rename(os.path.join(zone, 'next'), os.path.join(zone, 'energy_uj'))
        time.sleep(0.002)


counter = threading.Thread(target=count, daemon=True)
counter.start()
rows, printed, wrong = bench('train', *small[:-2], '--policy', 'float32', '--batch', '4,8', '--model', 'width=1',
                             env={'HALFULP_POWERCAP': os.path.join(folder, 'powercap')})
done.set()
counter.join()
none(
    wrong
    + [r for r in rows if r['joules_step'] is None or not close(r['joules_sample'] * r['batch'], r['joules_step'])]
    + ([] if len(rows) == 2 else [rows]),
    'joules of a step and of an image',
)

# Published rows stand behind measured ones of their model and batch, and behind no others
every = json.loads(subprocess.run([HALFULP, 'bench', 'train', '--published', '--json'], stdout=subprocess.PIPE,
                                  check=True).stdout)
keys = ('model', 'batch', 'policy', 'on', 'ms', 'ratio', 'samples_per_s', 'peak_mb', 'source')
of = lambda r: tuple(r.get(k) for k in keys)  # noqa: E731
for words, model, batches in (
    (['--model', 'convnet:width=0.0625', '--batch', '32,3'], 'convnet', (32, 3)),
    (['--model', 'mlp', '--batch', '32'], 'mlp', (32,)),
):
    r = subprocess.run([HALFULP, 'bench', 'train', '--data', 'size=8', '--data', 'train=64', '--data', 'eval=4',
                        '--steps', '1', '--steps', 'warm=0', '--meter', 'none', '--policy', 'float32', '--json',
                        *words], stdout=subprocess.PIPE)
    behind = [x for x in json.loads(r.stdout) if x.get('source') is not None]
    want = [x for x in every if x['model'] == model and x['batch'] in batches]
    wrong = [(of(a), of(b)) for a, b in itertools.zip_longest(behind, want, fillvalue={}) if of(a) != of(b)]
    wrong += [x for x in behind if x['ms'] and not close(x['samples_per_s'] * x['ms'], 1e3 * x['batch'])]
    none(wrong + ([] if bool(want) == (model == 'convnet') else [want]),
         '%s: %d published rows behind those of its batches' % (model, len(want)))
finish()
