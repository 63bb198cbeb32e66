# SPDX-License-Identifier: Apache-2.0
# What check computes in statistics mode, with Python's standard library alone: the aggregates of a run from its files,
# Student's t and the sum of squares by Simpson's rule.
import functools
import json
import math
import os
import statistics
import struct


def tsv(path):
    cells = [l.rstrip('\n').split('\t') for l in open(path) if not l.startswith('#')]
    return [dict(zip(cells[0], c)) for c in cells[1:]]


def mean_of(values):
    return statistics.fmean(values)


def quantile(values, q):
    return sorted(values)[int(q * (len(values) - 1))]


def state(name):
    path = sorted(os.listdir(name + '/checkpoint'))[-1]
    raw = open('%s/checkpoint/%s' % (name, path), 'rb').read()
    n = struct.unpack('<Q', raw[:8])[0]
    h = json.loads(raw[8:8 + n])
    h.pop('__metadata__')
    return {
        k: struct.unpack(
            '<%df' % ((v['data_offsets'][1] - v['data_offsets'][0]) // 4),
            raw[8 + n + v['data_offsets'][0] : 8 + n + v['data_offsets'][1]],
        )
        for k, v in h.items()
        if v['dtype'] == 'F32'
    }


def rms(lists):
    v = [x for l in lists for x in l]
    return math.log(math.sqrt(math.fsum(x * x for x in v) / len(v)))


def aggregates(name):
    m, replay, updates, w = (
        tsv(name + '/metrics.tsv'), tsv(name + '/analysis/replay.tsv'), tsv(name + '/updates.tsv'), state(name)
    )
    loss, norm = [float(r['loss']) for r in m], [float(r['grad_norm']) for r in m]
    evals = [r for r in m if r['eval_loss'] != '-']
    right = float(evals[-1]['eval_accuracy']) * 64
    a = {
        'start/loss': loss[0],
        'exact/nonfinite_losses': 0,
        'exact/skipped_steps': sum(float(r['skipped']) for r in m),
        'exact/last_loss_scale': float(m[-1]['loss_scale']),
        'eval_loss/first': math.log(float(evals[0]['eval_loss'])),
        'eval_loss/last': math.log(float(evals[-1]['eval_loss'])),
        'eval_accuracy/last': math.log((right + 0.5) / (64 - right + 0.5)),
        'loss/first_tenth': math.log(mean_of(loss[:4])),
        'loss/first_epoch': math.log(mean_of(loss[:10])),
        'loss/last_epoch': math.log(mean_of(loss[-10:])),
        'grad_norm/first': math.log(quantile(norm[:4], 0.5)),
        'grad_norm/last': math.log(quantile(norm[-4:], 0.5)),
        'grad_norm/spread': math.log(quantile(norm, 0.95) / quantile(norm, 0.5)),
        'updates/swamped': math.log(
            (sum(float(r['swamped']) for r in updates) + 0.5) / (sum(float(r['updates']) for r in updates) + 1)
        ),
        'exact/outputs_over_bound': sum(float(r['over_bound']) > 0 for r in replay if r['over_bound'] != '-'),
        'error/propagated_p': math.log(
            float([r for r in replay if r['tensor'] == 'loss.p'][-1]['propagated_rel_normwise'])
        ),
    }
    weights = {k: v for k, v in w.items() if k.endswith(('.w', '.b'))}
    a['weights/all'] = rms(weights.values())
    a['weights/first_layer'] = rms(v for k, v in weights.items() if k.startswith('dense1.'))
    a['weights/last_layer'] = rms(v for k, v in weights.items() if k.startswith('dense3.'))
    a['moments/first'] = rms(v for k, v in w.items() if k.endswith('_m'))
    a['moments/second'] = rms(v for k, v in w.items() if k.endswith('_v'))
    for phase in ('forward', 'backward'):
        tails = [float(r['ulp_p99']) for r in replay if r['op'] == 'matmul' and r['phase'] == phase
                 and float(r['ulp_p99']) > 0]
        a['error/products_%s_p99' % phase] = math.log(quantile(tails, .5))
    groups = {}
    for r in replay:
        group = ({'_m_next': 'first_moment', '_v_next': 'second_moment', '.w_next': 'weights',
                  '.b_next': 'weights'}.get(r['tensor'][-7:]) if r['phase'] == 'update' else 'casts' if r['op']
                 == 'cast' else 'products_' + r['phase'] if r['op'] == 'matmul' else 'elementwise')
        e = float(r['backward_normwise']) if r['backward_normwise'] != '-' else 0
        if group and 0 < e < math.inf:
            groups.setdefault('error/' + group, []).append((float(r['sampled']), e))
    a.update({g: math.log(math.sqrt(math.fsum(n * e * e for n, e in v) / math.fsum(n for n, _ in v))) for g,
              v in groups.items()})
    return a


def tail(t, n):
    c = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    a, steps = math.atan(t / math.sqrt(n)), 1000
    h = (math.pi / 2 - a) / steps
    f = lambda u: max(math.cos(u), 0) ** (n - 1)
    return (c * h / 3 * (f(a) + f(math.pi / 2) + 4 * math.fsum(f(a + i * h) for i in range(1, steps, 2)) + 2
                         * math.fsum(f(a + i * h) for i in range(2, steps, 2))))


@functools.cache
def limit(p, n):
    low, high = 0.0, 1e3
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (mid, high) if tail(mid, n) > p else (low, mid)
    return high


def chi_square(p, n):
    """The x below which the sum of N squares lies with probability P, by Simpson's rule in y = sqrt(x), whose
    density is smooth for n > 1."""
    c = 2 ** (1 - n / 2) / math.gamma(n / 2)

    def below(x):
        top, steps = math.sqrt(x), 600
        f = lambda y: c * y ** (n - 1) * math.exp(-y * y / 2)
        h = top / steps
        return (
            h
            / 3
            * (
                f(0)
                + f(top)
                + 4 * math.fsum(f(i * h) for i in range(1, steps, 2))
                + 2 * math.fsum(f(i * h) for i in range(2, steps, 2))
            )
        )
    low, high = 0.0, 1e3
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if below(mid) < p else (low, mid)
    return high
