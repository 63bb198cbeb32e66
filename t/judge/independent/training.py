# SPDX-License-Identifier: Apache-2.0
# What training writes, computed again from traces of every step and from the images: metrics.tsv, grads.tsv,
# updates.tsv, exponents.tsv, casts.tsv, initial weights, the order of the images, the manifest's counts of memory.
import math
import os
import struct
from fractions import Fraction as Q

from .expect import Near
from .files import Safetensors
from .number import FORMATS, fl, iv
from .sums import fnv32, philox
from .underflow import COUNTS, exponent_rows, of_call

MASK = (1 << 64) - 1


def mix64(z):
    """The finaliser of splitmix64."""
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
    return z ^ z >> 31


def fnv64(text):
    h = 0xcbf29ce484222325
    for b in text if isinstance(text, bytes) else text.encode():
        h = (h ^ b) * 0x100000001b3 & MASK
    return h


def digest(run, exact):
    """Of the state after a step."""
    total = 0
    for t in run.tensors:
        if t.get('state'):
            after = exact.t[t['next'] if t.get('next', -1) >= 0 else t['id']]
            name = fnv64(t['name'])
            for i, code in enumerate(after.codes):
                total += mix64(name ^ (i * 0x9e3779b97f4a7c15 + code & MASK))
    return '0x%016x' % (total & MASK)


def first(values):
    """Of the largest number, the first; None where none is a number."""
    best = None
    for i, v in enumerate(values):
        if v != 'nan' and (best is None or order(v) > order(values[best])):
            best = i
    return best


def order(v):
    return math.inf if v == 'inf' else -math.inf if v == '-inf' else v


def value(v):
    return float(v)


def named(run, exact, name):
    found = [t['id'] for t in run.tensors if t['name'] == name]
    return exact.t[found[0]] if found else None


def overflow(run, exact):
    """The first call that wrote something not finite, which tensor, how many of its elements; None: none did."""
    for call in run.calls:
        for t in call['out']:
            bad = sum(isinstance(exact.t[t].raw(i), str) for i in range(exact.t[t].n))
            if bad and call['phase'] != 'update':
                return call['id'], run.tensors[t]['name'], bad
    return None


# Figures of models with masks and of rankings, which t/trainer/model/t-vision.py and u-ratings compute again: no run
# here has them
ELSEWHERE = ('dice', 'iou', 'hit_rate', 'ndcg')


def metrics_rows(run, states, evaluated):
    """EVALUATED: by step, what an evaluation after it gives."""
    batch = run.manifest['batch']
    for step in run.steps:
        s = states[step]
        p, labels = named(run, s.exact, 'loss.p'), named(run, s.exact, 'input.labels')
        n = p.shape[1]
        right = sum(first([p.raw(r * n + j) for j in range(n)]) == int(labels[r]) for r in range(batch))
        bad = overflow(run, s.exact) if s.skipped else None
        scale = named(run, s.exact, 'scaler.scale')
        row = {
            'step': step,
            'epoch': step // run.manifest['steps_per_epoch'],
            'loss': value(named(run, s.exact, 'loss.y').raw(0)),
            'accuracy': right / batch,
            'lr': rate(run, s),
            'loss_scale': float(scale[0]) if scale else 1.0,
            'skipped': int(s.skipped),
            'overflow_call': bad[0] if bad else None,
            'overflow_tensor': bad[1] if bad else '-',
            'overflow_count': bad[2] if bad else None,
            'grad_norm': value(named(run, s.exact, 'optim.grad_norm').raw(0)),
            'digest': digest(run, s.exact),
        }
        row.update({'eval_' + c: None for c in ('loss', 'accuracy', 'precision', 'recall', *ELSEWHERE)})
        row.update(evaluated.get(step, {}))
        yield row


