# SPDX-License-Identifier: Apache-2.0
# What check finds in a run beside a baseline, computed again from the baseline's rows and the run's own files: every
# finding of the JSON report with its two values, ulps and verdict, in order; which settings differ; what decides bits,
# as hashes of the program; what moved since the baseline before, the headline first; and what a baseline run could not
# show.
import functools
import json
import math
import os
import re
import shutil
import sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.baseline import quantities  # noqa: E402
from independent.files import Run, table  # noqa: E402
from independent.number import FORMATS, log2floor, pow2  # noqa: E402
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402

SOURCES = os.path.abspath(os.environ.get('srcdir', '.'))
os.chdir(home())
# By the name that a manifest has for a setting, the key that command lines give it by.
with open(os.path.join(SOURCES, 'lib/base/console/settings.def')) as f:
    KEYS = dict(re.findall(r'^SETTING\("([^"]+)", "([^"]+)"\)', f.read(), re.M))
HELD = ['bit-identical', 'within its ulps', 'within its tolerance', 'better than the baseline',
        'not compared: the baseline has no tolerance for it', 'drifted', 'is new: the baseline does not have it',
        'is not finite and the baseline does not declare that', 'is missing in the run']
IDENTICAL, ULPS, NOISE, BETTER, NOT_COMPARED, DRIFT, NEW, NONFINITE, MISSING = range(9)


def make(name, *words):
    for r in (
        halfulp(
            'train', '--model', 'mlp', '--model', 'width=0.03125', '--data', 'size=8', '--data', 'train=40', '--data',
            'eval=8', '--batch', '8', '--steps', '4', '--quiet', *words, name
        ),
        halfulp('analyze', name),
    ):
        if r.returncode > 1:
            bail_out(r.stderr)
    return Run(name)


def number(text):
    """A decimal number, infinity or NaN as a float, another text as None."""
    return float(text) if re.fullmatch(r'[-+]?(inf|nan|[0-9.]+(e[-+]?[0-9]+)?)', text) else None


def apart(got, want, form):
    bits, ebits, p, emin = FORMATS[form][:4]
    e = max(log2floor(abs(Q(want))), emin) if want else emin
    ulps = abs(Q(got) - Q(want)) / pow2(e - p + 1)
    return float(ulps) if ulps < 2**1023 else math.inf


LOST = ('l2_share_lost', 'cosine', 'share_swamped', 'share_nonzeros', 'propagated_rel_normwise', 'log2_scale_min',
        'log2_scale_max')


@functools.cache
def makers(path, name):
    """By a call's first output: its number in the program."""
    with open(os.path.join(path, 'program-%s.json' % name)) as f:
        p = json.load(f)
    tensor = {t['id']: t['name'] for t in p['tensors']}
    return {tensor[c['out'][0]]: i for i, c in enumerate(p['calls'])}


def place(run, key, severity):
    """Of findings that are equally severe: calls as they run, the training's before the evaluation's; then the
    earliest step; then by key."""
    step = key.split('/')[1] if severity >= 0 and not key.startswith('program/') else ''
    call = (0, 0)
    if severity >= 0 and key.startswith('program/'):
        _, name, tensor = key.split('/', 2)
        call = (name == 'eval', makers(run.path, name).get(tensor, math.inf))
    return -severity, call, int(step) if step.isdigit() else math.inf, key


