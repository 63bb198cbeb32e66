#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What check, gate and diff print for a person: the verdict first, ten lines where a run holds, tables within 80 columns
# on a terminal of that width, and the decision in the last line, whose numbers are those of --json.
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

os.chdir(tap.home())
env = dict(os.environ, COLUMNS='80', OMP_WAIT_POLICY='passive')
env.pop('HALFULP_RESULTS', None)


def run(*words, **more):
    p = subprocess.run([tap.HALFULP, *words], env=dict(env, **more), stdin=subprocess.DEVNULL, capture_output=True,
        text=True)
    return p.returncode, p.stdout.rstrip('\n').split('\n'), p.stderr


def table(lines):
    """The rows of the table at the head of LINES, each a dictionary; "-" is nothing."""
    heads = [(m.group(), m.start(), m.end()) for m in re.finditer(r'\S+(?: \S+)*', lines[0])]
    rows = []
    for line in lines[1:]:
        cells = re.findall(r'\S+(?: \S+)*', line)
        if len(cells) != len(heads):
            break
        rows.append(dict(zip([h[0] for h in heads], cells)))
    return rows


def fits(lines, what):
    rows = table(lines)
    tap.none([line for line in lines[:len(rows) + 1] if len(line) > 80], '%s: its table fits 80 columns' % what)
    return rows


