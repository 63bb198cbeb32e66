#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The row "as typed": a file's float16 and bfloat16 are rounded where the file says so, node by node (strict), computed
# here with halves of Python's own; or as ONNX Runtime does on a CPU, which is asked where it is installed, with drawn
# graphs. The other rows compute without the file's types.
import json, math, os, random, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

BFLOAT16 = 16
os.chdir(tap.home())


def f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def half(x):
    """x in float16: beyond its largest values infinity, which Python's own packing refuses."""
    if math.isnan(x) or math.isinf(x) or abs(x) >= 65520:
        return x if math.isnan(x) else math.copysign(math.inf, x)
    return struct.unpack('<e', struct.pack('<e', x))[0]


def brain(x):
    """x, a float32, in bfloat16: the upper 16 of its bits, ties to even."""
    if math.isnan(x) or math.isinf(x):
        return x
    u = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', ((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000) & 0xffffffff))[0]


def narrow(name, dims, values, type_):
    raw = struct.pack('<%de' % len(values), *values) if type_ == FLOAT16 else b''.join(
        struct.pack('<f', v)[2:] for v in values)
    return tensor(name, type_, dims, raw)


def run(*words, code=(0, 1)):
    got = tap.halfulp('validate', *words, '--json', '--exact', '0')
    return json.loads(got.stdout) if got.returncode in code else tap.bail_out(got.stderr)


# y = ((x k) s + x) as float32, each result rounded to the file's type.
random.seed(38)
for type_, to, word in ((FLOAT16, half, 'fp16'), (BFLOAT16, brain, 'bf16')):
    x = [to(random.uniform(-300, 300)) for _ in range(48)]
    k, s = [to(v) for v in (250.0, 1.7, -0.3)], [to(v) for v in (1e-4, 3.3, 1e-3)]
    write('m.onnx', graph([node('Mul', 'x k', 'a', name='a'), node('Mul', 'a s', 'b', name='b'),
                           node('Add', 'b x', 'c', name='c'), node('Cast', 'c', 'y', name='y', to=1)],
                          [narrow('k', [3], k, type_), narrow('s', [3], s, type_)],
                          [value('x', ['n', 3], type_)], [value('y', ['n', 3])]))
    npz('x.npz', x=((16, 3), x))
    typed, wide = [], []
    for i, v in enumerate(x):
        typed.append(to(f32(to(f32(to(f32(v * k[i % 3])) * s[i % 3])) + v)))
        wide.append(f32(f32(f32(v * k[i % 3]) * s[i % 3]) + v))
    told = run('m.onnx', '--data', 'x.npz', '--policy', 'bf16,fp16', '--outputs', 'out-' + word)
    rows = {r['policy']: r for r in told['policies']}
    got = {p: outputs('out-%s/%s.npz' % (word, f))['y'][1] for p, f in (('as typed', 'as_typed'), ('float32',
            'float32'))}
    bad = sum(not math.isfinite(v) for v in typed)
    tap.ok(list(rows) == ['float32', 'as typed', 'bf16', 'fp16'] and told['runtime'] == 'strict',
            word + ': its rows', list(rows))
    tap.ok(list(got['as typed']) == typed, '%s: every result has its type, %d are not finite' % (word, bad),
           [p for p in zip(got['as typed'], typed) if p[0] != p[1]])
    tap.ok(list(got['float32']) == wide, word + ': float32 computes without the type', [p
            for p in zip(got['float32'], wide) if p[0] != p[1]])
    tap.ok(rows['as typed']['nonfinite'] == bad and rows['bf16']['nonfinite'] == 0 and rows['fp16']['nonfinite'] > 0
           and (bad > 0) == (word == 'fp16'), word + ': a policy has its own range, not the file\'s',
           list(rows.values()))
    tap.ok(2 * rows['as typed']['weight_bytes'] == rows['float32']['weight_bytes'] > 0,
            word + ': weights take the file\'s bits',
           [rows['as typed']['weight_bytes']])
    told = run('m.onnx', '--data', 'x.npz', '--runtime', 'ort-cpu', '--policy', 'bf16', '--outputs', 'cpu-' + word)
    tap.ok(told['runtime'] == 'ort-cpu:all' and list(outputs('cpu-%s/as_typed.npz' % word)['y'][1]) == wide,
           word + ': ONNX Runtime\'s CPU drops every Cast here')

write('f.onnx', graph([node('Exp', 'x', 'y')], [], [value('x', ['n', 3])], [value('y', ['n', 3])]))
for words, code, text in ((['f.onnx', '--runtime', 'strict'], 2, 'float16'), (['m.onnx', '--runtime', 'gpu'], 2,
        'strict')):
    got = tap.halfulp('validate', *words, '--data', 'x.npz')
    tap.ok(got.returncode == code and text in got.stderr and got.stderr.count('\n') == 1,
            ' '.join(words) + ' is refused', got.stderr)
said = run('f.onnx', '--data', 'x.npz', '--policy', 'fp16')
tap.ok(said['runtime'] is None and [r['policy'] for r in said['policies']] == ['float32', 'fp16'],
        'a float32 file has no such row')

try:
    import numpy as np, onnxruntime as ort
except ImportError:
    tap.skip('drawn graphs as ONNX Runtime runs them', 'onnxruntime is not installed')
    tap.finish()
