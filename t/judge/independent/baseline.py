# SPDX-License-Identifier: Apache-2.0
# A baseline of check, from the tables of the runs that it was recorded from.
import json
import os

from .expect import Near
from .files import table
from .number import FORMATS

# table: columns that name a row, held columns and the way that each must not move
HELD = {'replay': ('step layer call tensor', {'ulp_max': 'up', 'ulp_mean': 'up', 'backward_normwise': 'up', 'bound_ratio_max': 'up', 'over_bound': 'up', 'propagated_rel_normwise': 'up'}),
        'swamping': ('step layer call tensor kind', {'share_swamped': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
        'underflow': ('step layer call tensor from', {'share_nonzeros': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
        'loss-scale-safe': ('step tensor', {'log2_scale_min': 'up', 'log2_scale_max': 'down'}),
        'weights': ('step tensor role', {'kept': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
        'coverage': ('step', {'judged': 'down', 'update_elements_judged': 'down', 'l2_share_judged': 'down'})}


def described(program):
    """By key: what doc/formats.md says of a program's calls and of tensors that no call makes, from the file of the program."""
    tensor = {t['id']: t for t in program['tensors']}

    def word(text):
        return (text or '-').replace(' ', '_')

    def number(x):
        return next(t for t in ('%.*g' % (digits, x) for digits in range(6, 18)) if float(t) == x)

    def of(t):
        text = '%s[%s]' % (t['format'], ','.join(map(str, t['shape']))) + ''.join(',' + k for k in ('state', 'trainable', 'loss_scaled') if t.get(k))
        return word(text + ''.join(',%s=%s' % (k, tensor[t[k]]['name']) for k in ('next', 'scale') if k in t))

    made = set()
    for c in program['calls']:
        attr = dict(c['attr'])
        saturate = attr.pop('saturate', False)
        words = [(k, word(v) if isinstance(v, str) else number(v)) for k, v in sorted(attr.items())]
        words += [('saturate', '1')] if saturate else []
        words += [('mode', c['mode']), ('sum', c['sum']), ('compute', c['fmt']['compute']), ('acc', c['fmt']['acc']), ('phase', c['phase'])]
        words += [('reads', word(','.join(tensor[t]['name'] for t in c['in'])))] + [(word(tensor[t]['name']), of(tensor[t])) for t in c['out']]
        words += [('random', word(c['seed_name']))]
        made.update(c['out'])
        yield tensor[c['out'][0]]['name'], ' '.join([c['op'], word(c['layer']), *('%s=%s' % w for w in words)])
    for t in program['tensors']:
        if t['id'] not in made:
            yield t['name'], 'tensor %s is=%s' % (word(t['name']), of(t))


def fnv1a(data):
    h = 14695981039346656037
    for byte in data:
        h = (h ^ byte) * 1099511628211 & 2**64 - 1
    return h


def begun(run):
    """Of a traced step 0: every tensor, as bytes of the file."""
    if 0 in run.steps:
        made = {run.tensors[t]['name'] for c in run.calls for t in c['out']}
        with open(os.path.join(run.path, 'trace', 'step-000000.safetensors'), 'rb') as f:
            raw = f.read()
        length = int.from_bytes(raw[:8], 'little')
        for name, what in json.loads(raw[8:8 + length]).items():
            if name != '__metadata__':
                start, end = what['data_offsets']
                yield ('output/' if name in made else 'begin/') + name, raw[8 + length + start:8 + length + end]


def quantities(run):
    """By key: text, the way that it must not move, the format whose ulps count."""
    q = {}
    metrics = table(os.path.join(run.path, 'metrics.tsv'))[1]
    for i, row in enumerate(metrics):
        ends = i in (0, len(metrics) - 1) or row['eval_loss'] != '-'
        if ends or bin(i).count('1') == 1:  # the state behind steps 1, 2, 4, 8, ... as well
            q['metrics/%s/digest' % row['step']] = row['digest'], 'both', 'fp64'
        if ends:
            for c in ('loss', 'accuracy', 'eval_loss', 'eval_accuracy', 'loss_scale'):
                q['metrics/%s/%s' % (row['step'], c)] = row[c], 'both', 'fp32'
            for c in ('precision', 'recall', 'dice', 'iou', 'hit_rate', 'ndcg'):
                if row['eval_' + c] != '-':
                    q['metrics/%s/eval_%s' % (row['step'], c)] = row['eval_' + c], 'both', 'fp32'
    for row in table(os.path.join(run.path, 'updates.tsv'))[1]:
        for c in ('updates', 'swamped'):
            key = 'updates/%s/%s' % (row['tensor'], c)
            q[key] = '%d' % (int(row[c]) + int(q.get(key, ('0',))[0])), 'both', 'fp64'
    q.update(('%s/digest' % name, ('0x%016x' % fnv1a(data), 'both', 'fp64')) for name, data in begun(run))
    for name in ('program-train.json', 'program-eval.json'):
        with open(os.path.join(run.path, name)) as f:
            program = json.load(f)
        q.update(('program/%s/%s' % (program['name'], key), (text, 'both', 'fp64')) for key, text in described(program))
    q['metrics/last/digest'] = metrics[-1]['digest'], 'both', 'fp64'
    for name, (ids, columns) in HELD.items():
        for row in table(run.analysis(name + '.tsv'))[1]:
            for c, side in columns.items():
                q['/'.join([name, *(row[i] for i in ids.split()), c])] = row[c], side, 'fp64'
    # the worst of each column that may move in one direction, which a reviewer reads first
    for name, (_, columns) in HELD.items():
        for c, side in columns.items():
            held = [text for key, (text, *_) in q.items() if key.startswith(name + '/') and key.endswith('/' + c) and (is_number(text) or text in ('nan', 'inf', '-inf'))]
            if held:
                worst = next((text for text in held if text == 'nan'), None) or (max if side == 'up' else min)(held, key=float)
                q['summary/%s/%s' % (name, c)] = worst, side, 'fp64'
    return q


def is_number(text):
    return text not in ('-', 'nan', 'inf', '-inf') and not text.startswith('0x') and ' ' not in text


def allowed(run, q, key, k):
    """What K ulps of its elements can move a quantity by: ulps of fp32, an absolute distance, and whether it is compared."""
    made = {run.tensors[t]['name']: run.tensors[t]['format'] for c in run.calls for t in c['out']}
    table_, *_, column = key.split('/')
    if k == 0 or table_ == 'program':
        return 0.0, 0.0, True
    if table_ == 'summary':
        each = [allowed(run, q, other, k) for other in q if other.startswith(key.split('/')[1] + '/') and other.endswith('/' + column)]
        return 0.0, max(x[1] for x in each), all(x[2] for x in each)
    if column in ('digest', 'share_swamped', 'share_nonzeros', 'updates', 'swamped'):
        return 0.0, 0.0, False
    if table_ == 'metrics':
        return (0.0 if column == 'loss_scale' else k), 0.0, True
    if column in ('log2_scale_min', 'log2_scale_max'):
        return 0.0, 1.0, True
    if column in ('ulp_max', 'ulp_mean'):
        return 0.0, k, True
    if column == 'bound_ratio_max':  # K ulps, of a bound that is as many ulps as the largest error is times what that is of the bound
        most, share = q[key.rsplit('/', 1)[0] + '/ulp_max'][0], q[key][0]
        return 0.0, k * float(share) / float(most) if is_number(most) and is_number(share) and float(most) else 0.0, True
    if 'normwise' in column or column in ('l2_share_lost', 'cosine'):
        return 0.0, k * 2.0 ** (1 - FORMATS[made.get(key.split('/')[4], 'fp32')][2]), True
    return 0.0, 0.0, True


def rows(runs, ulps):
    """RUNS: the one whose numbers stand there, and those that must be within ULPS of it."""
    each = [quantities(r) for r in runs]
    for key in sorted(each[0]):
        text, side, form = each[0][key]
        of_fp32, tolerance, compared = allowed(runs[0], each[0], key, float(ulps))
        if key.startswith('program/') and any(q.get(key, ('',))[0] != text for q in each):
            compared = False  # the runs differ there, and no tolerance can say by how much
        yield {'quantity': key, 'value': Near(float(text), 0) if is_number(text) else text, 'hex': Hex(float(text)) if is_number(text) else '-', 'must_not_move': side if compared else 'any', 'ulps_of': form, 'ulps': '%g' % of_fp32,
               'tolerance': Near(tolerance, 1e-9, 1e-13 * abs(float(text)) if is_number(text) else 0)}


class Hex(Near):
    """A hex float of exactly this number."""

    def __init__(self, value):
        Near.__init__(self, value, 0)

    def holds(self, text):
        return text not in ('-', '') and float.fromhex(text) == self.value