def write(path, tensors):
    """A safetensors file of vectors of float32."""
    head, body = {}, b''
    for name, values in tensors.items():
        data = struct.pack('<%df' % len(values), *values)
        head[name] = {'dtype': 'F32', 'shape': [len(values)], 'data_offsets': [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + body)


# Files: twenty tensors, of which two drift
was = {'layer.%02d.weight' % i: [1, 2, 3, 4 + i] for i in range(20)}
write('was.safetensors', was)
write('is.safetensors', {k: v[:3] + [v[3] + 0.25 * (k[6:8] in ('03', '11'))] for k, v in was.items()})
rule = ['--rule', '*: rel <= 1e-3']
code, out, err = run('check', 'is.safetensors', '--baseline', 'was.safetensors', *rule)
rows = fits(out, 'check of files')
said = json.loads('\n'.join(run('check', 'is.safetensors', '--baseline', 'was.safetensors', *rule, '--json')[1]))
wrong = [r for r in said['rows'] if not r['ok']]
tap.ok(code == 1 and out[0].startswith('verdict  name'), 'the verdict is the first column', out)
tap.ok([r['name'] for r in rows] == [r['name'] for r in wrong] and {r['verdict'] for r in rows} == {'fail'},
       'where names fail, these are the rows', out)
tap.ok(all(abs(float(r['rel']) - w['rel']) < 5e-4 * w['rel'] for r, w in zip(rows, wrong)), 'rel is that of --json',
    out)
tap.ok(out[-1].startswith('is.safetensors drifted: 2 of 20 names fail, worst: %s, ' % wrong[0]['name'])
       and len(out[-1]) < 160, 'the last line is the decision, and names the worst', out[-1])
tap.ok(sum('layer.03.weight: ' in line for line in out) == 1 and any('18 hold' in x or '18 more hold' in x
    for x in out),
       'each failure is explained once, and the rest is counted', out)
code, out, err = run('check', 'was.safetensors', '--baseline', 'was.safetensors')
rows = fits(out, 'check of the same file')
tap.ok(code == 0 and len(out) <= 10 and len(rows) == 7 and '13 more hold; --format tap lists them all' in out,
       'a file that holds is ten lines', out)
tap.ok(out[-1] == 'was.safetensors holds: the rules of 20 names are kept, 20 have the same values',
    'and its decision', out)
write('long.safetensors', {'ä' * 200: [2]})
write('other.safetensors', {'ä' * 200: [3]})
code, out, err = run('check', 'long.safetensors', '--baseline', 'other.safetensors')
tap.ok(code == 1 and len(out[-1]) == 159 and out[-1].endswith('ä…'), 'a long decision is cut between letters',
    out[-1])
rows = fits(run('diff', 'was.safetensors', 'is.safetensors')[1], 'diff of files')
tap.ok([r['name'] for r in rows] == [r['name'] for r in said['rows'] if r['differ']], 'diff has what differs', rows)
missing = {k: v for k, v in was.items() if '03' not in k}
write('missing.safetensors', missing)
out = run('diff', 'was.safetensors', 'missing.safetensors')[1]
tap.ok('layer.03.weight is in was.safetensors alone' in out, 'what one file has alone is told', out)

# The formats: --tap, the environment, and what is not known
tapped = run('check', 'is.safetensors', '--baseline', 'was.safetensors', *rule, '--tap')[1]
tap.ok(tapped[1] == '1..20' and tapped == run('check', 'is.safetensors', '--baseline', 'was.safetensors', *rule,
       HALFULP_RESULTS='tap')[1], '--tap is TAP, and so is HALFULP_RESULTS=tap', tapped)
junit = run('check', 'is.safetensors', '--baseline', 'was.safetensors', '--format', 'junit', HALFULP_RESULTS='tap')[1]
tap.ok(junit[0].startswith('<?xml'), '--format comes before the environment', junit)
code, out, err = run('check', 'is.safetensors', '--baseline', 'was.safetensors', HALFULP_RESULTS='yaml')
tap.ok(code == 2 and '--format yaml: tap, junit' in err, 'a format that there is none of is refused', err)
code, out, err = run('check', 'nowhere.npz', '--baseline', 'was.safetensors')
tap.ok(code > 1 and out == [''] and err.count('\n') == 1, 'where nothing can be judged there is one line', [out, err])

# Sums, whose table is narrower on such a terminal, and has the numbers of --json
sums = ['accumulate', '--n', '4096', '--format', 'fp16,bf16', '--sum', 'tc:hopper', '--sum', 'kahan']
code, out, err = run(*sums)
rows = fits(out[1:], 'accumulate')
said = json.loads('\n'.join(run(*sums, '--json')[1]))
want = [(r['format'], r['sum'], '%.4g' % r['relative'], str(r['first_swamped'] or '-'),
    str(r['stagnation_term'] or '-')) for r in said]
got = [(r['format'], r['sum'], r['relative'], r['1st lost'], r['stops at']) for r in rows]
tap.ok(got == want and len(got) == 4, 'accumulate: rows of the narrow table are those of --json', [got, want])
tap.ok('exact' in run(*sums, COLUMNS='140')[1][1], 'a wide terminal has the exact sum too')

# Runs
train = '--model mlp:width=0.125 --data size=8,train=128,eval=32 --batch 32 --epochs 1 --policy mixed_float16'.split()
run('train', *train, '--quiet', 'first')
run('analyze', 'first')
run('baseline', 'first', '-o', 'base.tsv', '--reason', 'test')
code, out, err = run('gate', '--baseline', 'base.tsv', 'green', '--', *train)
rows = fits(out, 'a green gate')
tap.ok(code == 0 and len(out) == 10, 'a green gate prints ten lines', out)
tap.ok({r['quantity'] for r in rows} >= {'loss', 'eval_loss', 'eval_accuracy'} and all(r['baseline'] == r['run']
       for r in rows), 'the losses and scores of the last step among them', out)
tap.ok(re.match(r'green holds: all \d+ quantities are as in base\.tsv', out[-1]), 'and the decision', out[-1])
for more in ({}, {'COLUMNS': '200'}):
    code, out, err = run('gate', '--baseline', 'base.tsv', 'red%d' % len(more), '--', *train,
                         '--optimizer', 'lr=0.002', **more)
    if not more:
        rows = fits(out, 'a red gate')
    tap.ok(code == 1 and re.match(r'red\d drifted: \d+ of \d+ quantities fail, worst: ', out[-1])
        and len(out[-1]) < 160,
           'a red gate ends with its decision', out[-1])
    cause = 'Most likely cause: another setting: optimizer:lr 0.001 -> 0.002'
    tap.ok(any(x.startswith(cause) for x in out), 'the cause', out)
    tap.ok(sum(x.startswith('First: step ') for x in out) == 1, 'and where it moved first', out)
found = json.loads('\n'.join(run('check', 'red0', '--baseline', 'base.tsv', '--json')[1]))
count = re.search(r'drifted: (\d+) of (\d+)', out[-1])
tap.ok([int(x) for x in count.groups()] == [found['failed'], found['quantities']], 'its counts are those of --json',
    out[-1])
moved = {(f['quantity'].split('/')[-1], '%.6g' % f['baseline'], '%.6g' % f['run']) for f in found['findings']
    if not f['ok'] and isinstance(f['baseline'], float) and isinstance(f['run'], float)}
tap.none([r for r in rows if not any(re.fullmatch(re.escape(r['quantity'].split(' ')[-1]).replace('…', '.*'), q) and
                                     (r['baseline'], r['run']) == values for q, *values in moved
                                     for values in [tuple(values)])],
         'each row is a quantity that moved, with both values')
tap.finish()
