#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Sequences of tensors, whose lengths are known beforehand, batch normalisation by the batch's own statistics, and the
# largest few of many: small graphs whose outputs are ONNX Runtime's; and what cannot be right is refused.
import subprocess
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import helper, numpy_helper, TensorProto
except ImportError:
    tap.skip_all('numpy, onnx and onnxruntime are not installed')
os.chdir(tap.home())
ort.set_default_logger_severity(4)
rng = np.random.default_rng(8)
node = helper.make_node
X = rng.standard_normal((1, 6, 5)).astype('f4')


def value(name, type=1, shape=None):
    return helper.make_tensor_value_info(name, type, shape)


def write(nodes, outs=('y',), consts={}, x=X, opset=17):
    inits = [numpy_helper.from_array(np.asarray(v), k) for k, v in consts.items()]
    g = helper.make_graph(nodes, 'g', [value('x', 1, list(x.shape))], [value(o, 0) for o in outs], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', opset)])
    m.ir_version = 8
    for o in m.graph.output:
        o.ClearField('type')
    types = {'n': TensorProto.INT64, 'i': TensorProto.INT64}
    for o in m.graph.output:
        o.type.tensor_type.elem_type = types.get(o.name, 1)
    onnx.save(m, 'm.onnx')
    np.savez('m.npz', x=x)


def run():
    return subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'float32', '--exact',
        '0', '--decision', 'none', '--batch', '1', '--outputs', 'o'], capture_output=True, text=True)


def same(name, *a, near=0, **k):
    x = k.get('x', X)
    write(*a, **k)
    p = run()
    if p.returncode:
        return tap.ok(False, name, [p.stderr])
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession('m.onnx', o, providers=['CPUExecutionProvider'])
    wrong, got = [], np.load('o/float32.npz')
    for out, want in zip(s.get_outputs(), s.run(None, {'x': x})):
        is_ = got[out.name].reshape(want.shape)
        if not np.abs(is_.astype('f8') - want).max() <= near * np.abs(want).max():
            wrong.append('%s: %s for %s' % (out.name, is_.reshape(-1)[:6], want.reshape(-1)[:6]))
    tap.none(wrong, name)


def refused(name, code, text, *a, **k):
    write(*a, **k)
    p = run()
    tap.ok(p.returncode == code and text in p.stderr, name, ['%d %s' % (p.returncode, p.stderr)])


I = lambda v: np.asarray(v, 'i8')
at = lambda i, to='y', s='s': node('SequenceAt', [s, i], [to])
same('single elements', [node('SplitToSequence', ['x'], ['s'], axis=1), at('k'), node('SequenceLength', ['s'], ['n'])],
    ('y', 'n'), {'k': I(-2)})
same('single elements without their axis', [node('SplitToSequence', ['x'], ['s'], axis=-2, keepdims=0), at('k')],
    consts={'k': I(4)})
same('parts of four elements, the last of which is shorter', [node('SplitToSequence', ['x', 'p'], ['s'], axis=1),
    at('k'), at('j', 'z')], ('y', 'z'), {'p': I(4), 'k': I(0), 'j': I(1)})
same('parts that are listed', [node('SplitToSequence', ['x', 'p'], ['s'], axis=2, keepdims=0), at('k'), at('j', 'z')],
    ('y', 'z'), {'p': I([1, 3, 1]), 'k': I(1), 'j': I(2)})
parts = [node('Sin', ['x'], ['a']), node('Exp', ['x'], ['b']), node('SequenceConstruct', ['x', 'a'], ['s0'])]
same('insertion before and at the end, and erasure', parts + [node('SequenceInsert', ['s0', 'b', 'k'], ['s1']),
    node('SequenceInsert', ['s1', 'x'], ['s2']), node('SequenceErase', ['s2', 'j'], ['s']),
    node('ConcatFromSequence', ['s'], ['y'], axis=1), node('SequenceLength', ['s'], ['n'])], ('y', 'n'),
    {'k': I(-1), 'j': I(0)}, near=2e-7)
