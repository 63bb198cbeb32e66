# SPDX-License-Identifier: Apache-2.0
# Both tables of compare, its JSON and what it prints, computed again from the runs that it made: every column of every
# run from the run's own files; means, differences to the first policy at the same learning rate and seed, and their
# standard errors.
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, bail_out, finish, home, none  # noqa: E402

folder = home()
SEEDS, POLICIES = ['1', '4', '2'], ['mixed_float16', 'float32', 'float16,layer:dense3=float32']
SCORES = ['accuracy', 'precision', 'recall', 'dice', 'iou', 'hit_rate', 'ndcg']
COLUMNS = [*SCORES, 'eval_loss', 'ms_a_step', 'bytes', 'swamped_share', 'underflowed_share', 'judged_share']


def table(path):
    lines = [x.rstrip('\n').split('\t') for x in open(path) if not x.startswith('#')]
    return lines[0], [dict(zip(lines[0], x)) for x in lines[1:]]


def near(text, x, rel=1e-12):
    return (
        text == '-'
        if x is None
        else text not in ('-', None) and math.isclose(float(text), x, rel_tol=rel, abs_tol=1e-15)
    )


def of_run(path):
    """A run's columns: the last evaluation, the mean step but the first, memory of all categories, shares that the
    analysis found."""
    _, rows = table(os.path.join(path, 'metrics.tsv'))
    last = [r for r in rows if r['eval_accuracy'] != '-'][-1]
    ms = [float(r['ms']) for r in rows[1:]]  # the first step allocates
    m = json.load(open(os.path.join(path, 'manifest.json')))
    summary = os.path.join(path, 'analysis', 'summary.json')
    n = json.load(open(summary))['numbers'] if os.path.exists(summary) else {}
    scores = {c: None if last['eval_' + c] == '-' else float(last['eval_' + c]) for c in SCORES}
    return {**scores, 'eval_loss': float(last['eval_loss']), 'ms_a_step': math.fsum(ms) / len(ms),
            'bytes': sum(m['memory_bytes'].values()), 'swamped_share': n.get('swamped_share_updates'),
            'underflowed_share': n.get('zeroed_share'), 'judged_share': n.get('update_l2_share_judged')}


def figures(x):
    """Mean and standard error of what is there."""
    x = [v for v in x if v is not None]
    if not x:
        return None, None
    mean = math.fsum(x) / len(x)
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in x) / (len(x) - 1) / len(x)) if len(x) > 1 else None


