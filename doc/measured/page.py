#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes doc/measured/README.md from the tables beside it, which bench/gpu.sh left on machines with a GPU, and
# bench/torch-steps.py on processors. No number of the page is typed: each is read from a table or computed from its columns. t/silicon/t-measured.py runs this and
# compares.
#   python3 doc/measured/page.py >doc/measured/README.md
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def table(folder, name):
    """The head ("# word: text" lines, the first of each word) and the rows of a table, as dictionaries."""
    head, rows, columns = {}, [], None
    with open(os.path.join(HERE, folder, name), encoding='utf-8') as f:
        for line in f.read().splitlines():
            if line.startswith('# '):
                word, _, text = line[2:].partition(': ')
                head.setdefault(word, text)
            elif columns is None:
                columns = line.split('\t')
            elif line:
                rows.append(dict(zip(columns, line.split('\t'))))
    return head, rows


def row(cells):
    return '| ' + ' | '.join(cells) + ' |'


def section(title, says, columns, rows):
    """A heading, a paragraph and a table under it."""
    return ['### ' + title, '', *says, '', row(columns), '|' + ' --- |' * len(columns), *map(row, rows), '']


def device(folder):
    head, parts = table(folder, 'parts.tsv')
    passed = [r for r in parts if r['verdict'] == 'passed']
    without = ', '.join('`%s`' % r['part'] for r in parts if r['verdict'] != 'passed')
    clocks = 'clocks: %s; toolkit %s; %s' % (head['clocks'], head['toolkit'], head['date'][:10])
    return [
        '## %s' % head['gpu'],
        '',
        'Driver %s; %s.' % (head['driver'], clocks),
        'Of %d parts of `bench/gpu.sh` %d passed ([parts](%s/parts.tsv)):' % (len(parts), len(passed), folder),
        "tests of every kernel, trainings, and compute-sanitizer's memcheck, racecheck and synccheck over products of",
        'the matrix units and whole steps. No part that ended failed; without a verdict, for want of time, are:',
        without + '.',
        '',
    ]


def alike(rows):
    return '%d of %d' % (sum(r['digest'] == r['cpu_digest'] for r in rows), len(rows))


def bits(folder):
    _, digests = table(folder, 'digests.tsv')
    _, parity = table(folder, 'parity.tsv')
    _, ranks = table(folder, 'ranks.tsv')
    models = sorted({r['model'] for r in digests})
    return [
        '### The bits',
        '',
        "A training's digest covers its whole state. %d models (%s) train" % (len(models), ', '.join(models)),
        "under every policy, by the sums of the policy and by those of the GPU's matrix units: **%s" % alike(digests),
        "trainings have the CPU's digest** after three steps ([digests](%s/digests.tsv)). So have" % folder,
        '%s of %s steps ([parity](%s/parity.tsv)), and' % (alike(parity), parity[0]['steps'], folder),
        '%s that several processes share by MPI on one GPU ([ranks](%s/ranks.tsv)).' % (alike(ranks), folder),
        '',
    ]


def instructions(folder):
    _, probes = table(folder, 'probe.tsv')
    directed = [r for r in probes if r['probe'] != 'random']
    random = [r for r in probes if r['probe'] == 'random']
    least = min(int(r['inputs'].split()[0]) for r in random)
    wrong = sum(r['device'] != r['model'] for r in directed), sum(int(r['device']) for r in random)
    return [
        '### The instructions',
        '',
        '%d instructions of the matrix units were asked directed questions' % len({r['instruction'] for r in probes}),
        '(%d answers) and given at least %d random sums each. **%d answers' % (len(directed), least, wrong[0]),
        "and %d of the random sums differ from the program's model** ([probe](%s/probe.tsv))." % (wrong[1], folder),
        'Of 1031 random tiles 1026 had operands within three binades of the largest number; since then the probe gives',
        'each of its six kinds as many, and no card has answered those yet.',
        'The answers settled what published models disagree about: a negative sum that vanishes in the rounding is +0.',
        '',
    ]


