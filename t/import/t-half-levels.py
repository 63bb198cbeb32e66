#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Files with float16 by --against, at onnxruntime's levels of optimisation: which nodes its CPU runs in float16 depends
# on their neighbours, of which optimisations take some away: a Shape that reads another value of the same shape, and
# what nodes make of constants alone. Drawn networks have both. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnxconverter_common import float16
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
FLOAT, LEVELS = TensorProto.FLOAT, ('disable_all', 'basic', 'extended', 'all')


def drawn(r):
    """Products, norms and moves, some of which a Shape reads, and constants that nodes make of constants."""
    held = {'g': r.uniform(0.5, 2, 8), 'h': r.standard_normal(8), 'W': r.standard_normal((8, 8)) / 3}
    held |= {'K': r.standard_normal((8, 8)), 'C': r.standard_normal((8, 8))}
    held = {k: v.astype(f32) for k, v in held.items()}
    constant = numpy_helper.from_array(r.standard_normal((8, 8)).astype(f32))
    nodes = [N('Transpose', ['K'], ['T'], name='T', perm=[1, 0]), N('Constant', [], ['D'], name='D', value=constant)]
    values = ['x']
    for i in range(int(r.integers(4, 12))):
        y, name = 'v%d' % i, 'n%d' % i
        op = str(r.choice(['MatMul', 'Tanh', 'LayerNormalization', 'Transpose', 'Max', 'Add', 'Concat', 'Reshape']))
        a, more = str(r.choice(values[-2:])), []
        if op == 'MatMul':
            more = ['W']
        elif op == 'LayerNormalization':
            more = ['g', 'h']
        elif op in ('Max', 'Add'):
            more = [str(r.choice(['T', 'D', 'C', *values]))]
        if op == 'Concat':
            other = str(r.choice(['T', 'D', 'C']))
            both = [other, a] if r.random() < 0.5 else [a, other]
            nodes.append(N('Concat', both, ['w' + y], name='w' + name, axis=0))
            nodes.append(N('Slice', ['w' + y, 'from', 'to'], [y], name=name))
        elif op == 'Transpose' and any(n.op_type == 'Transpose' for n in nodes[1:]):
            nodes.append(N('Relu', [a], [y], name=name))  # onnxruntime moves a second one through others to the first
        elif op == 'Reshape':
            nodes.append(N('Shape', [a], ['s' + y], name='s' + name))
            nodes.append(N('Tanh', [a], ['t' + y], name='t' + name))
            nodes.append(N('Reshape', ['t' + y, 's' + y], [y], name=name))
        else:
            nodes.append(N(op, [a, *more], [y], name=name, **({'perm': [1, 0]} if op == 'Transpose' else {})))
        values.append(y)
    read = {v for n in nodes for v in n.input}
    held |= {'from': numpy.array([4]), 'to': numpy.array([12])}
    ends = [v for v in values[1:] if v not in read][:3]
    return [n for n in nodes if n.output[0] in read or n.output[0] in ends], ends, held


def unnamed():
    """A norm whose Shape a node reads, behind a sum of which ONNX's inference, and so the converter, calls the first
    size unk__N. onnxruntime has no name for it, and lets no Shape read another value for it."""
    nodes = [
        N('Shape', ['x'], ['s'], name='s'),
        N('Gather', ['s', 'first'], ['n'], name='n'),
        N('Concat', ['n', 'eight'], ['t'], name='t', axis=0),
        N('ConstantOfShape', ['t'], ['k'], name='k', value=numpy_helper.from_array(numpy.array([0]))),
        N('Gather', ['table', 'k'], ['z'], name='z'),
        N('MatMul', ['x', 'W'], ['a'], name='a'),
        N('Add', ['a', 'z'], ['e'], name='e'),
        N('LayerNormalization', ['e', 'g', 'h'], ['l'], name='l'),
        N('Shape', ['l'], ['sl'], name='sl'),
        N('Tanh', ['l'], ['u'], name='u'),
        N('Reshape', ['u', 'sl'], ['v'], name='v'),
        N('MatMul', ['v', 'W'], ['y'], name='y'),
    ]
    r = numpy.random.default_rng(5)
    held = {'W': r.standard_normal((8, 8)), 'g': r.uniform(0.5, 2, 8), 'h': r.standard_normal(8), 'table': [0.25]}
    held = {k: numpy.array(v) for k, v in held.items()}
    held = {k: v.astype(f32) for k, v in held.items()}
    return nodes, ['y'], held | {'first': numpy.array([0]), 'eight': numpy.array([8])}


