# SPDX-License-Identifier: Apache-2.0
# The independent judge: every number of summary.json and every column of the tables that the analyzers write, and what
# training writes, computed again from the files of small runs by exact rationals, integers and enclosures
# (t/independent/), which share no code with the program. A table, column or key that nothing here recomputes fails.
# Errors in ulps must agree exactly.
import importlib
import json
import math
import os
import random
import re
import subprocess
import sys
import time
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from independent import baseline, loss_scale, nonfinite, replay, said, state, summary, swamping, timeline, training, underflow, what_if  # noqa: E402
from independent.expect import Unknown, compare  # noqa: E402
from independent.files import Run, table  # noqa: E402
from independent.number import fl, log2floor, pow2  # noqa: E402
from independent.tampered import forget, long_history, tamper  # noqa: E402
from independent.traced import Traced  # noqa: E402
from sealed import is_whole  # noqa: E402
from tap import HALFULP, bail_out, finish, home, ok  # noqa: E402

agreed = {}   # cells that agreed by table and column
tables = {}   # by analyzer's table, in how many runs


def run(*words, code=0):
    r = subprocess.run([HALFULP, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode != code:
        bail_out('halfulp %s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr.strip()))
    return r.stdout


def near(x, lo, hi):
    """A reference of 200 bits or more of a value between lo and hi."""
    if lo == hi == x:
        return True
    if lo == 0 or hi == 0:
        return False
    slack = pow2(log2floor(lo) - 198)
    return lo - slack <= x <= hi + slack


def parse_hex(text):
    """A hex float of any precision as a Fraction."""
    sign = -1 if text.startswith('-') else 1
    mantissa, _, exponent = text.lstrip('-').lower()[2:].partition('p')
    whole, _, part = mantissa.partition('.')
    return sign * Q(int(whole + part, 16)) * pow2(int(exponent or 0) - 4 * len(part))


def widest(r):
    """What replay says that its propagated figures are off by at most; the figures' own sums add their roundings."""
    head = open(r.analysis('replay.tsv')).read().split('\nstep\t')[0]
    found = re.search(r'off by at most (\S+) of themselves', head)
    return 1e-12 + (float(found[1]) if found else 0)


def elements_file(r, states, path):
    """The rows of --elements: every judged output, its exact value to 200 bits, its error."""
    wrong, rows = [], {(int(x['step']), x['tensor'], int(x['element'])): x for x in table(path)[1]}
    done = 0
    for step, call, name, i, j, n in replay.element_rows(r, states):
        row = rows.get((step, name, i))
        if row is None:
            wrong.append('%s[%d] of step %d has no row' % (name, i, step))
            continue
        done += 1
        x = j.exact[n]
        if int(row['call']) != call or float(row['error_ulps']) != j.ulps[n] or float(row['got']) != float(j.got[n]) or not near(parse_hex(row['exact_hex']), x.lo, x.hi):
            wrong.append('%s[%d]: %r here, %s there; exact %r here, %s there' % (name, i, j.ulps[n], row['error_ulps'], float(x.lo), row['exact_hex'][:40]))
    ok(done >= 300 and not wrong and len(table(path)[0]) == 7, '%s: %d outputs of --elements, exact value and error' % (os.path.basename(r.path), done), '\n'.join(wrong[:8]))
    wrong, rows = [], table(path + '.swamping')[1]
    for row in rows:
        s = states[int(row['step'])]
        call = r.calls[int(row['call'])]
        k = [r.tensors[t]['name'] for t in call['out']].index(row['tensor'])
        count = s.counts(call, k, int(row['element']))
        mine = (count.additions, count.swamped, int(count.run >= 8)) if count else (0, 0, 0)
        if mine != (int(row['additions']), int(row['swamped']), int(row['stagnated'])):
            wrong.append('%s[%s]: %r here, %r there' % (row['tensor'], row['element'], mine, row))
    ok(rows and not wrong, '%s: %d sums of --elements, their swamped additions' % (os.path.basename(r.path), len(rows)), '\n'.join(wrong[:8]))


def sample_of(path, n, r):
    """The elements judged, by step and tensor: ascending, as many as were asked for or there are."""
    by, wrong = {}, []
    for row in table(path)[1]:
        by.setdefault(int(row['step']), {}).setdefault(row['tensor'], []).append(int(row['element']))
    for step, tensors in by.items():
        for t in r.tensors:
            e = tensors.get(t['name'])
            if e is not None and (e != sorted(set(e)) or len(e) != min(n, math.prod(t['shape'])) or e[-1] >= math.prod(t['shape'])):
                wrong.append('%s: %r' % (t['name'], e))
    ok(by and not wrong, '%s: samples of %d elements are distinct, ascending and whole' % (os.path.basename(r.path), n), '\n'.join(wrong[:8]))
    return by


def additional():
    """Modules beside the judge's that need no line in this file: tables(run, states) gives each table's rows by its name,
    and HELD, where there is one, the columns of them that check holds, as in baseline.py."""
    names = sorted(f[:-3] for f in os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'independent')) if f.endswith('.py'))
    modules = [importlib.import_module('independent.' + n) for n in names if n != '__init__']
    for m in modules:
        if m is not baseline:
            baseline.HELD.update(getattr(m, 'HELD', {}))
    return [m for m in modules if hasattr(m, 'tables')]


def judge(name, words, analyze=(), sample=None, lost=1e-3, models=(), tampered=(), code=0, history=False):
    """Analyses the run NAME, made by `train WORDS` where there are some, and compares all that analysis/ holds."""
    start, path = time.time(), os.path.join(folder, name)
    if words:
        run('train', *words, '--quiet', path)
    if history:
        long_history(path)
    elements = path + '.elements'
    options = ['--sample', str(sample) if sample else 'all', *([] if '--no-propagate' in analyze else ['--lost', str(lost)]), *analyze] + (['--elements', elements] if sample else [])
    for m in models:
        options += ['--accumulate', m]
    told = run('analyze', *options, path, code=code)
    r = Run(path)
    by = sample_of(elements, sample, r) if sample else {}
    ideal = '--no-propagate' not in analyze
    states = {step: Traced(r, step, by.get(step), ideal, widest(r)) for step in r.steps}
    if sample:
        elements_file(r, states, elements)
    expected = {'replay': list(replay.rows(r, states, {(f[0], f[1]): sum(g[:2] == f[:2] for g in tampered) for f in tampered})), 'faults': replay.fault_rows(r, states, tampered)}
    expected['swamping'], expected['swamping-ratio'] = swamping.rows(r, states)
    expected['state'] = list(state.rows(r, states))
    expected['underflow'], expected['exponents'] = list(underflow.rows(r, states)), list(underflow.exponent_rows(r, states))
    expected['loss-scale'], expected['loss-scale-safe'] = loss_scale.rows(r, states, lost)
    expected['loss-scale-timeline'] = list(timeline.rows(r))
    if models:
        expected['accumulate-what-if'], expected['accumulate-what-if-total'] = what_if.rows(r, states, models)
    for module in additional():
        expected.update(module.tables(r, states))
    there = sorted(f[:-4] for f in os.listdir(os.path.join(path, 'analysis')) if f.endswith('.tsv'))
    others = [f for f in os.listdir(os.path.join(path, 'analysis')) if not f.endswith('.tsv') and f != 'summary.json']
    ok(there == sorted(expected) and not others, '%s: each of the %d tables is recomputed' % (name, len(there)), 'there: %s, here: %s, and %s' % (there, sorted(expected), others))
    broken = [t for t in there if not is_whole(r.analysis(t + '.tsv'))]
    ok(not broken, '%s: each table has the rows and the checksum that it says' % name, ' '.join(broken))
    for t in there:
        wrong = compare(r.analysis(t + '.tsv'), agreed, expected[t], t) if t in expected else []
        tables[t] = tables.get(t, 0) + bool(expected.get(t))
        ok(not wrong, '%s: %s.tsv, %d rows' % (name, t, len(expected.get(t, []))), '%d differences\n' % len(wrong) + '\n'.join(wrong[:12]))
    wrong = said.notes(r, len(r.steps) * ideal)
    ok(not wrong, '%s: the counts in the head of replay.tsv' % name, '\n'.join(wrong))
    wrong = said.compare(r, told, expected)
    ok(not wrong, '%s: the lines that analyze prints' % name, '\n'.join(wrong))
    wrong, numbers = summary.compare(r, sample or 0)
    for key, n in numbers.items():
        agreed['summary', key] = agreed.get(('summary', key), 0) + n
    ok(not wrong, '%s: summary.json' % name, '\n'.join(wrong[:12]))
    print('# %s: %.1f s' % (name, time.time() - start))


def rounding():
    """The judge's own rounding on values with known answers."""
    known = [(Q(1) + pow2(-11), 'fp16', Q(1)), (Q(1) + 3 * pow2(-11), 'fp16', Q(1) + pow2(-9)), (Q(65519), 'fp16', Q(65504)), (Q(65520), 'fp16', 'inf'),
             (pow2(-25), 'fp16', Q(0)), (3 * pow2(-26), 'fp16', pow2(-24)), (Q(464), 'e4m3', Q(448)), (Q(465), 'e4m3', 'nan'), (pow2(-10), 'e4m3', Q(0))]
    ok(all(fl(x, f) == y for x, f, y in known), 'rounding of known values')


def everything():
    """No column and no key was left out in all of the runs."""
    never = sorted('%s.%s' % c for c, n in agreed.items() if not n and c not in [('metrics', 'eval_' + x) for x in training.ELSEWHERE])
    ok(len(agreed) > 190 and not never, 'each of %d columns and keys was recomputed in some row' % len(agreed), 'never: ' + ' '.join(never))
    ok(all(tables.values()), 'each of %d tables had rows' % len(tables), 'empty in all runs: %s' % [t for t, n in tables.items() if not n])


folder = home()
MLP = ['--model', 'mlp:width=0.03125', '--data', 'size=8,train=40,eval=8', '--batch', '8']
CONVNET = ['--model', 'convnet:width=0.03125', '--data', 'size=8,train=24,eval=8', '--batch', '4']
MODELS = ['sequential,acc=fp16', 'fma,acc=bf16', 'chunk:16,acc=fp16', 'openblas:20,acc=fp16', 'pairwise,acc=fp16', 'kahan,acc=fp16', 'neumaier,acc=bf16', 'dot2,acc=fp16', 'fabsum:8,acc=fp16', 'splitk:4,acc=fp16', 'promote:16,acc=fp16',
          'ring:5,acc=fp16', 'halving:12,acc=fp16', 'hier:21:4,acc=fp32,wire=fp16', 'fma,acc=fp16,mode=SR', 'tc:volta', 'tc:hopper,out=fp16,path=wgmma']


def of_nothing():
    """The summary of a training whose last losses are no numbers, and of traces without anything to judge."""
    lost = ['--policy', 'float16', '--optimizer', 'lr=1e3', '--steps', '4']
    for name, words, wanted in (
        ('lost', lost + ['--trace', 'steps=0'], {'final_loss': 'not finite'}),
        ('late', lost + ['--trace', 'steps=3'], {'final_loss': 'not finite', 'zeroed_share': None}),
        ('bare', ['--policy', 'float32', '--steps', '2', '--trace', 'dense1.w'], {'worst_ulp': None, 'worst_bound_ratio': None, 'judged_outputs': 0, 'zeroed_share': 0}),
        ('few', ['--policy', 'mixed_float16', '--steps', '2', '--trace', 'dense1.w'], {'worst_ulp': None, 'zeroed_share': None}),
    ):
        path = os.path.join(folder, name)
        run('train', *MLP, *words, '--quiet', path)
        run('analyze', path)
        wrong, _ = summary.compare(Run(path), 2048)
        there = json.load(open(os.path.join(path, 'analysis', 'summary.json')))
        wrong += ['%s is %r, not %r' % (k, there['numbers'][k], v) for k, v in wanted.items() if there['numbers'][k] != v]
        wrong += [s for s in there['verdict'] if name in ('bare', 'few') and 'every judged' in s]
        ok(not wrong, '%s: summary.json' % name, '\n'.join(wrong))


def epsilon():
    """An epsilon that is 0 in the format divides by 0 where a gradient is 0."""
    path = os.path.join(folder, 'epsilon')
    words = ['--steps', '1', '--trace', 'steps=0', '--policy', 'float16', '--optimizer', 'eps=1e-8', '--loss-scale', 'none']
    run('train', *MLP, *words, '--quiet', path)
    run('analyze', '--sample', '16', path)
    r = Run(path)
    mine = nonfinite.tables(r, {0: Traced(r, 0, ideal=False)})['nonfinite']
    wrong = compare(r.analysis('nonfinite.tsv'), agreed, mine, 'nonfinite')
    said = json.load(open(r.analysis('summary.json')))
    good = [x['cause'] for x in mine] == ['zero_constant'] and '1e-08 becomes 0 in fp16' in said['verdict'][0]
    ok(good and not wrong, 'epsilon: the first NaN and the constant that made it', '\n'.join(wrong + said['verdict']))


def opaque():
    """A recorded step in which two calls are made opaque: one before some gradients, and the update of one weight."""
    path = os.path.join(folder, 'opaque')
    run('train', *MLP, '--steps', '2', '--trace', 'steps=1', '--policy', 'mixed_bfloat16',
        '--optimizer', 'lr=1e-5', '--quiet',
        path)
    file = os.path.join(path, 'program-train.json')
    program = json.load(open(file))
    names = [t['name'] for t in program['tensors']]
    backward = [c for c in program['calls'] if c['op'] == 'relu_dx'][-1]
    for c in [backward] + [c for c in program['calls'] if names[c['out'][0]] == 'dense3.w_next']:
        c.update(op='opaque', attr={}, opaque={'name': 'aten.' + c['op'], 'reason': 'no such operator'})
    json.dump(program, open(file, 'w'))
    forget(path, 'program-train.json')
    judge('opaque', [], sample=12)


def faulty():
    """A trace with wrong numbers in it, and a history of 5000 steps."""
    path = os.path.join(folder, 'faulty')
    run('train', *MLP, '--steps', '2', '--trace', 'steps=0,1', '--policy', 'float32', '--quiet', path)
    for place, by in ((7, 0.25), (3, -1.0)):
        tamper(path, 1, 'dense2.xw', place, by)
    listed = [(1, 'dense2.xw', 3), (1, 'dense2.y', 3), (1, 'dense2.xw', 7), (1, 'dense2.y', 7)]
    for step in (1, 0):
        for name, place in (('optim.grad_norm', 0), ('dense2.b_next', 3), ('dense2.b_next', 1)):
            tamper(path, step, name, place, math.inf)
            listed.append((step, name, place))
    judge('faulty', [], history=True, tampered=listed, code=1)


def faulty_short(policy, bits):
    """Wrong numbers in a format of 16 bits, whose bounds are told in its ulps."""
    path = os.path.join(folder, 'faulty' + bits)
    run('train', *MLP, '--steps', '2', '--trace', 'steps=1', '--policy', policy, '--loss-scale', 'none', '--quiet', path)
    for place, by in ((7, 0.25), (3, -1.0)):
        tamper(path, 1, 'dense2.xw', place, by)
    judge('faulty' + bits, [], tampered=[(1, 'dense2.xw', 3), (1, 'dense2.y', 3), (1, 'dense2.xw', 7), (1, 'dense2.y', 7)], code=1)


def recorded():
    """A baseline of three runs that differ in the order of their sums."""
    runs = []
    for name, model in (('one', 'fma,acc=fp32'), ('two', 'pairwise,acc=fp32'), ('three', 'chunk:8,acc=fp32')):
        path = os.path.join(folder, name)
        run('train', *MLP, '--steps', '3', '--trace', 'steps=2', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--accumulate', model, '--quiet', path)
        run('analyze', path)
        runs.append(Run(path))
    path = os.path.join(folder, 'base.tsv')
    run('baseline', runs[0].path, '-o', path, '--reason', 'test', '--ulps', '2', *(r.path for r in runs[1:]))
    place = {row['quantity']: i for i, row in enumerate(table(path)[1])}  # what a reviewer reads comes first
    mine = sorted(baseline.rows(runs, 2), key=lambda row: place.get(row['quantity'], -1))
    tables['baseline'] = len(mine)
    wrong = compare(path, agreed, mine, 'baseline')
    ok(len(mine) > 500 and not wrong, 'baseline: %d quantities' % len(mine), '%d differences\n' % len(wrong) + '\n'.join(wrong[:12]))
    # The worst of a column that has an infinity is that, wherever it stands
    path = os.path.join(folder, 'diverged')
    run('train', *MLP, '--steps', '3', '--trace', 'steps=1', '--policy', 'float16', '--loss-scale', 'none', '--optimizer', 'sgd', '--optimizer', 'lr=60000', '--quiet', path)
    run('analyze', path)
    run('baseline', path, '-o', path + '.tsv', '--allow-nonfinite', '--reason', 'test')
    got = {row['quantity']: row for row in table(path + '.tsv')[1]}
    mine = {k: text for k, (text, *_) in baseline.quantities(Run(path)).items() if k.startswith('summary/')}
    wrong = ['%s: %s, not %s' % (k, got[k]['value'], text) for k, text in mine.items() if got[k]['value'] != text]
    ok(not wrong and 'inf' in mine.values(), 'a diverged run: %d worst of columns' % len(mine), '\n'.join(wrong))


def fp8():
    """Scaled casts, a tensor core; where a gradient is 0 the update is the weight times 2^-13: the ratio's bin begins there."""
    path = os.path.join(folder, 'fp8')
    run('train', *MLP, '--steps', '2', '--trace', 'steps=1', '--policy', 'mixed_e4m3', '--accumulate', 'tc:hopper,path=wgmma', '--optimizer', 'sgd', '--optimizer', 'lr=0.015625', '--optimizer', 'weight_decay=0.0078125', '--quiet', path)
    listed = [(1, 'dense2.b_next', 1), (1, 'dense2.b_next', 2)]
    for step, name, place in listed:
        tamper(path, step, name, place, math.inf)
    judge('fp8', [], sample=12, tampered=listed, code=1)


def metrics(name, words, evaluated):
    """What training writes of a run that is traced in every step. EVALUATED: images of its own, six epochs' worth of evaluation."""
    path, n, size = os.path.join(folder, name), 12, 6
    dice = random.Random(20240611)
    images = [[dice.randrange(256) for _ in range(size * size)] for _ in range(n + 10)]
    labels = [dice.randrange(10) for _ in images]
    if evaluated:
        training.idx(path + '.idx', images, labels, size)
        words = words + ['--data', 'idx:' + path + '.idx', '--data', 'split=' + str(n)]
    run('train', *words, '--count', '*', '--trace', 'steps=0,1,2,3,4,5', '--steps', '6', '--quiet', path)
    r = Run(path)
    states = {step: Traced(r, step, ideal=False) for step in r.steps}
    each = r.manifest['steps_per_epoch']
    after = {step: training.evaluation(r, states[step].exact, images[n:], labels[n:]) for step in r.steps if evaluated and (step + 1) % each == 0}
    tables['metrics'] = 1
    columns, there = table(os.path.join(path, 'metrics.tsv'))
    rows = list(training.metrics_rows(r, states, after))
    measured = ('ms', 'wait_ms', 'samples_per_s', 'joules', 'joules_per_sample', 'watts', 'utilisation')
    wrong = ['step %s: %s' % (x['step'], w) for x in there for w in training.timing(x, r.manifest['batch'])]
    unknown = {c: Unknown('a measurement') for c in measured}
    if not evaluated:
        unknown.update({c: Unknown('its images are not known here') for c in columns if c.startswith('eval_')})
    wrong += compare(os.path.join(path, 'metrics.tsv'), agreed, [dict(x, **unknown) for x in rows], 'metrics')
    for c in measured:
        agreed['metrics', c] = len(there)
    ok(not wrong, '%s: metrics.tsv, %d rows, %d of them skipped' % (name, len(rows), sum(s.skipped for s in states.values())), '\n'.join(wrong[:12]))
    for t, make in training.TABLES.items():
        mine = list(make(r, states))
        tables[t] = tables.get(t, 0) + bool(mine)
        wrong = compare(os.path.join(path, t + '.tsv'), agreed, mine, 'train ' + t)
        ok(not wrong, '%s: %s.tsv of training, %d rows' % (name, t, len(mine)), '%d differences\n' % len(wrong) + '\n'.join(wrong[:12]))
    wrong = training.initial(r, states[0].exact)
    ok(not wrong, '%s: initial weights' % name, '\n'.join(wrong[:8]))
    if evaluated:
        wrong = training.batches(r, states, images, labels, n)
        ok(after and not wrong, '%s: batches in the order of the epochs' % name, '\n'.join(wrong[:8]))
    wrong = training.checkpoint(r, states[5].exact, 6)
    ok(not wrong, '%s: the last checkpoint' % name, '\n'.join(wrong[:8]))
    mine = training.memory(r)
    ok(all(r.manifest[k] == v for k, v in mine.items()), '%s: memory by category and parameters' % name, 'there %r, here %r' % ({k: r.manifest[k] for k in mine}, mine))


RUNS = {
    'metrics': lambda: metrics('metrics', ['--model', 'mlp:width=0.03125', '--batch', '4', '--policy', 'float32', '--optimizer', 'lr=0.05', '--schedule', 'warmup=3'], True),
    'overflow': lambda: metrics('overflow', MLP + ['--policy', 'mixed_float16', '--loss-scale', 'init=1e6', '--optimizer', 'sgd', '--optimizer', 'lr=1e-4'], False),
    'mlp': lambda: judge('mlp', MLP + ['--steps', '5', '--trace', 'steps=0,3', '--policy', 'mixed_float16', '--loss-scale', 'init=16777216,interval=1,backoff=0.0625'], lost=0.03),
    'convnet': lambda: judge('convnet', CONVNET + ['--steps', '2', '--trace', 'steps=1', '--policy', 'mixed_float16', '--optimizer', 'sgd:momentum=0.9,weight_decay=1e-4', '--loss-scale', 'init=1024', '--schedule', 'linear'], history=True),
    'float16': lambda: judge('float16', MLP + ['--steps', '4', '--trace', 'steps=3', '--policy', 'float16', '--optimizer', 'eps=1e-4', '--loss-scale', 'static:1024', '--loss', 'weight=4', '--schedule', 'step:steps=2', '--loss', 'label_smoothing=0.1'], sample=24, models=MODELS),
    'fp8': fp8,
    'of_nothing': of_nothing,
    'kahan': lambda: judge('kahan', MLP + ['--steps', '2', '--trace', 'steps=1', '--policy', 'bfloat16', '--accumulate', 'kahan,acc=bf16', '--optimizer', 'lr=0.01'], sample=12),
    'adam': lambda: judge('adam', MLP + ['--steps', '3', '--trace', 'steps=2', '--policy', 'mixed_bfloat16', '--optimizer', 'adam:eps=1e-5', '--schedule', 'cosine:warmup=1,steps=4', '--optimizer', 'clip_value=0.01'], sample=12),
    'momentum': lambda: judge('momentum', MLP + ['--steps', '3', '--trace', 'steps=1,2', '--policy', 'bfloat16',
        '--optimizer', 'sgd:momentum=0.99'], sample=12),
    # gradients that vanish in their first cast, all of them; a step that was skipped and is all there is
    'vanished': lambda: judge('vanished', MLP + ['--steps', '1', '--trace', 'steps=0', '--policy', 'float16', '--optimizer', 'sgd', '--loss', 'weight=5.9604644775390625e-08'], sample=16),
    'skipped': lambda: judge('skipped', CONVNET + ['--steps', '1', '--trace', 'steps=0', '--policy', 'mixed_float16', '--optimizer', 'sgd', '--loss-scale', 'init=16777216']),
    'scaled': lambda: metrics('scaled', MLP + ['--policy', 'mixed_e4m3', '--optimizer', 'sgd'], False),
    # running statistics in a format that swamps them
    'statistics': lambda: judge('statistics', CONVNET + ['--steps', '300', '--trace', 'steps=299', '--policy', 'bfloat16', '--optimizer', 'sgd', '--optimizer', 'lr=1e-5'], sample=16),
    # gradients of micro-batches, which ranks add by a ring in e5m2
    'ranks': lambda: judge('ranks', MLP + ['--steps', '2', '--trace', 'steps=1', '--policy', 'mixed_float16', '--batch', 'micro=4', '--all-reduce', 'ring:3,wire=e5m2', '--optimizer', 'sgd'], sample=12),
    # the same with error feedback at a loss scale that changes
    'feedback': lambda: judge('feedback', MLP + ['--steps', '4', '--trace', 'steps=3', '--policy', 'mixed_float16', '--batch', 'micro=4', '--all-reduce', 'ring:3,wire=e5m2,feedback', '--loss-scale', 'init=2^10,interval=2', '--optimizer', 'sgd'], sample=12),
    'opaque': opaque,
    'epsilon': epsilon,
    'faulty': faulty,
    'faulty-bf16': lambda: faulty_short('bfloat16', '-bf16'),
    'faulty-fp16': lambda: faulty_short('mixed_float16', '-fp16'),
    'baseline': recorded,
    # bias gradients before batchnorm that are 0 in the run and in the exact step, which MPFR has to tell
    'float64': lambda: judge('float64', CONVNET + ['--steps', '3', '--trace', 'steps=2', '--policy', 'float64', '--optimizer', 'sgd', '--seed', '2'], sample=16),
    'stochastic': lambda: judge('stochastic', MLP + ['--steps', '2', '--trace', 'steps=1', '--policy', 'float16', '--accumulate', 'fma,acc=fp16,mode=SR', '--optimizer', 'sgd'], sample=12,
                                analyze=['--engine', 'mpfr', '--no-propagate']),
}


def any_policy(name):
    """A run called MODEL,POLICY,OPTIMIZER,SEED."""
    model, policy, optimizer, seed = name.split(',')
    judge(name, (MLP if model == 'mlp' else CONVNET) + ['--steps', '3', '--trace', 'steps=2', '--policy', policy, '--optimizer', optimizer, '--seed', seed, '--optimizer', 'eps=1e-4'][:-2 if optimizer == 'sgd' else None], sample=16)


rounding()
for name in sys.argv[1:] or RUNS:  # arguments: these runs alone
    RUNS.get(name, lambda: any_policy(name))()
if not sys.argv[1:]:
    everything()
finish()