same('erasure of the last', parts + [node('SequenceErase', ['s0'], ['s']), node('Identity', ['s'], ['t']),
    at('k', s='t')], consts={'k': I(0)})
for axis in (0, 1, -1):
    same('a new axis %d' % axis, parts + [node('ConcatFromSequence', ['s0'], ['y'], axis=axis, new_axis=1)],
        near=2e-7)
body = helper.make_graph([node('Gather', ['x', 'i'], ['r'], axis=1), node('Mul', ['h', 'r'], ['h1']),
    node('SequenceInsert', ['q', 'h1'], ['q1']), node('Identity', ['c'], ['c1'])], 'body',
    [value('i', 7, []), value('c', 9, []), value('h', 1, [1, 5]),
        helper.make_tensor_sequence_value_info('q', 1, None)],
    [value('c1', 9, []), value('h1', 1, [1, 5]), helper.make_tensor_sequence_value_info('q1', 1, None)])
loop = [node('SequenceEmpty', [], ['q0'], dtype=1), node('Loop', ['steps', 'go', 'h0', 'q0'], ['h9', 'q9'], body=body)]
same('a sequence that a loop carries', loop + [node('ConcatFromSequence', ['q9'], ['y'], axis=0, new_axis=1)],
    consts={'steps': I(6), 'go': np.asarray(True), 'h0': np.full((1, 5), 2, 'f4')})
refused('a place outside', 3, 'its position is none of a sequence of 6', [node('SplitToSequence', ['x'], ['s'], axis=1),
    at('k')], consts={'k': I(6)})
refused('parts that do not fit', 3, 'its parts do not fit an axis of 6 elements', [node('SplitToSequence', ['x', 'p'],
    ['s'], axis=1), at('k')], consts={'p': I([2, 3]), 'k': I(0)})
refused('a tensor for a sequence', 3, "reads 'x', which is no sequence", [at('k', s='x')], consts={'k': I(0)})
refused('a sequence for a tensor', 3, "reads 's', which is a sequence", [node('SplitToSequence', ['x'], ['s']),
    node('Relu', ['s'], ['y'])])
refused('an output that is a sequence', 4, "output 's' is a sequence of tensors", [node('SplitToSequence', ['x'],
    ['s'])], ('s',))

# Statistics of the batch: in float32 the order of their sums is free, so that 2^-20 of the largest value is near.
image = rng.standard_normal((2, 3, 4, 5)).astype('f4') * 2 + 1
four = {k: rng.uniform(.5, 2, 3).astype('f4') for k in ('scale', 'bias', 'mean', 'var')}
for opset, of in ((17, {'training_mode': 1, 'epsilon': 1e-3}), (17, {'training_mode': 1, 'momentum': .5})):
    w = {k: v for k, v in four.items()}
    write([node('BatchNormalization', ['x', *w], ['y', 'm1', 'v1'], **of)], consts=w, x=image, opset=opset)
    p = run()
    mean, var = image.mean((0, 2, 3), keepdims=True, dtype='f8'), image.var((0, 2, 3), keepdims=True, dtype='f8')
    c = lambda k: w[k].reshape(1, 3, 1, 1).astype('f8')
    want = (image - mean) / np.sqrt(var + of.get('epsilon', 1e-5)) * c('scale') + c('bias')
    got = np.load('o/float32.npz')['y'].reshape(want.shape) if not p.returncode else np.full(1, np.nan)
    tap.ok(np.abs(got - want).max() <= 2**-20 * np.abs(want).max(), 'statistics of the batch itself', [p.stderr])
many = rng.standard_normal((1, 700)).astype('f4')
same('the largest 300 of 700', [node('TopK', ['x', 'k'], ['y', 'i'])], ('y', 'i'), {'k': I([300])}, x=many)
refused('the largest 1025', 4, 'at most 1024', [node('TopK', ['x', 'k'], ['y', ''])], consts={'k': I([1025])},
    x=rng.standard_normal((1, 1100)).astype('f4'))
tap.finish()