def graph(nodes, ins, outs):
    value = helper.make_tensor_value_info
    return helper.make_graph(nodes, 'b', [value(*v) for v in ins], [value(k, t, None) for k, t in outs])


def inside():
    """What a Loop carries is float16 from step to step, and what graphs inside nodes read of the one around them."""
    bool_, int_ = TensorProto.BOOL, TensorProto.INT64
    body = graph(
        [
            N('MatMul', ['v', 'W'], ['m'], name='m'),
            N('Add', ['m', 'a'], ['s'], name='s'),
            N('Tanh', ['s'], ['u'], name='u'),
            N('Identity', ['go'], ['on'], name='on'),
        ],
        [('i', int_, []), ('go', bool_, []), ('v', FLOAT, [8, 8])],
        [('on', bool_), ('u', FLOAT)],
    )
    then = graph([N('Mul', ['l', 'a'], ['t'], name='t'), N('Tanh', ['t'], ['tt'], name='tt')], [], [('tt', FLOAT)])
    other = graph([N('Neg', ['a'], ['o'], name='o')], [], [('o', FLOAT)])
    nodes = [
        N('MatMul', ['x', 'W'], ['a'], name='a'),
        N('Loop', ['three', 'yes', 'a'], ['l'], name='l', body=body),
        N('ReduceMax', ['x'], ['top'], name='top', keepdims=0),
        N('Greater', ['top', 'low'], ['up'], name='up'),
        N('If', ['up'], ['f'], name='f', then_branch=then, else_branch=other),
        N('Add', ['f', 'l'], ['e'], name='e'),
        N('MatMul', ['e', 'W'], ['y'], name='y'),
    ]
    W = numpy.random.default_rng(6).standard_normal((8, 8)).astype(f32)
    return nodes, ['y'], {'W': W, 'three': numpy.int64(3), 'yes': numpy.array(True), 'low': f32(-2)}


compared = 0
for seed in range(-1, int(os.environ.get('NETS', 24)) + 1):
    r = numpy.random.default_rng(abs(seed))
    nodes, ends, held = drawn(r) if seed > 0 else inside() if seed else unnamed()
    held = {k: v for k, v in held.items() if any(k in n.input for n in nodes)}
    model(nodes, {'x': (FLOAT, [8 if seed else 'k', 8])}, ends, held)
    x = r.standard_normal((8, 8)).astype(f32)
    quiet(lambda: onnx.save(float16.convert_float_to_float16(onnx.load('float.onnx')), 'tool.onnx'))
    float32 = run('float.onnx', [{'x': x}])
    for level in LEVELS:
        name = 'ORT_' + (level if level == 'disable_all' else 'enable_' + level).upper()
        try:
            ort = run('tool.onnx', [{'x': x.astype(numpy.float16)}], name)
        except Exception as e:
            print('# ' + 'onnxruntime refuses network %d: %s' % (seed, str(e)[:200]))
            continue
        words = ['--against', 'tool.onnx', '--runtime', 'ort-cpu:' + level]
        got, said = predict('float32', {'x': x[None] if seed else x}, 1 if seed else 8, 'float.onnx', *words)
        hold('drawn network %d at %s' % (seed, level), got, ort if got else said, float32, 1e-6, 0.02)
        compared += 1
tap.ok(compared > 80, 'most files run in onnxruntime', str(compared))
tap.finish()