def compare(name, words, seeds, rates=('-',)):
    swept = [] if rates == ('-',) else ['--optimizer', 'lr=' + ','.join(rates)]
    path = os.path.join(folder, name)
    r = subprocess.run([HALFULP, 'compare', '--policy', ','.join(POLICIES), '--seeds', ','.join(seeds), *swept,
                        *words, '--model', 'mlp:width=0.0625', '--data', 'size=8,train=64,eval=30', '--batch', '8',
                        '--epochs', '2', '--loss-scale', 'init=256', path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, universal_newlines=True)
    if r.returncode:
        bail_out(r.stderr)
    head, rows = table(os.path.join(path, 'compare-runs.tsv'))
    wrong, by = [], {}
    if head != ['policy', 'lr', 'seed', 'run', 'failed', *COLUMNS] or [
        (x['policy'], x['lr'], x['seed'], x['failed']) for x in rows
    ] != [(p, r, s, '-') for p in POLICIES for r in rates for s in seeds]:
        wrong.append('%s: %s' % (head, [(x['policy'], x['lr'], x['seed'], x['failed']) for x in rows]))
    for x in rows:
        mine = of_run(x['run'])
        run = os.path.basename(x['run'])
        if run != '%s%s-seed%s' % (
            re.sub(r'[/,=:*?\[\]^ ]', '_', x['policy']), '-lr' + x['lr'].replace('^', '_') if swept else '', x['seed']
        ):
            wrong.append(run)
        with open(os.path.join(x['run'], 'manifest.json')) as f:
            config = json.load(f)['config']
        if swept and config['lr'] != power(x['lr']):
            wrong.append('%s was trained at %s' % (run, config['lr']))
        for c in COLUMNS:
            if not near(x[c], mine[c]):
                wrong.append('%s: %s is %s there, %s here' % (run, c, x[c], mine[c]))
            by[(x['policy'], x['lr'], x['seed'], c)] = None if x[c] == '-' else float(x[c])
    none(wrong, '%s: every column of %d runs is that of the run\'s files' % (name, len(rows)))
    head, rows = table(os.path.join(path, 'compare.tsv'))
    wrong = (
        []
        if head
        == [
            'policy', 'lr', 'runs', 'failed',
            *(c + s for c in COLUMNS for s in ('', '_se', '_difference', '_difference_se'))
        ]
        else [str(head)]
    )
    means = {}
    lines = [(p, rate) for p in POLICIES for rate in rates]
    for x, (p, rate) in zip(rows, lines):
        if (x['policy'], x['lr'], x['runs'], x['failed']) != (p, rate, str(len(seeds)), '0'):
            wrong.append('%s: %s runs, %s failed' % (x['policy'], x['runs'], x['failed']))
        for c in COLUMNS:
            v = [by[p, rate, s, c] for s in seeds]
            first = [by[POLICIES[0], rate, s, c] for s in seeds]
            want = [
                *figures(v), *figures([a - b if a is not None and b is not None else None for a, b in zip(v, first)])
            ]
            means[p, rate, c] = want
            for key, w in zip((c, c + '_se', c + '_difference', c + '_difference_se'), want):
                if not near(x[key], w, 1e-9):
                    wrong.append('%s: %s is %s there, %s here' % (p, key, x[key], w))
    none(wrong + (['%d rows' % len(rows)] if len(rows) != len(lines) else []),
         '%s: means, differences and standard errors' % name)
    return path, r.stdout, means, by


def power(text):
    return 2.0 ** int(text[2:]) if text.startswith('2^') else float(text)


path, out, means, by = compare('judged', ['--analyze'], SEEDS)
means, by = {(p, c): m for (p, _, c), m in means.items()}, {(p, s, c): v for (p, _, s, c), v in by.items()}
wrong, lines = [], out.split('\n')
begin = next(i for i, x in enumerate(lines) if x.startswith('policy '))
for p, x in zip(POLICIES, lines[begin + 1:]):
    cells = re.sub(' ± ', '±', x[len(p):]).split()
    pair = lambda c, k, f: f % (100 * means[p, c][k]) + '±' + ('%.2f' % (100 * means[p, c][k + 1]))  # noqa: E731
    size = means[p, 'bytes'][0]
    want = [
        pair('accuracy', 0, '%.2f'), '-' if p == POLICIES[0] else pair('accuracy', 2, '%+.2f'),
        pair('precision', 0, '%.2f'), pair('recall', 0, '%.2f'), '%.1f' % means[p, 'ms_a_step'][0], None, None,
        '%.4f' % means[p, 'swamped_share'][0], '%.4f' % means[p, 'underflowed_share'][0],
        '%.4f' % means[p, 'judged_share'][0]
    ]
    if (
        len(cells) != len(want)
        or any(w is not None and w != c for w, c in zip(want, cells))
        or cells[6] != 'kB'
        or not math.isclose(float(cells[5]), size / 1e3, rel_tol=0.006)
    ):
        wrong.append('%s there, %s (%s bytes) here' % (cells, want, size))
width = {len(x) for x in lines[begin:begin + 2]}
if (
    len(width) != 1
    or '3 seeds; ± is the standard error of the mean; difference: in accuracy, points, to mixed_float16 at the same '
       'seed'
    not in lines
):
    wrong.append('the table: %s' % lines[begin:])
for p in POLICIES:
    for s in SEEDS:
        said = '%s/%s-seed%s: accuracy %.2f %%' % (path, re.sub('[,=:]', '_', p), s, 100 * by[p, s, 'accuracy'])
        wrong += [said] if said not in lines else []
none(wrong, 'and what is printed are these numbers')
none(
    (
        []
        if any(v for (p, s, c), v in by.items() if c == 'underflowed_share')
        and any(v for (p, s, c), v in by.items() if c == 'swamped_share')
        else [str(by)]
    ),
    'among them shares that are not 0',
)
path, out, means, by = compare('trained', [], ['3', '5'], ('0.01', '2^-20'))
shown = [x.split()[:2] for x in out.split('\n') if x.startswith(tuple(POLICIES)) and x.count('±') > 2]
none(([] if shown == [[p, r] for p in POLICIES for r in ('0.01', '2^-20')]
      and 'to mixed_float16 at the same learning rate and seed' in out else [out]),
     'the table names the rate of each row')
none([] if means['float32', '0.01', 'accuracy'] != means['float32', '2^-20', 'accuracy'] else [str(means)],
     'and rates differ')
for words, why in (
    (['lr=0.1,x'], '--optimizer lr=0.1,x: numbers from 0'),
    (['lr=0.1,1e-1'], '1e-1 is there twice'),
    (['lr='], 'a number from 0'),
):
    r = subprocess.run([HALFULP, 'compare', '--optimizer', *words, os.path.join(folder, 'no')],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    none(([] if r.returncode == 2 and why in r.stderr and r.stderr.count('\n') == 1
          and not os.path.exists(os.path.join(folder, 'no')) else [r.stderr]), 'refused: --optimizer '
         + ' '.join(words))
j = json.loads(subprocess.run([HALFULP, 'compare', '--policy', 'float32,bfloat16', '--seeds', '1,2', '--model',
                               'mlp:width=0.0625', '--data', 'size=8,train=64,eval=30', '--batch', '8', '--epochs',
                               '1', '--json', os.path.join(folder, 'j')], stdout=subprocess.PIPE, check=True).stdout)
_, rows = table(os.path.join(folder, 'j', 'compare.tsv'))
wrong = []
for o, x in zip(j, rows):
    for c in COLUMNS:
        got = o[c]
        for key, suffix in (
            ('mean', ''),
            ('standard_error', '_se'),
            ('difference', '_difference'),
            ('difference_standard_error', '_difference_se'),
        ):
            if not near(x[c + suffix], got[key]):
                wrong.append(
                    '%s: %s is %s in JSON, %s in the table' % (o['policy'], c + suffix, got[key], x[c + suffix])
                )
none(
    wrong
    + (
        [str(j)]
        if [o['policy'] for o in j] != ['float32', 'bfloat16'] or any(o['runs'] != 2 or o['failed'] for o in j)
        else []
    ),
    'JSON has the same',
)
# Models have scores of their own: what is printed of each run and each policy is the one that counts
for title, column, words in (
    (
        'hit rate', 'hit_rate',
        '--model ncf --data users=30,items=130 --model hidden=4,layers=2 --data train=256 --batch 64'
    ),
    ('Dice', 'dice', '--model unet --data size=8 --model levels=1,width=0.125 --data train=16,eval=8 --batch 4'),
):
    path = os.path.join(folder, column)
    line = [HALFULP, 'compare', '--policy', 'float32,float16', *words.split(), '--epochs', '1', path]
    out = subprocess.run(line, stdout=subprocess.PIPE, universal_newlines=True).stdout
    head, rows = table(os.path.join(path, 'compare-runs.tsv'))
    mine, wrong = [of_run(x['run']) for x in rows], []
    for x, m in zip(rows, mine):
        wrong += [(x['run'], c, x[c], m[c]) for c in COLUMNS if not near(x[c], m[c])]
        said = '%s: %s %.2f %%' % (x['run'], title, 100 * m[column])
        wrong += [said] if said not in out.split('\n') else []
    said = r'policy +%s %% .*\nfloat32 +%.2f +- .*\nfloat16 +%.2f +[+-]?%.2f ' % (
        title, *(100 * m[column] for m in mine), 100 * abs(mine[1][column] - mine[0][column])
    )
    none(wrong if re.search(said, out) and mine[0][column] is not None else wrong + [said, out],
         'the score of %s is its %s' % (words.split()[1], title))
one = [os.path.abspath(HALFULP), 'compare', '--policy', 'float32', '--model', 'mlp:width=0.0625', '--data',
       'size=8,train=16,eval=8', '--batch', '8', '--epochs', '1']
done = [subprocess.run(one, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode for _ in range(2)]
none(([] if done == [0, 0] and sorted(os.listdir(os.path.join(folder, 'runs'))) == ['compare-1', 'compare-2']
      else [done]), 'without a name each comparison takes a folder of its own')
twice = [*one[:3], 'float32,float32', *one[4:], 'two']
done = subprocess.run(twice, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
there = (sorted(x for x in os.listdir(os.path.join(folder, 'two')) if 'seed' in x)
         if os.path.isdir(os.path.join(folder, 'two')) else [])
none([] if there == ['float32-seed1', 'float32_2-seed1'] else [there, done.stderr],
     'a policy that is named twice has a folder for each')
finish()
