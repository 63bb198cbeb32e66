# SPDX-License-Identifier: Apache-2.0
# The summary of tables that no training would soon leave: drawn cells, missing ones, missing tables, every verdict and
# what is not finite. Its numbers are computed again by t/judge/independent/summary.py, and its three sentences are
# composed again here from these numbers.
import json
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from drawn_tables import DRAWN, behind, pick, rng, unjudged, write  # noqa: E402
from independent import summary  # noqa: E402
from independent.files import Run, table  # noqa: E402
from independent.harm import RANK, verdict  # noqa: E402
from independent.number import FORMATS  # noqa: E402
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402

CASES = 80
NAN = math.nan
os.chdir(home())
TRAIN = '--model mlp:width=0.03125 --data size=8,train=24,eval=8 --batch 8 --steps 3 --quiet --policy float16'.split()
r = halfulp('train', *TRAIN, '--trace', 'steps=0,2', 'run')
if r.returncode:
    bail_out(r.stderr)
manifest = json.load(open('run/manifest.json'))
del manifest['files']['metrics.tsv']  # which is about to change
json.dump(manifest, open('run/manifest.json', 'w'))
r = halfulp('analyze', 'run')
if r.returncode > 1:
    bail_out(r.stderr)
shutil.copytree('run', 'plain')


def number(text):
    return NAN if text == '-' else float(text)


# --- the sentences
def lost(share, nonfinite, whose):
    if math.isnan(share):
        return '%s of the %s' % ('no share that a number could be' if nonfinite else 'an unknown part', whose)
    return '%.3g %% of the %s%s' % (100 * share, 'finite part of the ' if nonfinite else '', whose)


def whole(n, steps, seen):
    start = 'in the traced step ' if steps == 1 else 'in the %d traced steps ' % steps
    if math.isnan(n['gradient_cosine']) and math.isnan(n['update_cosine']) and summary.without_gradients(seen, n):
        return start + ("the weights' updates, of which no gradient was recorded, kept a cosine of %.4f or better to "
                        'the exact ones' % n['weights_cosine'])
    if math.isnan(n['gradient_cosine']):
        return start + (
            "the weights' updates kept a cosine of %.4f or better to the exact ones; what their gradients should have "
            'been was not computed' % n['update_cosine']
        )
    s = start + "the weights' gradients kept a cosine of %.4f or better to the exact ones" % n['gradient_cosine']
    if n['update_l2_share_lost'] <= 0.001 and n['weights_l2_share_lost'] <= 0.001:
        return s + ' and the updates arrived whole'
    return s + ('' if math.isnan(n['weights_cosine']) else ' and the updates one of %.4f' % n['weights_cosine'])


def scales(n, odd, broken):
    return 'a loss scale from 2^%d to 2^%d would have kept every %sgradient' % (
        n['safe_log2_scale_min'], n['safe_log2_scale_max'], 'finite ' if odd['gradients'] or broken else ''
    )


def unknown(n, steps, seen, silent, least, odd, broken):
    if seen['steps'] and seen['steps_skipped'] == len(seen['steps']):
        s = 'No verdict: the loss scaler skipped all %d traced steps, because a gradient was not finite'
        s %= len(seen['steps'])
        return s + ('.' if math.isnan(n['safe_log2_scale_min']) else '; %s.' % scales(n, odd, broken))
    if (math.isnan(n['gradient_cosine']) and math.isnan(n['update_cosine'])
            and not summary.without_gradients(seen, n)):
        if not math.isnan(n['weights_cosine']):
            return ("No verdict: the weights' updates that were judged kept a cosine of %.4f or better to those of the "
                    "exact step, but what the weights' gradients should have been was not computed, and an all-clear "
                    'needs it.' % n['weights_cosine'])
        return (
            'No verdict: no traced step moved the weights, or what their gradients should have been was not computed.'
        )
    share = seen['update_l2_share_judged'] or 0
    if not seen['steps']:
        why = 'how much of the updates was judged was not measured (the analyzer weights does it), and an all-clear '
        why += 'needs it'
    elif seen['steps_without_update']:
        why = 'in %d of %d traced steps no update of a weight was recorded, and an all-clear needs all' % (
            seen['steps_without_update'], len(seen['steps'])
        )
    elif share < 0.99:
        why = ("of the weights' update %.3g %% of the L2 norm was judged at step %d, and an all-clear needs 99 %% in "
               'every step' % (100 * share, least or 0))
    elif seen['choices_otherwise']:
        why = 'the exact step chooses otherwise, and what it would make of that is not known'
    elif seen['reads_apart']:
        why = 'the program read numbers that may be others in the exact step, and what it would make of those is not '
        why += 'known'
    else:
        why = '%d elements of weights have gradients that are all 0, and what these should have been is not known'
        why %= silent
    return 'No verdict: %s; what was judged is harmless: %s.' % (why, whole(n, steps, seen))


