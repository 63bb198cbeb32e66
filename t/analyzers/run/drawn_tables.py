# SPDX-License-Identifier: Apache-2.0
# Tables of an analysis with drawn cells: rows of a run in plain/, changed and written to run/. Level 0 draws little
# harm, 1 some, 2 what is fatal or not finite.
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.harm import verdict  # noqa: E402
from sealed import seal, unsealed  # noqa: E402

rng, reads, steps = random.Random(11), random.Random(12), random.Random(13)


def pick(*some):
    return rng.choice(some)


def harmed(row, level):
    """What of a vector was lost, with the verdict on it: little (level 0), some, most; elements may be not finite."""
    share = pick(0, 0.0004, 0.0013, 0.07, *((), (0.3,), (0.5, 0.83))[level])
    cosine = pick(1, 0.99961, 0.9912, *((), (0.97,), (0.9, 0.45, -0.3))[level])
    word = verdict(share, cosine)
    if level == 2 and rng.random() < 0.5:
        share, cosine, word = pick(('-', '-', 'fatal'), (0.02, 0.998, 'fatal'))
    elif rng.random() < 0.1:
        share, cosine, word = '-', '-', '-'
    return {**row, 'l2_share_lost': str(share), 'cosine': str(cosine), 'verdict': word}


def metrics(row, level):
    return {
        **row,
        'loss': pick('2.5', '0.125', '3', *(('nan', 'inf') if level == 2 else ())),
        'accuracy': pick('0.25', '1', '-'),
        'eval_accuracy': pick('0.75', '-', '-'),
        'loss_scale': pick('1024', '0.5', '-'),
        'skipped': pick('0', '1'),
    }


def replay(row, level):
    return {
        **row,
        'sampled': str(rng.randrange(1, 900)),
        'ulp_max': pick('0.5', '17.25', '33554433', *(('inf',) if level else ())),
        'condition_max': pick('1', '16', '17', '1e9'),
        'bound_ratio_max': pick('0', '0.9', '0.4', '1.5'),
        'over_bound': pick('0', '3', '1') if level else '0',
        'bias_t': pick('-', '0', '2.5', '7.25'),
        'biased': pick('0', '0', '1'),
    }


def counted(row, of='of_elements'):
    n = rng.randrange(1, 500)
    row = {**row, 'elements': str(n), of: str(n * pick(1, 3)), 'nonzeros': str(pick(0, n))}
    return {**row, 'became_zero': str(rng.randrange(int(row['nonzeros']) + 1))}


def underflow(row, level):
    return harmed(row, level) if row['tensor'] == 'all' else counted(row)


def swamping(row, level):
    if row['kind'] != 'update' or row['tensor'] != 'all':
        return row
    n = pick(0, rng.randrange(1, 999))
    swamped = rng.randrange(n + 1)
    by_decay = pick(0, rng.randrange(swamped + 1))
    return harmed({**row, 'additions': str(n), 'swamped': str(swamped), 'swamped_by_decay': str(by_decay)}, level)


def state(row, level):
    return harmed({**row, 'kind': pick('moment', 'statistic')}, level) if row['tensor'] == 'all' else row


def safe(row, level):
    low, high = rng.randrange(-20, 20 if level else 6), rng.randrange(6, 30)
    if row['tensor'] == 'all' and not low <= high or rng.random() < 0.1:
        low, high = ('-', '-') if row['tensor'] == 'all' else pick(('-', high), (low, '-'), ('-', '-'))
    return {**row, 'log2_scale_min': str(low), 'log2_scale_max': str(high)}


def weights(row, level):
    if row['tensor'] != 'all':
        return row
    row = harmed(row, level)
    n = pick(0, 0, rng.randrange(1, 900))
    kept = rng.randrange(n + 1) if level else 0
    if n and kept > 0.1 * n and row['verdict'] != 'fatal':
        row['verdict'] = 'fatal' if kept >= 0.5 * n else 'costs'
    odd = row['verdict'] == 'fatal' and row['l2_share_lost'] in ('-', '0.02') and not kept > 0.1 * n
    return {**row, 'gradients_unjudged': str(n), 'kept_unjudged': str(kept), 'nonfinite': str(int(odd))}


def behind(row, level):
    """The row of a step behind the row's."""
    cosine, length = steps.choice((('1', '1'), ('0.9991', '0.9934'), *((('0.31', '1.4'), ('0.9812', '1'), ('0.9954',
        '1.17'), ('-', '-')) if level else ())))
    dead = '2' if cosine == '-' else steps.choice('0013')
    fine = dead == '0' and float(cosine) >= 0.99 and abs(float(length) - 1) <= 0.1
    return {**dict.fromkeys(row, '-'), 'step': row['step'], 'tensor': 'all', 'layer': 'all', 'role': 'next', 'cosine':
            cosine, 'length': length, 'verdict': 'harmless' if fine else 'costs', 'elements': row['elements'],
            'nonfinite': dead}


def covered(row, level):
    calls, tensors = rng.randrange(1, 90), int(row['weights'])
    judged, share = (calls, pick('1', '1', '0.995')) if not level else (rng.randrange(calls),
        pick('1', '0.5', '0', '-'))
    missed = 0 if share == '1' else rng.randrange(1, tensors + 1) if tensors else 0
    n = rng.randrange(1, 99)
    bare = steps.choice('0111')                  # 0: no gradient was recorded
    gradients = str(n) if bare == '1' else '0'
    return {
        **row,
        'calls': str(calls),
        'judged': str(judged),
        'l2_share_judged': share if tensors else '-',
        'updates_judged': str(tensors - missed),
        'update_elements_judged': str(int(row['elements']) - 3 * missed),
        'silent_elements': pick('0', '0', '7') if level and missed else '0',
        'gradients': gradients,
        'gradient_elements_judged': row['gradient_elements_judged'] if bare == '1' else '0',
        'kept': str(rng.randrange(n + 1)),
        'skipped': pick('0', '1') if level and not tensors else row['skipped'],
        'choices': '40',
        'otherwise': pick('0', '0', '3') if level or share == '1' else '0',
        'reads': '30',
        'apart': reads.choice(('0', '0', '2')) if level or share == '1' else '0',
    }


def unjudged(rows, level):
    """Rows of a table that was empty."""
    made = []
    for step in ('0', '2'):
        for name in rng.sample(['aten.topk', 'flash_attn.fwd', 'Adafactor.step', 'aten.sort', 'x.y'], rng.randrange(6)):
            cells = (step, name, str(rng.randrange(2, 9)), str(rng.randrange(4)), '1', 'no such operator')
            made.append(dict(zip(('step', 'operator', 'calls', 'tainting', 'weights', 'reason'), cells)))
    return made if level else []


DRAWN = {
    'metrics': metrics,
    'analysis/replay': replay,
    'analysis/underflow': underflow,
    'analysis/swamping': swamping,
    'analysis/state': state,
    'analysis/loss-scale-safe': safe,
    'analysis/weights': weights,
    'analysis/coverage': covered,
    'analysis/unjudged': None,
}


def write(name, rows, columns):
    notes = [line for line in open('plain/%s.tsv' % name) if line.startswith('#')]
    lines = ['\t'.join(columns)] + ['\t'.join(r[c] for c in columns) for r in rows]
    text = ''.join(notes) + '\n'.join(lines) + '\n'
    open('run/%s.tsv' % name, 'w').write(seal(unsealed(text)) if name.startswith('analysis/') else text)