def timing(row, batch):
    """Problems of a row's measured columns, which only their relations tell of."""
    ms, wait, rate, joules, each, watts, use = (
        math.nan if row[c] == '-' else float(row[c])
        for c in ('ms', 'wait_ms', 'samples_per_s', 'joules', 'joules_per_sample', 'watts', 'utilisation')
    )
    wrong = []
    if not (ms > 0 and abs(rate - batch / ms * 1000) <= 1e-9 * rate):
        wrong.append('ms %r and samples_per_s %r' % (ms, rate))
    if not 0 <= wait <= ms:
        wrong.append('wait_ms %r of %r ms' % (wait, ms))
    if not math.isnan(joules) and not (
        abs(each * batch - joules) <= 1e-9 * joules and abs(watts * ms / 1000 - joules) <= 1e-9 * joules
    ):
        wrong.append('joules %r, a sample %r, watts %r' % (joules, each, watts))
    if not math.isnan(use) and not 0 <= use <= 1.5:
        wrong.append('utilisation %r' % use)
    return wrong


def gradient_rows(run, states):
    for step in run.steps:
        for w in run.tensors:
            if not w.get('trainable') or w.get('grad', -1) < 0:
                continue
            g = states[step].exact.t[w['grad']]
            values = [g.raw(i) for i in range(g.n)]
            finite = [abs(v) for v in values if not isinstance(v, str)]
            yield {
                'step': step,
                'tensor': run.tensors[w['grad']]['name'],
                'amax': float(max(finite, default=0)),
                'nonzeros': sum(v != 0 for v in finite),
                'zeros': sum(v == 0 for v in finite),
                'nonfinite': g.n - len(finite),
            }


def rate(run, s):
    """The learning rate of the step: what the schedule's call computed, or the updates' attribute."""
    update = next(c for c in run.calls if run.is_update(c))
    return float(s.exact.t[update['in'][-1]][0]) if update['attr'].get('scheduled') else update['attr']['lr']


def update_rows(run, states):
    for step in run.steps:
        s = states[step]
        for call in run.calls:
            if not run.is_update(call):
                continue
            w, after = s.exact.t[call['in'][0]], s.exact.t[call['out'][0]]
            row = {
                'step': step,
                'tensor': run.tensors[call['in'][0]]['name'],
                'weights': w.n,
                'updates': 0,
                'swamped': 0,
            }
            if not s.skipped:
                decay = Q(call['attr'].get('weight_decay', 0)) * Q(rate(run, s)) if call['op'] == 'adamw' else 0
                for i in range(w.n):
                    d = iv(s.exact.value(call, 0, i)).lo - w[i] * (1 - decay)
                    if fl(d, call['fmt']['compute']) != 0:
                        row['updates'] += 1
                        row['swamped'] += after.raw(i) == w[i]
            yield row


def cast_rows(run, states):
    for step in run.steps:
        for call in run.calls:
            if call['op'] == 'cast':
                for row in of_call(run, states[step], step, call):
                    yield {
                        c: row[c]
                        for c in ('step', 'call', 'layer', 'tensor', 'class', 'from', 'to', 'elements') + COUNTS
                    }


def uniform(seed, stream, step, index):
    w = philox((index & 0xffffffff, index >> 32, step, fnv32(stream)), (seed & 0xffffffff, seed >> 32))
    return ((w[1] << 32 | w[0]) >> 11) * 2.0 ** -53


def initial(run, exact):
    """Problems of the weights before step 0."""
    wrong = []
    for t in run.tensors:
        role = t['name'].split('.')[1]
        if role != 'w' or not t.get('trainable'):
            continue
        *taps, fan_in, fan_out = t['shape']
        limit = math.sqrt(6.0 / (math.prod(taps) * (fan_in + fan_out)))
        for i in range(math.prod(t['shape'])):
            mine = fl(Q(limit * (2 * uniform(run.manifest['seed'], 'init/' + t['name'], 0, i) - 1)), t['format'])
            if mine != exact.t[t['id']][i]:
                wrong.append('%s[%d] is %r there, %r here' % (t['name'], i, float(exact.t[t['id']][i]), float(mine)))
    return wrong