def coverage(seen):
    return calls_of(seen) + (
        ' Of %d choices by values, such as of an index, exact values make %d otherwise or are not known, and '
        'what follows from them is taken as recorded.' % (seen['choices'], seen['choices_otherwise'])
        if seen['choices_otherwise'] else '') + (
        ' Of %d numbers that the program read before an update, such as a loss, %d may be others in the exact step, '
        'and what was made of them is taken as recorded; one that is only logged is best read behind the last update.'
        % (seen['reads'], seen['reads_apart']) if seen['reads_apart'] else '')


def calls_of(seen):
    if not seen['steps']:
        return ' How much of the step this rests on was not measured.'
    calls, judged, weights = (seen[k] for k in ('calls', 'calls_judged', 'weights'))
    s = ' All %d calls were judged' % calls
    if judged < calls:
        s = ' Of %d calls %d (%.3g %%) were judged' % (calls, judged, 100 * judged / calls)
    missed = weights - seen['weights_judged']
    if not missed:
        one = weights == 1
        return s + (', and the update%s of %s%d weight%s.' % (('', '', 1, '')
            if one else ('s', 'all ', weights, 's')) if weights else '.')
    named = [(o['operator'], o['tainting']) for o in seen['not_judged'] if o['tainting']]
    told = ', '.join('%s (%d call%s)' % (name, n, '' if n == 1 else 's') for name, n in named[:3])
    more = len(named) - 3
    told = 'they depend on ' + told if named else 'they have no exact value'
    told += ' and %d other operator%s' % (more, '' if more == 1 else 's') if more > 0 else ''
    return s + '; the updates of %d of %d weights were not, because %s.' % (missed, weights, told)


def first(n, rows, broken, cause, rank, steps, seen, silent, least, odd):
    return told(n, rows, broken, cause, rank, steps, seen, silent, least, odd) + coverage(seen)


