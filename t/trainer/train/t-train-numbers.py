# SPDX-License-Identifier: Apache-2.0
# What commands say of a training, each number computed again from the run's files: the lines and the JSON of train, the
# counts of data sets that files hold, verify's refusal of a changed program, the ratios of bench why, and memory as
# doctor prints it. Besides: memory and trace as train announces them, verify as JSON, the seeds of bench train, what
# --init begins with, and gnuplot.
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import tap
from tap import ok
from small_runs import SMALL, home, manifest, run, table

# --- train: its lines and its JSON
code, out, err = run('train', *SMALL, '--epochs', '3', '--policy', 'mixed_float16', 'a')
ok('Loss scaling: pytorch, from 65536\n' in out and 'Ranks:' not in out, 'of one process there are no ranks', out)
ends = [r for r in table('a/metrics.tsv') if r['eval_loss'] != '-']
want = [
    '%d/3 %d %.4f %.4f %.2f %.2f %.2f'
    % (
        int(r['epoch']) + 1, int(r['step']) + 1, float(r['loss']), float(r['eval_loss']),
        100 * float(r['eval_accuracy']), 100 * float(r['eval_precision']), 100 * float(r['eval_recall'])
    )
    for r in ends
]
got = [
    ' '.join(m)
    for m in re.findall(
        r'^epoch (\S+)  step (\d+)  loss (\S+)  eval_loss (\S+)  accuracy (\S+) %  precision (\S+) %'
        r'  recall (\S+) %',
        out,
        re.M,
    )
]
ok(
    code == 0 and got == want and len(got) == 3, 'a line an epoch, whose numbers are those of metrics.tsv',
    [err, got, want]
)
last = ends[-1]
ok(
    'a: loss %.4f, eval_loss %.4f, accuracy %.2f %% after %d steps'
    % (float(last['loss']), float(last['eval_loss']), 100 * float(last['eval_accuracy']), int(last['step']) + 1)
    in out,
    'and the last line',
    out,
)
rows = table('a/metrics.tsv')
mean = [[float(r['ms']) for r in rows if r['epoch'] == e['epoch']] for e in ends]
mean = ['%.1f' % (sum(ms) / len(ms)) for ms in mean]
ok(re.findall(r'  (\d+\.\d) ms a step(?:, \d+\.\d of them waiting for data)?$', out, re.M) == mean,
   "an epoch's ms a step are the mean of its steps", [out, mean])
# What masks and candidates add to the line
for words, more, where in (
    (
        '--model unet:levels=1,width=0.1 --data size=8,train=8,eval=4 --batch 4',
        (('dice', 'dice', 2), ('intersection over union', 'iou', 2)),
        'masks',
    ),
    (
        '--model ncf --data users=8,items=120 --model hidden=2 --batch 64 --steps 2',
        (('hit rate@10', 'hit_rate', 2), ('NDCG@10', 'ndcg', 4)),
        'choices',
    ),
):
    code, out, err = run(
        'train', *words.split(), '--trace', 'steps=none', *(['--epochs', '1'] if where == 'masks' else []), where
    )
    end = [r for r in table(where + '/metrics.tsv') if r['eval_loss'] != '-'][-1] if code == 0 else {}
    want = ''.join('  %s %s' % (name, '%.2f %%' % (100 * float(end['eval_' + c])) if digits == 2 else '%.4f'
                                % float(end['eval_' + c])) for name, c, digits in more)
    ok(
        code == 0 and want + '  ' in out,
        'the line of a model of %s has %s' % (where, ' and '.join(m[0] for m in more)), [err, out, want]
    )
    shapes = (
        {'x': [8, 8, 3], 'mask': [8, 8], 'labels': []}
        if where == 'masks'
        else {'users': [], 'items': [], 'labels': []}
    )
    data = manifest(where)['dataset']
    ok(data.get('arrays') == shapes, 'and the manifest the shape of each of its arrays', data)