def finding(row, now, new=None):
    """(held, ulps, severity) of the baseline's ROW and the run's text NOW; either may be None. NEW: the name of what
    the baseline lacks."""
    program = (row['quantity'] if row else '').startswith('program/')
    if row and row['must_not_move'] == 'any':
        return NOT_COMPARED, None, -1
    if row is None or now is None:
        held, ulps = NEW if row is None else MISSING, None
    else:
        want, got, ulps = number(row['value']), number(now), None
        if want is None or got is None:
            held = IDENTICAL if row['value'] == now else DRIFT
        elif not math.isfinite(got):
            held = IDENTICAL if row['value'] == now else NONFINITE
        elif not math.isfinite(want):
            held = DRIFT
        else:
            ulps = apart(got, want, row['ulps_of'])
            better = {'up': got < want, 'down': got > want}.get(row['must_not_move'], False)
            held = (IDENTICAL if got == want else (ULPS if ulps <= float(row['ulps']) else NOISE
                                                   if abs(got - want) <= float(row['tolerance']) else BETTER if better
                                                   else DRIFT))
    if held < DRIFT:
        return held, ulps, -1
    key = row['quantity'] if row else new
    column = key.rsplit('/', 1)[1]
    # harm first: other bits, what got better, errors of calls, what was lost, keys that one lacks, results, outputs
    # over their bound, not finite, programs
    harm = (
        8
        if program or key.startswith('program/')
        else (
            7
            if held == NONFINITE
            else (
                4
                if held != DRIFT
                else (
                    6
                    if column == 'over_bound'
                    else (
                        0
                        if column == 'digest'
                        else (
                            (1 if ulps and (got > want) == ('loss' not in column) else 5)
                            if key.startswith('metrics/')
                            else 3 if column in LOST else 2
                        )
                    )
                )
            )
        )
    )
    times = math.inf
    if held == DRIFT and ulps is not None:
        _, _, p, emin = FORMATS[row['ulps_of']][:4]
        binade = max(math.frexp(want)[1] - 1, emin) if want else emin
        allowed = max(Q(float(row['tolerance'])), Q(float(row['ulps'])) * pow2(binade - p + 1))
        times = abs(Q(got) - Q(want)) / (allowed if allowed > 0 else max(abs(Q(want)), pow2(emin)))
    # of one class by how many times its allowance, or its own value, it moved, as a logarithm
    if times != math.inf and times >= Q(2) ** 1024:
        times = math.inf
    size = -1100 if times == 0 else 1100 if times == math.inf else max(math.log2(float(times)), -1100)
    return (held, ulps, 4096 * (1 + harm) + size + (times == math.inf and held == MISSING))


def value(text):
    if text is None:
        return None
    return number(text) if number(text) is not None and math.isfinite(number(text)) else text


def env(path):
    return dict(re.findall(r'^# env\.([^:]*): (.*)$', open(path).read(), re.M))


def judged(path, run, what):
    """The JSON report on RUN beside the baseline PATH."""
    rows = {r['quantity']: r for r in table(path)[1]}
    now = {k: v[0] for k, v in quantities(run).items()}
    r = halfulp('check', run.path, '--baseline', path, '--format', 'json')
    j, wrong, want = json.loads(r.stdout), [], []
    for key in {**rows, **now}:
        row, text = rows.get(key), now.get(key)
        held, ulps, severity = finding(row, text, key)
        want.append(
            (
                place(run, key, severity),
                key,
                {
                    'quantity': key,
                    'ok': held < DRIFT,
                    'held': HELD[held],
                    'baseline': value(row and row['value']),
                    'run': value(text),
                    'ulps': ulps if ulps != math.inf else None,
                    'allowed_ulps': row and float(row['ulps']),
                },
            )
        )
    want.sort(key=lambda x: x[0])
    for f, (_, key, mine) in zip(j['findings'], want):
        if f != mine and not (
            f['ulps']
            and mine['ulps']
            and math.isclose(f['ulps'], mine['ulps'], rel_tol=1e-12)
            and {**f, 'ulps': 0} == {**mine, 'ulps': 0}
        ):
            wrong.append(
                '%s there, %s here'
                % (
                    {k: v for k, v in f.items() if mine[k] != v or k == 'quantity'},
                    {k: v for k, v in mine.items() if f[k] != v or k == 'quantity'},
                )
            )
    failed = sum(not mine['ok'] for _, _, mine in want)
    if (j['run'], j['baseline'], j['quantities'], j['failed'], len(j['findings']), r.returncode) != (
        run.path, path, len(want), failed, len(want), failed > 0
    ):
        wrong.append(
            '%s, %d quantities, %d failed; exit %d'
            % ({k: j[k] for k in j if k not in ('findings', 'attribution')}, len(want), failed, r.returncode)
        )
    # settings: the baseline's, beside those that a baseline of the run itself has
    own = run.path + '.own.tsv'
    halfulp('baseline', run.path, '-o', own, '--allow-nonfinite', '--reason', 'its own')
    was, now = env(path), env(own)
    lines = ['%s: %s in the baseline, %s now' % (KEYS.get(k, k), was.get(k, 'nothing'), now.get(k, 'nothing'))
             for k in [*was, *(k for k in now if k not in was)] if was.get(k) != now.get(k)]
    lines.append('same summation trees and same casts' if all(was[k] == now[k] for k in ('summation_tree', 'casts'))
                 else 'other summation trees or casts: bits may differ for that reason alone')
    said = [x for x in j['attribution'].splitlines() if not x.startswith(('the program differs', 'step '))]
    wrong += ['attribution %s there, %s here' % (said, lines)] if said != lines else []
    changed = sum(not mine['ok'] and key.startswith('program/') for _, key, mine in want)
    told = [x for x in j['attribution'].splitlines() if x.startswith('the program differs: ')]
    if len(told) != min(changed, 5) or (
        'the program differs in %d calls and tensors' % changed in j['attribution']
    ) != (changed > 5):
        wrong.append('%d changes of the program, of which are told %s' % (changed, told))
    none(wrong, '%s: %d findings, %d of them failures' % (what, len(want), failed))
    return {HELD.index(mine['held']) for _, _, mine in want}


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
    z = (z ^ z >> 27) * 0x94D049BB133111EB & 2**64 - 1
    return z ^ z >> 31


