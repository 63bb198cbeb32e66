#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What GPUs and processors returned (doc/measured): the page says what the tables say, every training has the CPU's
# digest, the program's model of a matrix instruction answers today what the hardware answered, and steps beside
# PyTorch's have the ratios of their times and the losses of one computation.
import os
import sys

sys.path.insert(0, os.path.join(os.environ.get('srcdir', '.'), 't', 'tool'))
from tap import TOP, finish, halfulp, home, none, ok, skip

measured = os.path.join(TOP, 'doc', 'measured')
MODELS = {'h200': 'tc:hopper'}


def table(path):
    lines = [line for line in open(path, encoding='utf-8').read().splitlines() if not line.startswith('#')]
    columns = lines[0].split('\t')
    return [dict(zip(columns, line.split('\t'))) for line in lines[1:]]


def words(path, start):
    """The first argument of each row of a .def file that begins so."""
    return [
        line[len(start) :].split(',')[0].split(')')[0].strip('" ')
        for line in open(os.path.join(TOP, path), encoding='utf-8')
        if line.startswith(start)
    ]


sys.path.insert(0, measured)
sys.dont_write_bytecode = True
import page

ok(page.text() == open(os.path.join(measured, 'README.md'), encoding='utf-8').read(), 'the page is what page.py writes')
for folder in sorted(f for f in os.listdir(measured) if os.path.isdir(os.path.join(measured, f)) and f not in MODELS):
    wrong, rows = [], 0
    for name in sorted(n for n in os.listdir(os.path.join(measured, folder)) if n.endswith('.tsv')):
        of = {}
        for r in table(os.path.join(measured, folder, name)):
            of.setdefault(r['model'], {})[r['who']] = r
        for model, r in of.items():
            rows += 1
            for ours, theirs, apart in ('float32', 'PyTorch', 1e-4), ('mixed_float16', 'float32', 1e-2):
                ratio = float(r[ours]['ms']) / float(r[theirs]['ms'])
                losses = [float(r[w]['first_loss']) for w in (ours, theirs)]
                if abs(ratio - float(r[ours]['ms_ratio'])) > 0.02 or abs(losses[0] - losses[1]) > apart * losses[1]:
                    wrong.append('%s, %s: %s' % (name, model, ours))
    none(wrong, '%s: %d models have the ratios of their times and the losses of one computation' % (folder, rows))
for folder, model in sorted(MODELS.items()):
    at = {
        name[:-4]: table(os.path.join(measured, folder, name))
        for name in os.listdir(os.path.join(measured, folder))
        if name.endswith('.tsv')
    }
    have = {(r['model'], r['policy']) for r in at['digests']}
    policies = words('lib/program/policy/policies.def', 'POLICY(')
    want = {(m, p) for m in words('trainer/model/models.def', 'MODEL(') for p in policies}
    none(sorted(want - have), '%s: each of %d policies with every model' % (folder, len(policies)))
    for name in 'digests', 'parity', 'ranks':
        wrong = [r for r in at[name] if r['digest'] != r['cpu_digest'] or not r['digest'].startswith('0x')]
        none(wrong, "%s: %s: %d trainings have the CPU's digest" % (folder, name, len(at[name])))
    of = {}
    for r in at['ranks']:
        of.setdefault(r['model'], set()).add(r['digest'])
    none([m for m in of if len(of[m]) != 1], '%s: a model has one digest for any number of ranks' % folder)
    wrong = [r for r in at['gemm'] if r['check'] != ('bits' if r['gemm'] == 'mma' else 'bound')]
    none(wrong, '%s: %d products were checked, by their bits or their bound' % (folder, len(at['gemm'])))
    none([r for r in at['parts'] if r['verdict'] == 'failed'], '%s: no part failed' % folder)
    random = {r['instruction']: r for r in at['probe'] if r['probe'] == 'random'}
    wrong = [i for i, r in random.items() if r['device'] != '0' or int(r['inputs'].split()[0]) < 3000000]
    wrong += sorted({r['instruction'] for r in at['probe']} - set(random))
    none(wrong, '%s: of millions of random sums of %d instructions none differed' % (folder, len(random)))
    now = os.path.join(home(), 'now.tsv')
    done = halfulp('probe', '--backend', 'shim', '--model', model, '-o', now)
    if not os.path.exists(now):
        skip('%s: what the model answers' % folder, done.stderr.strip())
        continue
    answers = {(r['instruction'], r['probe'], r['inputs']): r['model'] for r in table(now)}
    directed = [r for r in at['probe'] if r['probe'] != 'random']
    wrong = [r for r in directed if answers.get((r['instruction'], r['probe'], r['inputs'])) != r['device']]
    none(wrong, '%s: the model answers %d questions as the hardware did' % (folder, len(directed)))
finish()
