# SPDX-License-Identifier: Apache-2.0
# What commands say of a training, each number computed again from the run's files: the lines and the JSON of train, the counts
# of data sets that files hold, verify's refusal of a changed program, the ratios of bench why, and memory as doctor prints it.
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
import tap
from tap import ok

home = tap.home()
SMALL = ('--size', '8', '--train', '48', '--eval', '24', '--batch', '16', '--width', '0.05', '--trace-steps', 'none')


def run(*words):
    p = tap.halfulp(*words, cwd=home)
    return p.returncode, p.stdout, p.stderr


def table(path):
    lines = [x.split('\t') for x in open(os.path.join(home, path)).read().splitlines() if not x.startswith('#')]
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def manifest(path):
    return json.load(open(os.path.join(home, path, 'manifest.json')))


# --- train: its lines and its JSON
code, out, err = run('train', *SMALL, '--epochs', '3', '--policy', 'mixed_float16', 'a')
ends = [r for r in table('a/metrics.tsv') if r['eval_loss'] != '-']
want = [
    '%d/3 %d %.4f %.4f %.2f %.2f %.2f'
    % (
        int(r['epoch']) + 1,
        int(r['step']) + 1,
        float(r['loss']),
        float(r['eval_loss']),
        100 * float(r['eval_accuracy']),
        100 * float(r['eval_precision']),
        100 * float(r['eval_recall']),
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
    code == 0 and got == want and len(got) == 3,
    'a line an epoch, whose numbers are those of metrics.tsv',
    [err, got, want],
)
last = ends[-1]
ok(
    'a: loss %.4f, eval_loss %.4f, accuracy %.2f %% after %d steps'
    % (float(last['loss']), float(last['eval_loss']), 100 * float(last['eval_accuracy']), int(last['step']) + 1)
    in out,
    'and the last line',
    out,
)
code, out, err = run('train', *SMALL, '--epochs', '3', '--policy', 'mixed_float16', '--json', 'b')
j = json.loads(out)
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
    },
    'the same as JSON',
    out,
)

# --- data sets of files: each part has its own count
os.mkdir(home + '/idx')
for part, n in (('train', 40), ('t10k', 24)):
    with open('%s/idx/%s-images-idx3-ubyte' % (home, part), 'wb') as f:
        f.write(struct.pack('>IIII', 0x803, n, 8, 8) + bytes((i * 37 + i // 64) % 256 for i in range(n * 64)))
    with open('%s/idx/%s-labels-idx1-ubyte' % (home, part), 'wb') as f:
        f.write(struct.pack('>II', 0x801, n) + bytes(i % 10 for i in range(n)))
code, out, err = run(
    'train', '--data', 'idx:idx', '--batch', '8', '--width', '0.05', '--steps', '2', '--trace-steps', 'none', 'c'
)
d = manifest('c')['dataset'] if code == 0 else {}
ok(
    (d.get('train'), d.get('eval')) == (40, 24) and 'arrays' not in d,
    'idx: 40 to train on and 24 to evaluate, and images need no list of arrays',
    [err, d],
)
code, out, err = run('train', '--data', 'idx:idx', '--size', '8', '--steps', '2', 'd')
ok(code == 2 and '--size' in err, 'an option that the data set does not read is refused', err)

# --- options that one policy of several reads
code, out, err = run(
    'compare', *SMALL[:-2], '--steps', '2', '--policies', 'mixed_float16,float32', '--init-scale', '1024'
)
ok(code == 0, 'compare takes an option that the first of its policies reads', err)

# --- verify: an untouched run is the same; one whose program was changed, at the same length, is refused by its checksum
code, out, err = run('verify', 'a')
same = code == 0
path = home + '/b/program-train.json'
text = open(path).read()
changed = text.replace('"dense1"', '"densf1"', 1)
open(path, 'w').write(changed)
code, out, err = run('verify', 'b', '--json')
ok(same and changed != text and code == 3 and not out and 'program-train.json: its checksum is ' in err and err.count('\n') == 1,
        'verify refuses a run whose program was changed', [same, code, out, err])

# --- bench why: ratios
code, out, err = run('bench', 'why', '--size', '8', '--batch', '16', '--width', '0.05', '--steps', '2', '--json')
rows = json.loads(out) if code == 0 else []
wrong = [
    r
    for r in rows
    if r.get('measured_ms') is not None and abs(r['ratio'] * r['predicted_ms'] / r['measured_ms'] - 1) > 1e-9
]
ok(
    len(rows) > 5 and not wrong,
    'bench why: ratio is measured over predicted in each of %d rows' % len(rows),
    [err, wrong],
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
tap.finish()