def hashed(h, text):
    f = 14695981039346656037
    for c in text.encode():
        f = (f ^ c) * 1099511628211 & 2**64 - 1
    return mix(h ^ f)


def hashes(run):
    """Of the order of every sum of a product, of casts, and of all calls."""
    program = json.load(open(os.path.join(run.path, 'program-train.json')))
    tensor = {t['id']: t for t in program['tensors']}
    sums = casts = calls = 0
    for i, c in enumerate(program['calls']):
        if c['op'].startswith(('matmul', 'conv2d')):
            sums = hashed(sums, '%d %s part=%g' % (i, c['sum'], c['attr'].get('part', 0)))
        text = '%s %s>%s %s' % (c['op'], tensor[c['in'][0]]['name'], tensor[c['out'][0]]['name'],
                                tensor[c['out'][0]]['format'])
        casts = hashed(casts, text) if c['op'] == 'cast' else casts
        calls = hashed(calls, text)
    return {k: '0x%016x' % v for k, v in (('summation_tree', sums), ('casts', casts), ('calls', calls))}


def headline(rows, key):
    last = max(int(k.split('/')[1]) for k in rows if re.match(r'metrics/[0-9]', k))
    return bool(re.match('summary/|metrics/(last|0|%d)/' % last, key))


def moved(old, new, text):
    """What a recording says of two baselines, the one before and its own."""
    was, now, wrong, list_ = ({r['quantity']: r['value'] for r in table(p)[1]} for p in (old, new)), None, [], []
    was, now = was
    for key in {**was, **now}:
        a, b = was.get(key), now.get(key)
        if a == b:
            continue
        x, y = (number(v) if v is not None and number(v) is not None else math.nan for v in (a, b))
        both = math.isfinite(x) and math.isfinite(y)
        far = abs(y - x) / max(abs(x), 1e-300) if both else math.inf
        change = '' if not both else ' (%+.3g %%)' % (100 * (y - x) / abs(x)) if x else ' (%+.3g)' % y
        list_.append(
            (
                not headline(was if a is not None else now, key), -far, key,
                '  %s: %s -> %s%s' % (key, 'nothing' if a is None else a, 'nothing' if b is None else b, change)
            )
        )
    gone, added = len(set(was) - set(now)), len(set(now) - set(was))
    first = 'since the baseline before: %d of %d quantities moved, %d are new, %d are gone' % (
        len(list_) - gone - added, len(was), added, gone
    )
    lines = text.splitlines()
    if first not in lines:
        return ['%r is not said' % first]
    lines = lines[lines.index(first) + 1 :]
    for got, (_, _, key, want) in zip(lines, sorted(list_)[:20]):
        if not key.startswith('program/') and got != want:
            wrong.append('%r there, %r here' % (got, want))
    if len(list_) > 20 and lines[20] != '  and %d more; halfulp check against the old file lists them all' % (
        len(list_) - 20
    ):
        wrong.append('%r, and there are %d' % (lines[20], len(list_)))
    return wrong


