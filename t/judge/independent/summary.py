# SPDX-License-Identifier: Apache-2.0
# summary.json, from the tables that it sums up (each of them recomputed elsewhere) and the files of the run.
import json
import math
import os
import re

from .covered import NAN, Tables, coverage, enough, number
from .expect import Near, holds
from .files import table
from .harm import RANK

WORDS = ['unknown', 'harmless', 'costs', 'fatal']


def worst(values, pick):
    values = [v for v in values if not math.isnan(v)]
    return pick(values) if values else NAN


def last(rows, column):
    values = [float(r[column]) for r in rows if r[column] != '-']
    return values[-1] if values else NAN


def is_second_moment(run, tensor):
    """The third output of Adam's update, the state that it replaces, or a cast of one: an SGD's velocity is none."""
    name = tensor.split('@')[0]
    i = next((i for i, t in enumerate(run.tensors) if t['name'] == name), None)
    after = None if i is None else run.tensors[i].get('next') if run.tensors[i].get('state') else i
    c = run.producer.get(after)
    return c is not None and c['op'] in ('adam', 'adamw') and c['out'][2] == after


def verdicts(rows):
    """Rows of tensor 'all' that have one."""
    return [r for r in rows if r['tensor'] == 'all' and r['verdict'] != '-']


def clipping(run, metrics):
    """In how many steps the norm of all gradients was above the one that they are clipped to."""
    path = os.path.join(run.path, 'manifest.json')
    most = json.load(open(path))['config'].get('clip-norm', 0) if os.path.exists(path) else 0
    if not most:
        return {'clip_norm': NAN, 'clipped_steps': NAN, 'clip_factor_least': NAN}
    norms = [x for x in (number(r['grad_norm']) for r in metrics) if math.isfinite(x)]
    return {
        'clip_norm': most,
        'clipped_steps': sum(x > most for x in norms),
        'clip_factor_least': min((min(1, most / x) if x else 1 for x in norms), default=NAN),
    }


