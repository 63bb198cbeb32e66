# SPDX-License-Identifier: Apache-2.0
# A baseline of check, from the tables of the runs that it was blessed from.
import math
import os

from .expect import Near
from .files import table

# table: columns that name a row, held columns and the way that each must not move
HELD = {'replay': ('step layer call tensor', {'ulp_max': 'up', 'ulp_mean': 'up', 'backward_normwise': 'up', 'bound_ratio_max': 'up', 'over_bound': 'up', 'propagated_rel_normwise': 'up'}),
        'swamping': ('step layer call tensor kind', {'share_swamped': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
        'underflow': ('step layer call tensor from', {'share_nonzeros': 'up', 'l2_share_lost': 'up', 'cosine': 'down'}),
        'loss-scale-safe': ('step tensor', {'log2_scale_min': 'up', 'log2_scale_max': 'down'})}


def quantities(run):
    """By key: text, the way that it must not move, the format whose ulps count."""
    q = {}
    metrics = table(os.path.join(run.path, 'metrics.tsv'))[1]
    for i, row in enumerate(metrics):
        if i in (0, len(metrics) - 1) or row['eval_loss'] != '-':
            for c in ('loss', 'accuracy', 'eval_loss', 'eval_accuracy', 'loss_scale'):
                q['metrics/%s/%s' % (row['step'], c)] = row[c], 'both', 'fp32'
    q['metrics/last/digest'] = metrics[-1]['digest'], 'both', 'fp64'
    for name, (ids, columns) in HELD.items():
        for row in table(run.analysis(name + '.tsv'))[1]:
            for c, side in columns.items():
                q['/'.join([name, *(row[i] for i in ids.split()), c])] = row[c], side, 'fp64'
    return q


def is_number(text):
    return text not in ('-', 'nan', 'inf', '-inf') and not text.startswith('0x')


def rows(runs, ulps):
    """RUNS: the reference, and those that measure the noise: 2.8 standard deviations over all of them."""
    each = [quantities(r) for r in runs]
    for key in sorted(each[0]):
        text, side, form = each[0][key]
        noise = 0.0
        values = [float(q[key][0]) for q in each if key in q and is_number(q[key][0])]
        if len(values) == len(runs):
            mean = math.fsum(values) / len(values)
            noise = 2.8 * math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        yield {'quantity': key, 'value': Near(float(text), 0) if is_number(text) else text, 'hex': Hex(float(text)) if is_number(text) else '-', 'must_not_move': side, 'ulps_of': form, 'ulps': ulps,
               'noise': Near(noise, 1e-9, 1e-13 * abs(float(text)) if is_number(text) else 0)}


class Hex(Near):
    """A hex float of exactly this number."""

    def __init__(self, value):
        Near.__init__(self, value, 0)

    def holds(self, text):
        return text not in ('-', '') and float.fromhex(text) == self.value