def shuffled(seed, epoch, n):
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = int(uniform(seed, 'shuffle', epoch, i) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def batches(run, states, images, labels, n):
    """Problems of the batches: images and labels of the first N, in each epoch's order, as x / 255."""
    wrong, batch, each = [], run.manifest['batch'], run.manifest['steps_per_epoch']
    for step in run.steps:
        order = shuffled(run.manifest['seed'], step // each, n)
        s = states[step].exact
        x, y = named(run, s, 'input.x'), named(run, s, 'input.labels')
        for r in range(batch):
            k = order[step % each * batch + r]
            pixels = [fl(Q(v, 255), 'fp32') for v in images[k]]
            if int(y[r]) != labels[k] or [x[r * len(pixels) + i] for i in range(len(pixels))] != pixels:
                wrong.append('row %d of step %d is not image %d' % (r, step, k))
    return wrong


def evaluation(run, exact, images, labels):
    """Of an mlp in float32 after a step: its forward part in double precision, and macro averages over classes."""
    after = {t['name']: exact.t[t['next']] for t in run.tensors if t.get('trainable')}
    layers, classes, predicted, loss = sorted({n.split('.')[0] for n in after}), 10, [], 0.0
    for image in images:
        x = [v / 255 for v in image]
        for k, layer in enumerate(layers):
            w, b = after[layer + '.w'], after[layer + '.b']
            x = [math.fsum(v * float(w[i * b.n + j]) for i, v in enumerate(x)) + float(b[j]) for j in range(b.n)]
            x = [max(v, 0.0) for v in x] if k + 1 < len(layers) else x
        predicted.append(max(range(len(x)), key=lambda j: x[j]))
        loss += math.log(math.fsum(math.exp(v - max(x)) for v in x)) + max(x) - x[labels[len(predicted) - 1]]
    hit = [sum(p == y == k for p, y in zip(predicted, labels)) for k in range(classes)]
    mean = (
        lambda whole: math.fsum(h / whole.count(k) for k, h in enumerate(hit) if whole.count(k)) / classes
    )  # noqa: E731
    # float32 is off by some units of 2^-24 a layer, and the logits' sums by as many as they have terms
    return {
        'eval_loss': Near(loss / len(images), 1e-5),
        'eval_accuracy': Near(sum(hit) / len(images), 1e-15),
        'eval_precision': Near(mean(predicted), 1e-14),
        'eval_recall': Near(mean(list(labels)), 1e-14),
    }


def memory(run):
    """The manifest's bytes by category, parameters and bytes a traced step."""
    following = {t['next'] for t in run.tensors if t.get('next', -1) >= 0}
    cast = {c['in'][0] for c in run.calls if c['op'] == 'cast'}
    size = lambda t: math.prod(t['shape']) * max(FORMATS[t['format']][0], 8) / 8  # noqa: E731
    m = dict.fromkeys(('weights', 'masters', 'activations', 'gradients', 'optimizer_state'), 0.0)
    for t in run.tensors:
        if t['id'] in following:
            continue
        kind = {'weight': 'weights', 'activation': 'activations', 'gradient': 'gradients', 'wgrad': 'gradients'}.get(
            t['class']
        )
        if t.get('trainable') and t['id'] in cast:
            kind = 'masters'
        elif t['name'].endswith(('.rm', '.rv')):
            kind = 'weights'
        elif kind is None and t.get('state'):
            kind = 'optimizer_state'
        if kind:
            m[kind] += size(t)
    return {'memory_bytes': m, 'parameters': sum(math.prod(t['shape']) for t in run.tensors if t.get('trainable'))}


def idx(folder, images, labels, size):
    """Images of SIZE x SIZE bytes as a pair of files of the MNIST family."""
    os.makedirs(folder)
    with open(os.path.join(folder, 'train-images-idx3-ubyte'), 'wb') as f:
        f.write(struct.pack('>4I', 2051, len(images), size, size) + b''.join(bytes(i) for i in images))
    with open(os.path.join(folder, 'train-labels-idx1-ubyte'), 'wb') as f:
        f.write(struct.pack('>2I', 2049, len(labels)) + bytes(labels))


def checkpoint(run, exact, step):
    """Problems of the checkpoint after STEP steps: the state after the last of them."""
    file = Safetensors(os.path.join(run.path, 'checkpoint', 'step-%06d.safetensors' % step))
    wrong = []
    for t in run.tensors:
        if t.get('state'):
            after = exact.t[t['next'] if t.get('next', -1) >= 0 else t['id']]
            if t['name'] not in file or list(file.codes(t['name'])[0]) != list(after.codes):
                wrong.append('%s differs' % t['name'])
    return wrong


TABLES = {'exponents': exponent_rows, 'casts': cast_rows, 'grads': gradient_rows, 'updates': update_rows}