def expected(run):
    """The numbers by key, and the verdict's rank and cause."""
    t, metrics = Tables(run), table(os.path.join(run.path, 'metrics.tsv'))[1]
    replay, swamping, underflow, state, safe = (
        t['replay'],
        t['swamping'],
        t['underflow'],
        t['state'],
        [r for r in t['loss-scale-safe'] if r['tensor'] == 'all'],
    )
    n = {
        'final_loss': last(metrics, 'loss'),
        'final_accuracy': last(metrics, 'accuracy'),
        'eval_accuracy': last(metrics, 'eval_accuracy'),
        'loss_scale_final': last(metrics, 'loss_scale'),
        'steps': len(metrics),
        'skipped_steps': sum(r['skipped'] == '1' for r in metrics),
    }
    ulps = [float(r['ulp_max']) for r in replay]
    n['judged_outputs'] = sum(int(r['sampled']) for r in replay)
    n['worst_ulp'] = max(ulps, default=NAN)
    n['worst_ulp_tensor'] = replay[ulps.index(max(ulps))]['tensor'] if ulps else None
    n['worst_bound_ratio'] = max((float(r['bound_ratio_max']) for r in replay), default=NAN)
    largest = replay[ulps.index(max(ulps))] if ulps else {'ulp_max': 'nan', 'bound_ratio_max': 'nan'}
    n['worst_ulp_bound_ratio'] = float(largest['ulp_max' if math.isinf(max(ulps, default=0)) else 'bound_ratio_max'])
    n['over_bound'] = sum(int(r['over_bound']) for r in replay)
    n['biased_tensors'] = sum(r['biased'] == '1' for r in replay)
    n['bias_t_max'] = max((float(r['bias_t']) for r in replay if r['bias_t'] != '-'), default=NAN)
    updates = [r for r in swamping if r['kind'] == 'update' and r['tensor'] == 'all']
    moved = sum(int(r['additions']) for r in updates)
    n['swamped_share_updates'] = sum(int(r['swamped']) for r in updates) / moved if moved else NAN
    n['swamped_share_updates_by_decay'] = sum(int(r['swamped_by_decay']) for r in updates) / moved if moved else NAN
    judged = {
        'updates': verdicts(updates),
        'gradients': verdicts(underflow),
        'moments': verdicts([r for r in state if r['kind'] == 'moment']),
        'statistics': verdicts([r for r in state if r['kind'] == 'statistic']),
    }
    share = {k: worst([number(r['l2_share_lost']) for r in rows], max) for k, rows in judged.items()}
    cosine = {k: worst([number(r['cosine']) for r in rows], min) for k, rows in judged.items()}
    n.update(
        {
            'update_l2_share_lost': share['updates'],
            'update_cosine': cosine['updates'],
            'gradient_l2_share_lost': share['gradients'],
            'gradient_cosine': cosine['gradients'],
            'second_moment_step_cosine': cosine['moments'],
            'second_moment_idle_step_cosine': worst(
                [number(r['cosine_idle']) for r in state if r['kind'] == 'moment' and r['tensor'] == 'all'], min),
            'running_statistics_share_lost': share['statistics'],
        }
    )
    counted = [r for r in underflow if r['from'] != 'exact']
    scaled = lambda rows, c: sum(int(r[c]) * int(r['of_elements']) / int(r['elements']) for r in rows)  # noqa: E731
    gradients, moments = [r for r in counted if r['class'] in ('gradient', 'wgrad')], [
        r for r in counted if r['class'] not in ('gradient', 'wgrad') and is_second_moment(run, r['tensor'])
    ]
    short = [t for t in run.tensors if t['class'] in ('gradient', 'wgrad') and t['format'] not in ('fp32', 'fp64')]
    n['zeroed_gradients'] = round(scaled(gradients, 'became_zero'))
    n['zeroed_share'] = (
        n['zeroed_gradients'] / scaled(gradients, 'nonzeros')
        if scaled(gradients, 'nonzeros')
        else NAN if short else 0.0
    )
    n['second_moment_zeroed_share'] = (
        scaled(moments, 'became_zero') / scaled(moments, 'nonzeros') if scaled(moments, 'nonzeros') else NAN
    )
    own = [r for r in state if r['kind'] == 'moment' and r['tensor'] == 'all']
    changed = sum(int(r['moved']) for r in own)
    n['second_moment_swamped_share'] = sum(int(r['swamped']) for r in own) / changed if changed else NAN
    n.update(clipping(run, metrics))
    drawn = [r for r in t['stochastic'] if (r['tensor'], r['kind'], r['draws']) == ('all', 'gradient', '16')]
    moved = [r for r in t['stochastic'] if (r['tensor'], r['kind'], r['draws']) == ('all', 'update', '16')]
    n['update_cosine_expected'] = worst([number(r['cosine']) for r in moved], min)
    n.update(
        {
            'gradient_cosine_expected': worst([number(r['cosine']) for r in drawn], min),
            'gradient_noise': worst([number(r['l2_noise']) for r in drawn], max),
            'gradient_bias': worst([number(r['l2_bias']) for r in drawn], max),
        }
    )
    fits = safe and all(r['log2_scale_min'] != '-' for r in safe)
    low, high = (
        (max(int(r['log2_scale_min']) for r in safe), min(int(r['log2_scale_max']) for r in safe)) if fits else (1, 0)
    )
    n.update({'safe_log2_scale_min': low if low <= high else NAN, 'safe_log2_scale_max': high if low <= high else NAN})
    whole = [r for r in t['weights'] if r['tensor'] == 'all']
    weights = [r for r in whole if r['role'] == 'parameter']
    n['weights_l2_share_lost'], n['weights_cosine'] = worst([number(r['l2_share_lost']) for r in weights], max), worst(
        [number(r['cosine']) for r in weights], min
    )
    n['weights_length'] = worst([number(r['length']) for r in weights], max)
    seen, *_ = coverage(run)
    share = seen['update_l2_share_judged']
    n['update_l2_share_judged'] = NAN if share is None else share
    n['calls_judged_share'] = seen['calls_judged'] / seen['calls'] if seen['calls'] else NAN
    pulled = seen['weights_with_gradient']
    n['weights_kept_share'] = seen['weights_kept'] / pulled if pulled else NAN
    rank = max([RANK[r['verdict']] for rows in (*judged.values(), whole) for r in rows], default=0)
    bare = without_gradients(seen, n)
    if rank == 1 and (not judged['updates'] and not judged['gradients'] and not bare or not enough(run)):
        rank = 0  # it rests on gradients and updates, of which enough was seen; moments and statistics only worsen it
    if not math.isfinite(float(metrics[-1]['loss'])):
        rank, n['final_loss'] = 3, 'not finite'
    return (
        n,
        WORDS[rank],
        cause(metrics, judged['gradients'], judged['updates'], verdicts(state), whole) if rank > 1 else None,
    )


def without_gradients(seen, n):
    """No gradient was recorded, and updates were judged."""
    none = seen['weights_with_gradient'] == seen['gradient_elements_judged'] == 0
    return none and not math.isnan(n['weights_cosine'])