code, out, err = run('train', *SMALL, '--epochs', '3', '--policy', 'mixed_float16', '--json', 'b')
j = json.loads(out)
timed = table('b/metrics.tsv')
ok(
    j
    == {
        'run': 'b',
        'steps': int(last['step']) + 1,
        'loss': float(last['loss']),
        'eval_loss': float(last['eval_loss']),
        'accuracy': float(last['eval_accuracy']),
        'precision': float(last['eval_precision']),
        'recall': float(last['eval_recall']),
        'loss_scale': float(last['loss_scale']),
        'ms': j['ms'],
        'wait_ms': j['wait_ms'],
    }
    and all(abs(j[k] - sum(float(r[k]) for r in timed) / len(timed)) <= 1e-9 + 1e-6 * j[k] for k in ('ms', 'wait_ms')),
    'the same as JSON',
    out,
)


# --- what train says before it begins
def amount(text):
    """Bytes that a text like 9.9 kB says, and half of a unit of its last digit."""
    number, unit = text.split(' ')
    by = 1000.0 ** ' kMGT'.index(unit[0] if len(unit) > 1 else ' ')
    return float(number) * by, 0.5001 * by * (0.1 if '.' in number else 1)


def apart(texts, wanted):
    """Amounts that are not those of WANTED."""
    got = [amount(t) for t in texts]
    return [t for t, (x, half), w in zip(texts, got, wanted) if not abs(x - w) <= half] + texts[len(wanted) :]


traced = list(range(0, 9))
code, out, err = run('train', *SMALL[:-2], '--epochs', '3', '--seed', '5', '--policy', 'mixed_float16', '--trace',
                     'steps=' + ','.join(map(str, traced)), '--optimizer', 'lr=0.002', '--loss', 'weight=0.5',
                     '--loss-scale', 'init=512', 'e')
# A loss that diverged is the text nan, and not null, which is what was not measured
diverging = [*SMALL, '--steps', '3', '--optimizer', 'sgd:lr=1e9', '--json']
j = json.loads(run('train', *diverging, '--policy', 'float16', 'diverged')[1])
told = table('diverged/metrics.tsv')[-1]['loss']
ok(j['loss'] == j['eval_loss'] == told == 'nan', 'a loss of NaN is said in JSON', j)
j = json.loads(run('compare', *diverging, '--policy', 'float32,float16', 'both')[1])
runs = table('both/compare-runs.tsv')
ok(
    [r['eval_loss']['mean'] for r in j][1] == runs[1]['eval_loss'] == 'nan' and j[1]['dice']['mean'] is None,
    'compare tells it from what was not measured',
    (j[1]['eval_loss'], runs[1]),
)
plan = json.loads(run('plan', '--model', 'mlp', '--data', 'size=8', '--batch', '16', '--model', 'width=0.05',
                      '--policy', 'mixed_float16', '--json')[1])[0]
memory = [plan['memory_bytes'][k] for k in ('weights', 'masters', 'activations', 'gradients', 'optimizer_state')]
line = re.search(
    r'^Memory: weights (.*), masters (.*), activations (.*), gradients (.*), optimizer state (.*); (.*) in all$', out,
    re.M
)
wrong = apart(list(line.groups()), memory + [sum(memory)]) if line else [out]
ok(not wrong and len(set(memory)) == 5, 'train says the memory that plan computes, by category', wrong)
sizes = []
for step in traced:
    path = '%s/e/trace/step-%06d.safetensors' % (home, step)
    sizes.append(os.path.getsize(path) - 8 - struct.unpack('<Q', open(path, 'rb').read(8))[0])
line = re.search(r'^Trace: steps 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.; (.*) a step, (.*) in all$', out, re.M)
wrong = apart(list(line.groups()), [sizes[0], sum(sizes)]) if line else [out]
ok(not wrong and len(set(sizes)) == 1, 'and the bytes that its traced steps take, eight of which it names', wrong)
want = ['Compute dtype: float16', 'Variable dtype: float32',
        'Model: mlp, %d parameters, adamw with learning rate 0.002, batch 16' % plan['parameters'],
        'Data: digits, 48 to train, 24 to evaluate; 9 steps, 3 an epoch; seed 5',
        'Loss scaling: pytorch, from 512; loss weight 0.5']
ok(not set(want) - set(out.splitlines()), 'and its settings', out)