def told(n, rows, broken, cause, rank, steps, seen, silent, least, odd):
    if broken:
        return (
            'Fatal: the run ended with a loss that is not finite. The first overflow stands in metrics.tsv where a '
            'scaler saw it, else trace earlier steps.'
        )
    if rank == 0:
        return unknown(n, steps, seen, silent, least, odd, broken)
    if rank == 1:
        return 'Harmless: %s.' % whole(n, steps, seen)
    row = next(r for k in ('gradients', 'updates', 'state', 'whole') for r in rows[k] if RANK[r['verdict']] == rank)
    start = '%s: at step %s ' % ('Fatal' if rank == 3 else 'It costs', row['step'])
    if row.get('role') == 'next':
        s, dead = start.split(' at')[0] + ' with the states that step %s stored the next one has' % row['step'], int(
            row['nonfinite'])
        if row['cosine'] != '-':
            s += ' a cosine of %.4f to that with exact states, and %.3g times its length' % (number(row['cosine']),
                number(row['length']))
        what = '1 element that exact states give and that is' if dead == 1 else (
            '%d elements that exact states give and that are' % dead)
        return s + ('; it has' if dead and row['cosine'] != '-' else '') + (' %s infinite or NaN' % what if dead
            else '') + '.'
    if nonfinite(row):
        what = {
            'gradients': "the weights' gradients",
            'updates': 'the weights or their update',
            'moments': 'second moments, or the step that they give,',
            'statistics': 'running statistics',
            'weights': 'the weights or their update',
            'states': 'the weights or their update',
        }[cause]
        return start + 'elements of %s were infinite or NaN, as stored or as they should have been.' % what
    if cause == 'gradients':
        return start + (
            "underflow and rounding turned the weights' gradients away from the exact ones (worst cosine %.4f; %.1f %% "
            'of their L2 norm arrived as zero).' % (n['gradient_cosine'], 100 * n['gradient_l2_share_lost'])
        )
    if cause == 'moments':
        lost = max([number(r['l2_share_lost']) for r in rows['moments'] if r['l2_share_lost'] != '-'])
        # the run's moments are fp16, and its steps are computed in fp32
        return start.replace('at step', 'the step') + (
            'itself was computed from moments that were not yet rounded, but the second moments that it stored give '
            'the next one a direction at a cosine of %.4f to that of the exact moments' % n['second_moment_step_cosine']
            + (' (%.1f %% of its L2 norm is where a moment became zero)' % (100 * lost) if lost else '')
            + (', and of %.4f if no weight has a gradient then' % n['second_moment_idle_step_cosine']
               if n['second_moment_idle_step_cosine'] < 0.99 else '') + '.'
        )
    if cause == 'statistics':
        return start + (
            "the running statistics stood still %.1f %% short of the batch's, because their updates were swamped; "
            'evaluation uses them.' % (100 * n['running_statistics_share_lost'])
        )
    kept = int(row['kept_unjudged']) / int(row['gradients_unjudged']) if number(row.get('gradients_unjudged',
        '-')) > 0 else 0
    if cause == 'weights' and kept > 0.1:
        return start + ('%.1f %% of the weights that have a gradient and no known exact update kept their bits.'
                        % (100 * kept))
    if cause == 'weights':
        return start + (
            'the weights did not take the update of the exact step (worst cosine %.4f; %.1f %% of its L2 norm was '
            'lost' % (n['weights_cosine'], 100 * n['weights_l2_share_lost'])
            + ('; the update is %.3g times as long' % number(row['length']) if number(row['length']) > 1.1 else '')
            + ').'
        )
    if cause == 'states' and kept > 0.1:
        return start + (
            '%.1f %% of the elements of states, such as averages of the weights, that have a gradient and no known '
            'exact update kept their bits.' % (100 * kept)
        )
    if cause == 'states':
        share = max(number(r['l2_share_lost']) for r in rows['whole'] if r['role'] == 'state'
            and r['l2_share_lost'] != '-')
        return start + (
            'states, such as averages of the weights, took only part of their update (%.1f %% of its L2 norm was lost).'
            % (100 * share)
        )
    return start + (
        'the weights took only part of their update (worst case: %.1f %% of its L2 norm swamped, cosine %.4f to the '
        'exact update).' % (100 * n['update_l2_share_lost'], n['update_cosine'])
    )


def nonfinite(row):
    """Fatal, though neither number says so."""
    if 'nonfinite' in row:
        return row['nonfinite'] != '0'
    return row['verdict'] == 'fatal' and verdict(number(row['l2_share_lost']), number(row['cosine'])) != 'fatal'


def second(n, odd, missing):
    s = 'By count, '
    if 'underflow' in missing:
        s += 'gradients that became zero were not looked for'
    else:
        s += 'rounding made %.0f gradient values zero (%.3g %% of the nonzero ones)' % (
            n['zeroed_gradients'], 100 * n['zeroed_share']
        )
    if math.isnan(n['swamped_share_updates']):
        s += ' and no weight updates were there to be swamped'
    else:
        s += ' and %.3g %% of the weight updates were swamped' % (100 * n['swamped_share_updates'])
    if n['swamped_share_updates_by_decay'] > 0:
        s += ' (%.3g %% are weight decay on weights that get no gradient)' % (
            100 * n['swamped_share_updates_by_decay']
        )
    if not math.isnan(n['weights_kept_share']):
        s += '; %.3g %% of the weights with a gradient kept their bits' % (100 * n['weights_kept_share'])
    s += '; by weight, what was lost is %s and %s L2 norm.' % (
        lost(n['gradient_l2_share_lost'], odd['gradients'], "gradients'"),
        lost(n['update_l2_share_lost'], odd['updates'], "updates'"),
    )
    if n['second_moment_zeroed_share'] > 0:
        s += (" Of Adam's second moments %.3g %% became zero when they were stored, behind the step that was computed "
              'from them: the next one starts from zero there.' % (100 * n['second_moment_zeroed_share']))
    if n['second_moment_swamped_share'] > 0:
        s += " Of the second moments' own updates %.3g %% were swamped." % (100 * n['second_moment_swamped_share'])
    return s