def cause(metrics, gradients, updates, state, whole):
    """What first made the verdict as bad as it is; nothing where a loss that is not finite did."""
    if not math.isfinite(float(metrics[-1]['loss'])):
        return None
    named = [(r, 'gradients') for r in gradients] + [(r, 'updates') for r in updates]
    named += [(r, 'moments' if r['kind'] == 'moment' else 'statistics') for r in state]
    named += [(r, {'parameter': 'weights', 'state': 'states'}.get(r['role'], r['role'])) for r in whole]
    worst_rank = max(RANK[r['verdict']] for r, _ in named)
    return next(name for r, name in named if RANK[r['verdict']] == worst_rank)


def figures(sentence):
    """The numbers of a sentence that are no part of a name."""
    return re.findall(r'(?<![\w.@^])-?\d+(?:\.\d+)?(?:e[-+]\d+)?', sentence)


def compare(run, sample):
    """Problems, and how many numbers agreed, by key."""
    there, (n, word, made_by) = json.load(open(run.analysis('summary.json'))), expected(run)
    wrong, agreed = [], {}
    others = {'verdict', 'verdict_word', 'cause', 'coverage', 'nonfinite', 'nan', 'remedies', 'numbers', 'provenance'}
    for key in sorted(set(there) - others):
        wrong.append('summary.json: %s is recomputed by nothing' % key)
    for key in sorted(set(there['numbers']) ^ set(n)):
        what = 'recomputed by nothing' if key in there['numbers'] else 'not there'
        wrong.append('summary.json: %s is %s' % (key, what))
    for key in set(there['numbers']) & set(n):
        got, e = there['numbers'][key], n[key]
        if e is None or isinstance(e, str) or got is None:
            same = got == e if e is None or isinstance(e, str) else not math.isfinite(e)
        else:
            same = holds(Near(e, 1e-14), repr(got))
        agreed[key] = agreed.get(key, 0) + same
        if not same:
            wrong.append('summary.json: %s is %r there, %r here' % (key, got, e))
    if there['verdict_word'] != word:
        wrong.append('summary.json: the word is %s there, %s here' % (there['verdict_word'], word))
    if there['cause'] != made_by:
        wrong.append('summary.json: the cause is %s there, %s here' % (there['cause'], made_by))
    if len(there['verdict']) != 3 or any(re.search(r'\bnan\b', s) for s in there['verdict']):
        wrong.append('summary.json: the verdict is not three sentences with numbers: %r' % there['verdict'])
    rows = Tables(run)['nonfinite']
    for key, kind in (('nonfinite', 'nonfinite'), ('nan', 'nan')):
        own = next((r for r in rows if r['made'] == kind and r['step'] == rows[0]['step']), None)
        got = there[key] and {k: '-' if v is None else str(v) for k, v in there[key].items()}
        agreed[key] = agreed.get(key, 0) + (own is not None and own == got)
        if own != got:
            wrong.append('summary.json: %s is %r there, %r here' % (key, got, own))
    causes = {r['cause'] for r in rows} | {there['cause'], 'gradients', 'rounding', 'updates'}
    strange = [r for r in there['remedies'] if r['cause'] not in causes or not r['command'].startswith('halfulp ')]
    agreed['remedies'] = agreed.get('remedies', 0) + bool(there['remedies'])
    if strange or (not there['remedies'] and there['cause'] and not rows):
        wrong.append('summary.json: the remedies %r are for no cause that is there' % there['remedies'])
    mine, *_ = coverage(run)
    for key in sorted(set(there['coverage']) | set(mine)):
        got, e = there['coverage'].get(key, 'not there'), mine.get(key, 'recomputed by nothing')
        same = got == e or (
            isinstance(e, float) and isinstance(got, (int, float)) and math.isclose(got, e, rel_tol=1e-14)
        )
        agreed['coverage.' + key] = agreed.get('coverage.' + key, 0) + same
        if not same:
            wrong.append('summary.json: coverage.%s is %r there, %r here' % (key, got, e))
    zero = lambda x: 0 if x is None or math.isnan(x) else x  # noqa: E731
    second = ([] if math.isnan(n['zeroed_share']) else ['%.0f' % zero(n['zeroed_gradients'])]) + [
        '%.3g' % (100 * zero(n[k]))
        for k in (
            'zeroed_share',
            'swamped_share_updates',
            'swamped_share_updates_by_decay',
            'weights_kept_share',
            'gradient_l2_share_lost',
            'update_l2_share_lost',
        )
        if not math.isnan(n[k]) and (k != 'swamped_share_updates_by_decay' or n[k] > 0)
    ]
    if zero(n['second_moment_zeroed_share']) > 0:
        second.append('%.3g' % (100 * n['second_moment_zeroed_share']))
    if zero(n['second_moment_swamped_share']) > 0:
        second.append('%.3g' % (100 * n['second_moment_swamped_share']))
    if zero(n['clipped_steps']) > 0:
        second += ['%g' % n['clip_norm'], '%d' % n['clipped_steps'], '%d' % n['steps'], '%.3g' % n['clip_factor_least']]
    if figures(there['verdict'][1]) != second:
        wrong.append('summary.json: the second sentence has %s there, %s here' % (figures(there['verdict'][1]), second))
    allowed = {str(len(run.steps)), *map(str, run.steps)} | {
        '%.4f' % n[k] for k in ('gradient_cosine', 'update_cosine', 'second_moment_step_cosine') if not math.isnan(n[k])
    }
    allowed |= {'%.4f' % n['weights_cosine'], '%.1f' % (100 * zero(n['weights_l2_share_lost'])), '99'}
    allowed |= {'%.3g' % number(r['length']) for r in Tables(run)['weights'] if r['tensor'] == 'all'}
    allowed |= {
        '%.0f' % mine[k]
        for k in ('calls', 'calls_judged', 'weights', 'steps_skipped', 'steps_without_update')
        if mine[k] is not None
    } | {str(len(mine['steps']))}
    if mine['calls']:
        allowed |= {
            '%.3g' % (100 * mine['calls_judged'] / mine['calls']),
            '%.0f' % (mine['weights'] - mine['weights_judged']),
            '%.3g' % (100 * zero(mine['update_l2_share_judged'])),
        }
    allowed |= {'%d' % o[k] for o in mine['not_judged'] for k in ('tainting', 'calls')}
    scale = [n[k] for k in ('safe_log2_scale_min', 'safe_log2_scale_max')]
    allowed |= {
        '%.1f' % (100 * int(r['kept_unjudged']) / int(r['gradients_unjudged']))
        for r in Tables(run)['weights']
        if r['gradients_unjudged'] not in ('0', '-')
    }
    allowed |= {
        '%.1f' % (100 * n[k])
        for k in ('gradient_l2_share_lost', 'update_l2_share_lost', 'running_statistics_share_lost')
        if k in n and not math.isnan(n[k])
    }
    if n['worst_ulp'] < math.inf and n['worst_ulp_bound_ratio'] > 0:
        said = figures(there['verdict'][2].split(', in ')[0])
        if said[:1] != ['%.3g' % n['worst_ulp_bound_ratio']] or said[1:] not in ([], ['%.3g' % n['worst_ulp']]):
            wrong.append(
                'summary.json: the third sentence has %r where the largest error is %r ulp and %r of its bound'
                % (there['verdict'][2], n['worst_ulp'], n['worst_ulp_bound_ratio'])
            )
    scales = re.findall(r'2\^(-?\d+)', there['verdict'][2])
    if not math.isnan(n['safe_log2_scale_min']) and scales != [
        '%d' % n['safe_log2_scale_min'],
        '%d' % n['safe_log2_scale_max'],
    ]:
        wrong.append('summary.json: the third sentence has scales 2^%s, the numbers do not' % scales)
    if len(scales) == 2 and math.isnan(n['safe_log2_scale_min']):
        one = [r for r in Tables(run)['loss-scale-safe'] if r['tensor'] != 'all']
        need, limit = [
            max(int(r['log2_scale_min']) for r in one if r['log2_scale_min'] != '-'),
            min(int(r['log2_scale_max']) for r in one if r['log2_scale_max'] != '-'),
        ]
        if scales != [str(need), str(limit)]:
            wrong.append(
                'summary.json: the third sentence has scales 2^%s, the tables 2^%d and 2^%d' % (scales, need, limit)
            )
    scales = re.findall(r'2\^(-?\d+)', there['verdict'][0])
    if scales and scales != ['%d' % x for x in scale]:
        wrong.append('summary.json: the first sentence has scales 2^%s, the numbers %s' % (scales, scale))
    said = re.sub(
        r' The first traced number that is not finite: .*? (?=All \d|Of \d|How much)', ' ', there['verdict'][0]
    )
    strange = [x for x in figures(re.sub(r'2\^-?\d+', '', said)) if x not in allowed]
    if strange and 'moment' not in there['verdict'][0]:
        wrong.append(
            'summary.json: the first sentence has %s, which the numbers do not: %r' % (strange, there['verdict'][0])
        )
    for key, value in there['provenance'].items():
        e = run.steps if key == 'traced_steps' else sample if key == 'sample' else run.manifest[key]
        if value != e:
            wrong.append('summary.json: provenance %s is %r there, %r here' % (key, value, e))
    return wrong, agreed