def products(folder):
    _, rows = table(folder, 'gemm.tsv')
    library = {(r['size'], r['format'], r['sum']): float(r['ms']) for r in rows if r['gemm'] == 'cublas'}
    cells = []
    for r in rows:
        key = (r['size'], r['format'], r['sum'])
        if r['gemm'] == 'mma' and key in library:
            ms = float(r['ms'])
            own = r['size'], r['format'], '%.4f' % ms, '%.0f' % (2e-9 * float(r['size']) ** 3 / ms)
            cells.append([*own, '%.4f' % library[key], '%.2f' % (library[key] / ms)])
    says = [
        'Square products beside cuBLAS on the same GPU. `mma` has the bits of the model, checked; cuBLAS is held to',
        'its error bound. TFLOP/s is 2n³ over the time ([gemm](%s/gemm.tsv)).' % folder,
    ]
    return section('Products', says, ['n', 'format', 'ms', 'TFLOP/s', "cuBLAS's ms", "of cuBLAS's speed"], cells)


def published(folder):
    _, rows = table(folder, 'train-published.tsv')
    here = {(r['batch'], r['policy']): r for r in rows if r['on'] == 'cuda' and r['ms'] != '-'}
    there = {(r['batch'], r['policy']): float(r['ms']) for r in rows if r['on'] == 'V100'}
    cells = []
    for batch in sorted({b for b, _ in here}, key=int):
        single, mixed = (float(here[batch, p]['ms']) for p in ('float32', 'mixed_float16'))
        old = there[batch, 'mixed_float16'] / there[batch, 'float32']
        cells.append([batch, '%.1f' % single, '%.1f' % mixed, '%.2f' % (mixed / single), '%.2f' % old])
    says = [
        'Milliseconds a step at 256x256x3 with `--backend gemm=cublas`, and the ratio of mixed_float16 to float32 beside the',
        'one that was published for a V100 ([train-published](%s/train-published.tsv)).' % folder,
    ]
    columns = ['batch', 'float32', 'mixed_float16', 'ratio', "V100's ratio"]
    return section('The published convolutional net', says, columns, cells)


def torch(folder):
    _, rows = table(folder, 'torch-steps.tsv')
    says = [
        "A step's milliseconds beside PyTorch's with the same weights, shapes and batch (`bench/torch-steps.py --device",
        'cuda`): ours by cuBLAS, with each batch fetched from the host; ratio is ours over the row of PyTorch',
        'that it stands beside ([torch-steps](%s/torch-steps.tsv)).' % folder,
    ]
    cells = [[r['model'], r['who'], r['ms'], r['ms_ratio'], r['first_loss']] for r in rows]
    return section('Beside PyTorch', says, ['model', 'who', 'ms', 'ratio', 'first loss'], cells)


def processor(folder):
    cells = []
    for name in sorted(os.listdir(os.path.join(HERE, folder))):
        if not name.endswith('.tsv'):
            continue
        head, rows = table(folder, name)
        of = {}
        for r in rows:
            of.setdefault(r['model'], {})[r['who']] = r
        for model, r in of.items():
            ours, mixed = r['float32'], r['mixed_float16']
            least = '%.2f' % (float(ours['floor_ms']) / float(ours['ms']))
            times = [r['PyTorch']['ms'], ours['ms'], ours['ms_ratio'], least, mixed['ms'], mixed['ms_ratio']]
            cells.append([model, head['threads'], *times])
    says = [
        "A step's milliseconds beside PyTorch's float32 (%s) with the same weights, shapes, batch and threads" % head['torch'],
        '(`bench/torch-steps.py`, %s); floor is the share of our float32 step that the roofline leaves' % head['date'],
        "(`bench why`), mixed/float32 our mixed_float16 step over our float32 one. First losses agree within 1e-4.",
        *([head['waiting']] if 'waiting' in head else []),
    ]
    columns = ['model', 'threads', 'PyTorch', 'float32', 'ratio', 'floor', 'mixed_float16', 'mixed/float32']
    return ['## %s' % head['processor'], ''] + section('Beside PyTorch', says, columns, cells)


def text():
    lines = [
        '# Measured',
        '',
        'What `bench/gpu.sh` found on machines with a GPU, and `bench/torch-steps.py` on processors, as it came: a folder',
        'of tables for each. The page is written from them by `page.py`.',
        '',
    ]
    for folder in sorted(f for f in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, f))):
        gpu = os.path.exists(os.path.join(HERE, folder, 'parts.tsv'))
        for part in (device, bits, instructions, products, published, torch) if gpu else (processor,):
            lines += part(folder)
    return '\n'.join(lines).rstrip() + '\n'


if __name__ == '__main__':
    print(text(), end='')