def third(n, rows, odd, broken, missing):
    over = [r for r in rows['replay'] if r['ulp_max'] == 'inf']
    finite = [r for r in rows['replay'] if r['ulp_max'] != 'inf']
    if 'replay' in missing:
        s = "The calls' own rounding errors were not judged"
    else:
        s = 'The'
        if over:
            s = ('Outputs of %d tensor%s of the traced steps overflowed, of %s first, so that their error is infinite. '
                 'Of the other tensors the' % (len(over), '' if len(over) == 1 else 's', over[0]['tensor']))
        w = max(finite, key=lambda r: float(r['ulp_max']))  # the first of them
        ratio, ulps = float(w['bound_ratio_max']), float(w['ulp_max'])
        s += ' largest rounding error of a single call %s%s, in %s%s, and %s' % (
            'is %.3g %s its proven bound' % (ratio, 'times' if ratio > 1 else 'of') if ratio else 'has no finite bound',
            # an error of more ulps than the format has significands is beside an exact zero or next to it
            ', %.3g ulp' % ulps if ulps <= 2.0 ** FORMATS[w['format']][2] else '',
            w['tensor'],
            ' where its terms cancel' if float(w['condition_max']) > 16 else '',
            (
                'outputs left their a-priori bound: see faults.tsv'
                if n['over_bound']
                else 'every judged output is within its a-priori bound'
            ),
        )
        s += ', which is infinite where it does not exclude overflow' if over and not n['over_bound'] else ''
    if 'loss-scale-safe' in missing:
        return s + '.'
    if not math.isnan(n['safe_log2_scale_min']):
        return s + '; %s.' % scales(n, odd, broken)
    s += '; no single loss scale would have kept every gradient'
    one = [r for r in rows['safe'] if r['tensor'] != 'all']
    need = max((r for r in one if r['log2_scale_min'] != '-'), key=lambda r: int(r['log2_scale_min']), default=None)
    most = min((r for r in one if r['log2_scale_max'] != '-'), key=lambda r: int(r['log2_scale_max']), default=None)
    if need and most and int(need['log2_scale_min']) > int(most['log2_scale_max']):
        s += ': %s asks for 2^%s, %s overflows beyond 2^%s' % (
            need['tensor'], need['log2_scale_min'], most['tensor'], most['log2_scale_max']
        )
    return s + '.'


MISSING = {
    'replay': ('judged_outputs', 'worst_ulp', 'worst_ulp_tensor', 'worst_bound_ratio', 'worst_ulp_bound_ratio',
               'over_bound', 'biased_tensors', 'bias_t_max'),
    'underflow': ('zeroed_gradients', 'zeroed_share', 'second_moment_zeroed_share'),
}


