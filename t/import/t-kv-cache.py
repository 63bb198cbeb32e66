#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Caches of keys and values as schemes: the codes of kv-int8, kv-int4 and kv-e4m3 are computed by numpy in float32,
# keys with a scale for each channel over all tokens, values with one for each token, or for each group of these; caches
# that the model gives out must not differ in an element, and the attention that reads them is computed again.
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, ml_dtypes
    from onnx import helper
except ImportError:
    tap.skip_all('numpy, onnx and ml_dtypes are not installed')
os.chdir(tap.home())
rng = np.random.default_rng(7)
node, value, f4 = helper.make_node, helper.make_tensor_value_info, np.float32
N, H, P, T, D = 3, 2, 9, 2, 5


def write(names, opset, passes):
    key, val = names
    nodes = [node('Concat', ['pk' if passes else key, 'k'], ['present_a'], axis=2),
        node('Concat', [val, 'v'], ['present_b'], axis=-2), node('Transpose', ['present_a'], ['t'], perm=[0, 1, 3, 2]),
        node('MatMul', ['q', 't'], ['s']), node('Softmax', ['s'], ['p'], axis=-1), node('MatMul', ['p', 'present_b'],
        ['y'])]
    nodes = ([node('Identity', [key], ['pk'])] if passes else []) + nodes
    ins = {key: P, val: P, 'k': T, 'v': T, 'q': T}
    g = helper.make_graph(nodes, 'g', [value(i, 1, ['n', H, n, D]) for i, n in ins.items()],
        [value(o, 1, None) for o in ('y', 'present_a', 'present_b')])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', opset)])
    m.ir_version = 8
    onnx.save(m, 'm.onnx')
    x = {i: (rng.standard_normal((N, H, n, D)) * 3).astype(f4) for i, n in ins.items()}
    x[key][0, 0] = x['k'][0, 0] = 0 # a cache of zeros
    np.savez('m.npz', **x)
    return x


def stored(x, axis, scheme):
    """x through codes of SCHEME with a scale for each of what lies along AXIS, or for each group of that."""
    kind, *words = scheme.split(':')
    for group in [int(w[6:]) for w in words if w.startswith('group=')]:
        parts = [stored(x.take(range(i, min(i + group, x.shape[axis])), axis), axis, kind)
            for i in range(0, x.shape[axis], group)]
        return np.concatenate(parts, axis)
    largest = {'kv-int8': 127, 'kv-int4': 7, 'kv-e4m3': 448}[kind]
    s = np.maximum(np.abs(x).max(axis=axis, keepdims=True), f4(2.0**-100)) / f4(largest)
    code = x / s
    return (code.astype(ml_dtypes.float8_e4m3fn).astype(f4) if kind == 'kv-e4m3' else np.rint(code)) * s


KINDS = ('kv-int8', 'kv-int4', 'kv-e4m3', 'kv-int4:group=4', 'kv-int8:group=3:tokens', 'kv-e4m3:group=1',
    'kv-int4:group=100', 'kv-int8:tokens', 'kv-int4:group=11')
for names, opset, passes in ((('past.0.key', 'past.0.value'), 17, 0), (('past_k', 'past_v'), 18, 1),
    (('one', 'two'), 21, 0)):
    x = write(names, opset, passes)
    p = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', ','.join(KINDS), '--exact',
        '0', '--decision', 'none', '--outputs', 'o'], capture_output=True, text=True)
    for kind in KINDS if p.returncode == 0 else ():
        got = np.load('o/%s.npz' % kind.replace(':', '_'))
        a = stored(np.concatenate([x[names[0]], x['k']], 2), 3 if 'tokens' in kind else 2, kind)
        b = stored(np.concatenate([x[names[1]], x['v']], 2), 3, kind)
        differ = [int((got[k].reshape(w.shape) != w).sum()) for k, w in (('present_a', a), ('present_b', b))]
        tap.ok(differ == [0, 0], '%s, %s: no element of the caches differs' % (kind, names[0]), [str(differ)])
        s = x['q'].astype('f8') @ a.astype('f8').swapaxes(2, 3)
        e = np.exp(s - s.max(-1, keepdims=True))
        y = e / e.sum(-1, keepdims=True) @ b.astype('f8')
        far = np.abs(got['y'].reshape(y.shape) - y).max() / np.abs(y).max()
        # Scores are sums of 5 products whose errors, at most 5 * 2^-24 of about 100, the exponential multiplies.
        tap.ok(far < 2.0**-14, 'and the attention reads them', [str(far)])
    tap.ok(p.returncode == 0, 'the schemes run with ' + names[0], [p.stderr])
g = helper.make_graph([node('Concat', ['x', 'x'], ['y'], axis=1)], 'g', [value('x', 1, ['n', 2, 3, 4])],
    [value('y', 1, None)])
onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), 'm.onnx')
np.savez('m.npz', x=np.ones((2, 2, 3, 4), f4))
p = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'kv-int8'], capture_output=True,
    text=True)
tap.ok(p.returncode == 4 and 'there is no cache of keys and values' in p.stderr and p.stderr.count('\n') == 1,
    'a model without a cache is refused', [str(p.returncode), p.stderr])
for word in 'group=0', 'group=2.5', 'group=', 'group', 'group=3000000000', 'token':
    p = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'kv-int4:' + word],
        capture_output=True, text=True)
    tap.ok(p.returncode == 2 and p.stderr.count('\n') == 1, word + ' is refused', [str(p.returncode), p.stderr])
tap.finish()