def unseen(*runs):
    """Beginnings of what a recording says that none of the runs showed."""
    each = [table(os.path.join(run.path, 'metrics.tsv'))[1] for run in runs]
    scaled = any(run.manifest['loss_scaling']['rule'] not in ('none', 'static') for run in runs)
    grew = any(float(b['loss_scale']) > float(a['loss_scale']) for rows in each for a, b in zip(rows, rows[1:]))
    under = any(float(r['became_zero']) > 0 or float(r['became_subnormal']) > 0 for run in runs
                for r in table(run.analysis('underflow.tsv'))[1])
    traced = any(run.steps for run in runs)
    steps = 'in %d steps ' % sum(map(len, each))
    lines = (
        [steps + 'no gradient overflowed']
        if scaled and not any(r['skipped'] == '1' for rows in each for r in rows)
        else []
    )
    lines += [steps + 'the loss scale never grew'] if scaled and not grew else []
    lines += ['no cast of a traced step made'] if traced and not under else []
    lines += ['nothing was evaluated'] if all(r['eval_loss'] == '-' for rows in each for r in rows) else []
    return lines + ([] if traced else ['no step was traced'])


base = make('base', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3')
order = make('order', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3',
             '--accumulate', 'pairwise')
others = {
    'sums in fp16': make(
        'half', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3', '--accumulate',
        'fma,acc=fp16'
    ),
    'another rate': make(
        'rate', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3', '--optimizer',
        'lr=0.002'
    ),
    'another optimizer': make(
        'plain', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3', '--optimizer', 'sgd'
    ),
    'weights beyond every range': make(
        'far', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=0,3', '--optimizer', 'lr=1e9'
    ),
    'a growing scale': make(
        'growing', '--policy', 'mixed_float16', '--loss-scale', 'init=2^24,interval=2', '--trace', 'steps=3'
    ),
    'another step traced': make(
        'three', '--policy', 'mixed_float16', '--loss-scale', 'init=1024', '--trace', 'steps=3'
    ),
}
seen = set()
for reason, more, ulps in (
    ('its own bits', [], '0'),
    ('two orders of sums', ['order'], '64'),
    ('a loss that may differ', [], '60000'),
):
    os.path.exists('base.tsv') and os.unlink('base.tsv')
    r = halfulp('baseline', 'base', '-o', 'base.tsv', '--reason', reason, '--ulps', ulps, *more)
    lines = r.stdout.partition('what this baseline could not see:\n')[2].splitlines()
    want = unseen(base, order) if more else unseen(base)
    ok(r.returncode == 0 and len(lines) == len(want) and all(map(str.startswith, lines, want)),
       '%s: what it could not show' % reason, r.stdout + r.stderr + str(want))
    for what, run in {'the same run': base, 'another order of sums': order, **others}.items():
        seen |= judged('base.tsv', run, '%s, %s' % (reason, what))
ok(seen == set(range(9)), 'every verdict was come to', [HELD[k] for k in set(range(9)) - seen])
os.makedirs('.git/refs/heads')
os.makedirs('within/deep')
open('.git/HEAD', 'w').write('ref: refs/heads/some\n')
open('.git/refs/heads/some', 'w').write('0123456789abcdef0123456789abcdef01234567\n')
for where, path in (('.', 'here.tsv'), ('within/deep', 'deep.tsv')):
    halfulp('baseline', os.path.abspath('base'), '-o', os.path.abspath(path), '--reason', 'a commit', cwd=where)
    ok('at commit 0123456789abcdef0123456789abcdef01234567\n' in open(path).read(),
       'the commit that is checked out around %s' % where)
config = {k for k in base.manifest['config'] if not k.startswith('trace-')}
ok(set(env('base.tsv')) == config | {'halfulp', 'model', 'policy', 'dataset', 'dataset_digest', 'optimizer', 'batch',
                                     'epochs', 'loss_weight', 'seed', 'backend', 'device', 'compiler', 'simd',
                                     'summation_tree', 'casts', 'calls', 'analysis'},
   'a baseline names every option of the training, but which steps were traced', sorted(env('base.tsv')))
for what, run in others.items():
    shutil.copy('base.tsv', 'again.tsv')
    r = halfulp('baseline', run.path, '-o', 'again.tsv', '--allow-nonfinite', '--reason', what)
    wrong = [r.stderr] if r.returncode else moved('base.tsv', 'again.tsv', r.stdout)
    lines = r.stdout.partition('what this baseline could not see:\n')[2].splitlines()
    wrong += (['%s there, %s here' % (lines, unseen(run))] if len(lines) != len(unseen(run))
              or not all(map(str.startswith, lines, unseen(run))) else [])
    said = {k: v for k, v in env('again.tsv').items() if k in hashes(run)}
    wrong += ['%s there, %s here' % (said, hashes(run))] if said != hashes(run) else []
    none(wrong, '%s: recorded again, what moved, what it does not show, and its hashes' % what)
finish()