def case(k):
    """Draws the tables of one case and returns what is wrong with its summary."""
    levels = dict.fromkeys(DRAWN, 0)
    for _ in range(k % 4):
        levels[pick(*DRAWN)] = pick(1, 2)
    gone = {name.rpartition('/')[2] for name in rng.sample(sorted(DRAWN), pick(0, 0, 1, 2, 3))} - {'metrics'}
    for name, draw in DRAWN.items():
        columns, plain = table('plain/%s.tsv' % name)
        if name.rpartition('/')[2] in gone:
            if os.path.exists('run/%s.tsv' % name):
                os.unlink('run/%s.tsv' % name)
            continue
        made = [draw(r, levels[name]) for r in plain] if draw else unjudged(plain, levels[name])
        if name == 'analysis/weights':
            made += [behind(r, levels[name]) for r in plain if (r['tensor'], r['role']) == ('all', 'parameter')]
        write(name, made, columns)
    r = halfulp('analyze', '--only', 'summary', 'run')
    if r.returncode > 1:
        return [r.stderr]
    run, there = Run('run'), json.load(open('run/analysis/summary.json'))
    if 'replay' in gone:
        shutil.copy('plain/analysis/replay.tsv', 'run/analysis/replay.tsv')  # for what follows, which expects one
    n, word, cause = summary.expected(run)
    for name in gone & set(MISSING):
        n.update(dict.fromkeys(MISSING[name], NAN))
    tables = {name: [] if name in gone else table('run/analysis/%s.tsv' % name)[1] for name in
              ('replay', 'underflow', 'swamping', 'state', 'loss-scale-safe', 'weights')}  # fmt: skip
    rows = {
        'replay': tables['replay'],
        'safe': tables['loss-scale-safe'],
        'gradients': summary.verdicts(tables['underflow']),
        'updates': [r for r in summary.verdicts(tables['swamping']) if r['kind'] == 'update'],
        'state': summary.verdicts(tables['state']),
        'whole': [r for r in tables['weights'] if r['tensor'] == 'all'],
    }
    rows['moments'] = [r for r in rows['state'] if r['kind'] == 'moment']
    rows['statistics'] = [r for r in rows['state'] if r['kind'] == 'statistic']
    odd = {kind: any(map(nonfinite, rows[kind])) for kind in ('gradients', 'updates', 'moments', 'statistics')}
    odd['weights'] = any(r['nonfinite'] != '0' for r in rows['whole'] if r['role'] == 'parameter')
    over = [r['tensor'] for r in tables['replay'] if r['ulp_max'] == 'inf']
    for key in ('worst_ulp', 'worst_ulp_bound_ratio'):
        n[key] = 'overflowed' if over else n[key]
    wrong = []
    whose = {'gradient': 'gradients', 'update': 'updates', 'second': 'moments', 'running': 'statistics',
        'weights': 'weights'}
    for key, want in n.items():
        kind = whose.get(key.split('_')[0])
        if key in ('weights_kept_share', 'update_l2_share_judged', 'calls_judged_share', 'second_moment_zeroed_share',
            'second_moment_swamped_share', 'swamped_share_updates',
            'swamped_share_updates_by_decay'):
            kind = None
        if isinstance(want, float) and math.isnan(want):
            drawn = key in ('gradient_cosine_expected', 'gradient_noise', 'gradient_bias', 'update_cosine_expected')
            want = 'not finite' if kind and odd[kind] and not drawn else None
        got = there['numbers'][key]
        near = (
            isinstance(got, (int, float)) and isinstance(want, (int, float)) and math.isclose(got, want, rel_tol=1e-14)
        )
        if got != want and not near and not (isinstance(want, float) and math.isinf(want) and got is None):
            wrong.append('case %d: %s is %r there, %r here' % (k, key, got, want))
        if isinstance(got, float) and got.is_integer():
            wrong.append('case %d: %s is whole and has a point: %r' % (k, key, got))
    broken = not math.isfinite(float(table('run/metrics.tsv')[1][-1]['loss']))
    rank = summary.WORDS.index(word)
    mine = [first(n, rows, broken, cause, rank, len(run.steps), *summary.coverage(run), odd), second(n, odd, gone),
            third(n, rows, odd, broken, gone)]
    wrong += ['case %d: %r there, %r here' % (k, a, b) for a, b in zip(there['verdict'], mine) if a != b]
    if (there['verdict_word'], there['cause'], len(there['verdict'])) != (word, cause, 3):
        wrong.append('case %d: %s by %s there, %s by %s here' % (k, there['verdict_word'], there['cause'], word, cause))
    if [x for x in r.stdout.splitlines() if x in there['verdict']] != there['verdict']:
        wrong.append('case %d: the sentences are not printed' % k)
    said.add((rank, broken, cause, any(odd.values()), bool(over)))
    return wrong


said = set()
for part in range(4):
    none(sum((case(k) for k in range(part, CASES, 4)), []), 'summaries of drawn tables: %d cases' % (CASES // 4))
causes, ranks = {x[2] for x in said}, {x[0] for x in said}
ok(causes == {None, 'gradients', 'updates', 'moments', 'statistics', 'weights', 'states', 'next'}
    and ranks == {0, 1, 2, 3} and len(said) > 12,
   'every verdict and every cause was among them, of %d kinds' % len(said), sorted(map(str, said)))  # fmt: skip
finish()