# --- data sets of files: each part has its own count
os.mkdir(home + '/idx')
for part, n in (('train', 40), ('t10k', 24)):
    with open('%s/idx/%s-images-idx3-ubyte' % (home, part), 'wb') as f:
        f.write(struct.pack('>IIII', 0x803, n, 8, 8) + bytes((i * 37 + i // 64) % 256 for i in range(n * 64)))
    with open('%s/idx/%s-labels-idx1-ubyte' % (home, part), 'wb') as f:
        f.write(struct.pack('>II', 0x801, n) + bytes(i % 10 for i in range(n)))
code, out, err = run('train', '--data', 'idx:idx', '--batch', '8', '--model', 'width=0.05', '--steps', '2', '--trace',
                     'steps=none', 'c')
d = manifest('c')['dataset'] if code == 0 else {}
ok((d.get('train'), d.get('eval')) == (40, 24) and 'arrays' not in d,
   'idx: 40 to train on and 24 to evaluate, and images need no list of arrays', [err, d])
code, out, err = run('train', '--data', 'idx:idx,size=8', '--steps', '2', 'd')
ok(code == 2 and '--data size= ' in err, 'an option that the data set does not read is refused', err)

# --- options that one policy of several reads
code, out, err = run('compare', *SMALL[:-2], '--steps', '2', '--policy', 'mixed_float16,float32', '--loss-scale',
                     'init=1024')
ok(code == 0, 'compare takes an option that the first of its policies reads', err)

# --- verify: an untouched run is the same; one whose program was changed, at the same length, is refused by its
# checksum
code, out, err = run('verify', 'a')
same = code == 0
path = home + '/b/program-train.json'
text = open(path).read()
changed = re.sub(r'("layer": *")dense', r'\1densf', text)
open(path, 'w').write(changed)
code, out, err = run('verify', 'b', '--json')
ok(same and changed != text and code == 3 and not out and 'program-train.json: its checksum is ' in err
   and err.count('\n') == 1, 'verify refuses a run whose program was changed', [same, code, out, err])

row = table('a/metrics.tsv')
code, out, err = run('verify', 'a', '--json')
j = json.loads(out)
ok(code == 0 and len(j) == 11 and (j['run'], j['equal'], j['steps'], j['first_differing_step'], j['evaluations'])
   == ('a', True, len(row), None, len(ends)) and (j['recorded'], j['got']) == (row[-1]['digest'],) * 2
   and (j['program_differences'], j['program']) == (0, []),
   'verify as JSON: everything is equal, up to the last digest', [code, out, err])
m = manifest('b')
del m['files']['program-train.json']  # so that it is no longer refused
json.dump(m, open(home + '/b/manifest.json', 'w'))
calls = [(c['id'], c['op'], *2 * (c['layer'],)) for c in json.loads(changed)['calls'] if c['layer'].startswith('densf')]
want = ['train: call %d %s %s: layer %s' % c + ' -> dense' + c[3][5:] for c in calls]
code, out, err = run('verify', 'b', '--json')
j = json.loads(out) if code == 1 else {}
ok(code == 1 and j['program'] == want and j['program_differences'] == len(want) > 20 and j['equal'] is False
   and j['first_differing_step'] is None and j['recorded'] == j['got'],
   'verify as JSON: each call that would no longer run as it was recorded', [code, out, want])
code, out, err = run('verify', 'b')
ok(code == 1 and out.splitlines()[:21] == want[:20] + ['… and %d more' % (len(want) - 20)]
   and ': %d differences above' % len(want) in out, 'and as text', out)
text = open(home + '/a/metrics.tsv').read()
open(home + '/a/metrics.tsv', 'w').write(text.replace(row[5]['digest'], '0x0123456789abcdef'))
m = manifest('a')
del m['files']['metrics.tsv']
json.dump(m, open(home + '/a/manifest.json', 'w'))
code, out, err = run('verify', 'a', '--json')
j = json.loads(out) if code == 1 else {}
ok(
    code == 1
    and j['equal'] is False
    and (j['first_differing_step'], j['recorded'], j['got']) == (5, '0x0123456789abcdef', row[5]['digest'])
    and j['program'] == [],
    'verify as JSON: the first step whose digest is another one',
    [code, out],
)

# An evaluation that is another than was recorded, by the first of its columns
wrong = []
scores = {'judged': ('loss', 'accuracy', 'precision', 'recall'), 'choices': ('loss', 'accuracy', 'hit_rate', 'ndcg')}
for where, columns in scores.items():
    if where == 'judged':
        run('train', *SMALL, '--epochs', '2', '--policy', 'float32', where)
    path = home + '/' + where + '/metrics.tsv'
    lines = open(path).read().split('\n')
    first = next(i for i, x in enumerate(lines) if x[:1] != '#')
    names = lines[first].split('\t')
    row = max(i for i, x in enumerate(lines) if x[:1].isdigit())
    m = manifest(where)
    del m['files']['metrics.tsv']
    json.dump(m, open(home + '/' + where + '/manifest.json', 'w'))
    for k, name in enumerate(columns):
        cells = lines[row].split('\t')
        was = float(cells[names.index('eval_' + name)])
        for other in columns[k:]:
            cells[names.index('eval_' + other)] = repr(float(cells[names.index('eval_' + other)]) + 0.125)
        open(path, 'w').write('\n'.join([*lines[:row], '\t'.join(cells), *lines[row + 1:]]))
        code, out, err = run('verify', where)
        say = 'step %d is the first whose evaluation differs: eval_%s %.17g, recorded %.17g; its state is the recorded'
        if code != 1 or say % (row - first - 1, name, was, was + 0.125) not in out:
            wrong.append([where, name, was, code, out, err])
        j = json.loads(run('verify', where, '--json')[1])
        if (j['evaluation'], j['equal'], j['first_differing_step']) != ('eval_' + name, False, row - first - 1):
            wrong.append(j)
ok(not wrong, 'verify names the first column of an evaluation that is another, and both numbers', wrong)

# --- lists that are refused, and the seeds that bench train trains with
wrong = [x for x in ('1x', '1,x', '-1', ',1', '1;2') for r in [run('compare', '--policy', 'float32', '--seeds', x)]
         if r[0] != 2 or '--seeds %s: whole numbers separated by commas are needed' % x not in r[2]]
ok(not wrong, 'compare refuses what is no list of seeds', wrong)
small = [*SMALL[:-2], '--policy', 'float32', '--steps']
rows = json.loads(run('bench', 'train', *small, '2', '--steps', 'warm=3', '--seeds', '3,4', '--json')[1])
said, want = [(r['seed'], r['digest'], r['loss'], r['accuracy']) for r in rows], []
for seed in (3, 4):
    run('train', *small, '5', '--seed', str(seed), '--trace', 'steps=none', 'seed%d' % seed)
    r = table('seed%d/metrics.tsv' % seed)[-1]
    want.append((seed, r['digest'], float(r['loss']), float(r['eval_accuracy'])))
ok(
    said == want, 'bench train: seed, loss, accuracy and digest of each row are those of the same training',
    [said, want]
)
rows = json.loads(run('bench', 'train', *small, '2', '--json')[1])
ok([r['seed'] for r in rows] == [None], 'and no seed where none is asked for', rows)
lacks = 'neon' if os.uname().machine in ('x86_64', 'i686') else 'avx2'
rows = json.loads(run('bench', 'train', *small, '2', '--backend', 'simd=scalar,' + lacks, '--json')[1])
ok(
    [(r['simd'], r['ms'] is not None, lacks in (r['note'] or '')) for r in rows]
    == [('scalar', True, False), (lacks, False, True)],
    'an instruction set that the processor lacks has a row without a time, which names it',
    rows,
)


# --- what a run begins with: running statistics as well, the formats of clipped gradients, a published model's size
def values(path):
    """A file's tensors as bytes, by name, and where each begins in the file."""
    b = open(path, 'rb').read()
    n = 8 + struct.unpack('<Q', b[:8])[0]
    at = {k: v['data_offsets'] for k, v in json.loads(b[8:n]).items() if k != '__metadata__'}
    return b, {k: (n + low, n + high) for k, (low, high) in at.items()}


image = ('--model', 'convnet', *SMALL[:-2], '--steps', '1', '--trace', 'steps=none', '--policy', 'float32')
run('train', *image, 'f')
path = 'checkpoint/step-000001.safetensors'
b, at = values('%s/f/%s' % (home, path))
for name, by in (('same', 0), ('moved', 4.0)):
    c = bytearray(b)
    for k in at:
        if k.endswith(('.rm', '.rv')):
            old = struct.unpack_from('<%df' % ((at[k][1] - at[k][0]) // 4), c, at[k][0])
            struct.pack_into('<%df' % len(old), c, at[k][0], *(x + by for x in old))
    open('%s/%s.safetensors' % (home, name), 'wb').write(c)
    run('train', *image, '--init', name + '.safetensors', name)
ends = [values('%s/%s/%s' % (home, name, path)) for name in ('same', 'moved')]
moved = {
    k: {
        round(y - x, 4)
        for x, y in zip(*(struct.unpack('<%df' % ((at[k][1] - at[k][0]) // 4), e[0][slice(*e[1][k])]) for e in ends))
    }
    for k in at
    if k.endswith(('.rm', '.rv'))
}
ok(len(moved) == 6 and len(set.union(*moved.values())) == 1 and set.union(*moved.values()) < {3.6, 3.96},
   'running means and variances begin with those of --init: 4 more become one momentum of 4 more', moved)
run('train', *SMALL[:-2], '--steps', '1', '--policy', 'float16', '--optimizer', 'clip_norm=0.5', '--trace',
    'steps=none', 'g')
form = {t['name']: t['format'] for t in json.load(open(home + '/g/program-train.json'))['tensors']}
clipped = [k for k in form if k.endswith('_clipped')]
ok(len(clipped) == 6 and {form[k] for k in clipped} == {'fp16'}, 'clipped gradients keep their format', form)
plan = json.loads(run('plan', '--model', 'ncf:layers=3,hidden=4', '--data', 'users=9,items=130', '--json')[1])[0]
towers = (9 + 130) * (4 + 16) + (32 * 16 + 16) + (16 * 8 + 8) + (8 * 4 + 4)  # each layer has half of the units before
ok(plan['parameters'] == towers + (4 + 4) + 1, 'neural collaborative filtering of three layers: its parameters',
   plan['parameters'])

# --- bench why: ratios
code, out, err = run('bench', 'why', '--data', 'size=8', '--batch', '16', '--model', 'width=0.05', '--steps', '2',
                     '--json')
rows = json.loads(out) if code == 0 else []
wrong = [
    r
    for r in rows
    if r.get('measured_ms') is not None and abs(r['ratio'] * r['predicted_ms'] / r['measured_ms'] - 1) > 1e-9
]
ok(
    len(rows) > 5 and not wrong, 'bench why: ratio is measured over predicted in each of %d rows' % len(rows),
    [err, wrong]
)

# --- doctor: memory of this machine
j = json.loads(run('doctor', '--json')[1])
said = [
    float(v) * 1000.0 ** ' kMGT'.index(u[0])
    for v, u in re.findall(r'([\d.]+) ([kMGT])B', re.search(r'^memory.*$', run('doctor')[1], re.M)[0])
]
ok(
    len(said) == 2
    and abs(said[0] / j['ram_bytes'] - 1) < 0.02
    and said[1] < said[0]
    and abs(said[1] - j['ram_free_bytes']) < 0.2 * said[0],
    'doctor: memory, and what of it is free',
    [said, j['ram_bytes'], j['ram_free_bytes']],
)
# --- doctor: gnuplot is there where it answers
for name, line, code, want in (
    ('good', 'gnuplot 9.9', 0, 'gnuplot 9.9'),
    ('dies', 'gnuplot 9.9', 1, None),
    ('mute', '', 0, None),
):
    open(home + '/' + name, 'w').write('#!/bin/sh\ntest -z "%s" || echo "%s"\nexit %d\n' % (line, line, code))
    os.chmod(home + '/' + name, 0o755)
    os.environ['GNUPLOT'] = home + '/' + name
    j = json.loads(run('doctor', '--json')[1])
    ok(j['gnuplot'] == want, 'doctor: a gnuplot that %s is %s' % (name, want), j['gnuplot'])
tap.finish()