ort.set_default_logger_severity(4)
WIDE = np.float64


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layernorm(a, g, b):
    c = a - a.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g + b


# Operators of matrices of 6 x 6: how many computed operands, its constants, and its value in doubles.
OPS = {
    'MatMul': (1, 'W', lambda a, W: a @ W), 'Tanh': (1, '', np.tanh), 'Add': (2, '', lambda a, b: a + b),
    'Mul': (2, '', lambda a, b: a * b), 'Transpose': (1, '', np.transpose), 'Softmax': (1, '', softmax),
    'LayerNormalization': (1, 'g b', layernorm), 'Max': (2, '', np.maximum), 'Relu': (1, '',
            lambda a: np.maximum(a, 0)),
    'Clip': (1, 'low high', lambda a, l, h: np.clip(a, l, h)), 'Wide': (1, '', np.tanh), 'Twice': (1, '',
            lambda a: a),
}


def drawn(seed):
    """A graph in float16 of a dozen operators, with Casts to float32 and back among them, whose output is float32 or
    float16; its input, and its value with every result rounded."""
    rng = np.random.default_rng(seed)
    R = lambda *s: rng.standard_normal(s).astype(np.float16)
    const = {'W': R(6, 6) * np.float16(0.5), 'g': R(6), 'b': R(6), 'low': np.float16(-1.5), 'high': np.float16(2)}
    nodes, x = [], R(4, 6, 6)
    known = [('x', x)]
    inits = [narrow(n, list(np.shape(v)), [float(e) for e in np.ravel(v)], FLOAT16) for n, v in const.items()]
    for i in range(12):
        op = rng.choice(list(OPS))
        n, own, f = OPS[op]
        of = [known[-1]] + [known[rng.integers(len(known))] for _ in range(n - 1)]
        names, to = [name for name, _ in of] + own.split(), 't%d' % i
        if op == 'Wide':
            nodes += [node('Cast', names[0], to + 'w', to=1), node('Tanh', to + 'w', to + 'v'), node('Cast',
                    to + 'v', to, to=FLOAT16)]
        elif op == 'Twice':
            nodes += [node('Cast', names[0], to + 'w', to=1), node('Cast', to + 'w', to, to=FLOAT16)]
        else:
            nodes.append(node(op, ' '.join(names), to, name=to, **({'perm': [0, 2, 1]} if op == 'Transpose' else {})))
        f = (lambda a: a.transpose(0, 2, 1)) if op == 'Transpose' else f
        v = f(*(np.asarray(a, WIDE) for _, a in of), *(const[c].astype(WIDE) for c in own.split()))
        known.append((to, np.asarray(v, np.float32).astype(np.float16)))
    out = FLOAT if rng.integers(2) else FLOAT16
    last = known[-1]
    nodes.append(node('Cast' if out == FLOAT else 'Exp', last[0], 'y', **({'to': 1} if out == FLOAT else {})))
    y = last[1] if out == FLOAT else np.exp(last[1].astype(WIDE)).astype(np.float16)
    return graph(nodes, inits, [value('x', ['n', 6, 6], FLOAT16)], [value('y', ['n', 6, 6], out)]), x, y


worst = {'strict': 0, 'OFF': 0, 'ALL': 0}
wrong, apart = [], 0
for seed in range(40):
    g, x, y = drawn(seed)
    write('g.onnx', g)
    np.savez('g.npz', x=x)
    got = {}
    for runtime in ('strict', 'ort-cpu'):
        run('g.onnx', '--data', 'g.npz', '--policy', 'bf16', '--runtime', runtime, '--outputs',
                'g-%s-%d' % (runtime, seed))
        got[runtime] = np.load('g-%s-%d/as_typed.npz' % (runtime, seed))['y'].astype(WIDE)
    # An operator's float32 may lie on the other side of a tie of float16 than its value in doubles.
    rel = lambda a, b: np.linalg.norm(a - b) / np.linalg.norm(b)
    worst['strict'] = max(worst['strict'], rel(got['strict'], y.astype(WIDE)))
    for level in ('OFF', 'ALL'):
        o = ort.SessionOptions()
        o.graph_optimization_level = {'OFF': ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
                'ALL': ort.GraphOptimizationLevel.ORT_ENABLE_ALL}[level]
        z = ort.InferenceSession('g.onnx', o, providers=['CPUExecutionProvider']).run(None, {'x': x})[0].astype(WIDE)
        r = rel(got['ort-cpu'], z)
        worst[level] = max(worst[level], r)
        if level == 'OFF' and r > 1e-4:
            wrong.append((seed, r, rel(got['strict'], z)))
    apart += rel(got['strict'], z) > 2e-4
tap.ok(worst['strict'] < 2e-3,
        'strict is every result rounded to float16: 40 drawn graphs, at most %.2g off' % worst['strict'], worst)
tap.ok(not wrong and worst['OFF'] < 1e-4, 'ort-cpu is ONNX Runtime on this CPU: at most %.2g off' % worst['OFF'],
        wrong)
tap.ok(worst['ALL'] < 1e-3, 'and with all its optimisations at most %.2g' % worst['ALL'])
tap.ok(apart > 5, 'the two differ in %d of 40' % apart)
tap.finish()
