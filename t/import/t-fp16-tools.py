#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The schemes occ-fp16 and ort-fp16 against the converters themselves: their files are run by ONNX's reference
# evaluator, which rounds each result of float16, and by onnxruntime's CPU, which computes most nodes in float32 and
# drops Casts. The prediction has the numbers of both, whatever is blocked. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnxconverter_common import float16 as occ
    from onnxruntime.transformers import float16 as ort
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
r = numpy.random.default_rng(38)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT = TensorProto.FLOAT
row = {'x': (FLOAT, ['n', 32])}
NETS = {
    'two products': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Tanh', ['a'], ['t'], name='t'),
            N('MatMul', ['t', 'B'], ['b'], name='m2'),
            N('Add', ['b', 'c'], ['y'], name='add'),
        ],
        row,
        {'A': R(32, 24), 'B': R(24, 10), 'c': R(10)},
    ),
    'nodes that move elements, alone and beside each other': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Transpose', ['a'], ['t'], name='tr', perm=[0, 2, 1]),
            N('Relu', ['t'], ['u'], name='re'),
            N('Reshape', ['u', 's'], ['v'], name='rs'),
            N('Transpose', ['v'], ['w'], name='t2', perm=[0, 2, 1]),
            N('MatMul', ['w', 'B'], ['b'], name='m2'),
            N('Clip', ['b', 'lo', 'hi'], ['k'], name='clip'),
            N('Concat', ['k', 'b'], ['y'], name='cat', axis=2),
        ],
        {'x': (FLOAT, ['n', 6, 32])},
        {'A': R(32, 24), 'B': R(24, 10), 'lo': f32(-3.3), 'hi': f32(4.7), 's': numpy.array([0, 24, 6])},
    ),
    'blocked nodes in a row, and a fork': (
        [
            N('Max', ['x', 'k'], ['a'], name='m1'),
            N('Min', ['a', 'K'], ['b'], name='m2'),
            N('Max', ['b', 'k2'], ['e'], name='m3'),
            N('Add', ['b', 'c'], ['d'], name='ad'),
            N('Mul', ['e', 'd'], ['y'], name='mu'),
        ],
        row,
        {'k': f32(-1.0001), 'K': f32(1.7), 'c': R(32), 'k2': f32(-0.3)},
    ),
    'constants that are clamped, small and large ones': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Add', ['a', 'e'], ['b'], name='ad'),
            N('Constant', [], ['big'], value=numpy_helper.from_array(numpy.full(24, 12000, f32))),
            N('Mul', ['b', 'big'], ['c'], name='mu'),
            N('Div', ['c', 'big'], ['y'], name='di'),
        ],
        row,
        {'A': R(32, 24) / 16, 'e': numpy.array([-1e-9, 1e-9, 3e-8, -6e-8, 9e-8, 2e-7] * 4, f32)},
    ),
    'LayerNormalization between products, whose Shape a node reads': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Reshape', ['a', 'any'], ['f'], name='rs'),
            N('LayerNormalization', ['f', 'g', 'h'], ['l'], name='ln'),
            N('Shape', ['l'], ['s'], name='sh'),
            N('MatMul', ['l', 'B'], ['b'], name='m2'),
            N('LayerNormalization', ['b', 'g', 'h'], ['l2'], name='alone'),
            N('MatMul', ['l2', 'B'], ['c'], name='m3'),
            N('Reshape', ['c', 's'], ['y'], name='back'),
        ],
        row,
        {'A': R(32, 24), 'B': R(24, 24), 'g': R(24), 'h': R(24), 'any': numpy.array([-1, 24])},
    ),
    'Resize': (
        [
            N('Conv', ['x', 'W'], ['c'], name='c'),
            N('Resize', ['c', '', 'sc'], ['z'], name='rz', mode='linear'),
            N('Relu', ['z'], ['y'], name='re'),
        ],
        {'x': (FLOAT, ['n', 3, 6, 6])},
        {'W': R(4, 3, 3, 3), 'sc': numpy.array([1, 1, 2, 2], f32)},
    ),
    'a Concat whose second operand alone has a kernel of float16': (
        [
            N('MatMul', ['x', 'A'], ['a'], name='m1'),
            N('Add', ['a', 'c'], ['b'], name='ad'),
            N('Transpose', ['x'], ['t'], name='tr', perm=[0, 2, 1]),
            N('Concat', ['b', 't'], ['z'], name='cat', axis=1),
            N('MatMul', ['z', 'B'], ['y'], name='m2'),
        ],
        {'x': (FLOAT, ['n', 6, 6])},
        {'A': R(6, 6), 'B': R(6, 10), 'c': R(6)},
    ),
    'a grid of places, on which images are sampled': (
        [
            N('Shape', ['x'], ['s'], name='s'),
            N('Slice', ['x', 'o', 'h', 'ax'], ['p'], name='sl'),
            N('Reshape', ['p', 'd'], ['t'], name='rs'),
            N('AffineGrid', ['t', 's'], ['g'], name='ag'),
            N('GridSample', ['x', 'g'], ['y'], name='gs'),
        ],
        {'x': (FLOAT, ['n', 1, 6, 7])},
        {'o': numpy.array([0, 0]), 'h': numpy.array([1, 6]), 'ax': numpy.array([2, 3]), 'd': numpy.array([-1, 2, 3])},
    ),
}
OPTIONS = [
    ('', {}),
    (':keep_io_types', {'keep_io_types': True}),
    (':block=m2+mu+t', {'node_block_list': ['m2', 'mu', 't']}),
    (':op_block=MatMul+Tanh', {'op_block_list': ['MatMul', 'Tanh']}),
]
for name, (nodes, inputs, held) in NETS.items():
    model(nodes, inputs, ['y'], held, 20 if 'grid' in name else 17)
    data = {k: R(8, *d[1:]) for k, (t, d) in inputs.items()}
    feeds = batches(data, 4)
    float32 = run('float.onnx', feeds)
    for tool, module in (('occ-fp16', occ), ('ort-fp16', ort)):
        for words, options in OPTIONS:
            m = quiet(module.convert_float_to_float16, onnx.load('float.onnx'), **options)
            occ.sort_topology(m.graph)
            onnx.save(m, 'tool.onnx')
            cast = (lambda v: v) if 'keep' in words else (lambda v: v.astype(numpy.float16))
            half = [{k: cast(v) for k, v in f.items()} for f in feeds]
            what = '%s%%s of %s' % (tool + words, name)
            got, said = predict(tool + words, data, 4)
            try:
                run('tool.onnx', half)
            except Exception:
                tap.ok(got is None and 'onnxruntime refuses' in said, what % ': onnxruntime refuses the file', said)
                continue
            strict = [ReferenceEvaluator(m).run(None, f)[0] for f in half]
            strict = {'y': numpy.concatenate(strict).astype(numpy.float64)}
            # A sum in another order may round to the next float16. ONNX's evaluator rounds each step of a norm, and has
            # no grid in float16.
            if 'Norm' not in name and 'grid' not in name:
                hold(what % ' strictly', got, strict if got else said, float32, 4e-7, 0.01)
            for level, word in ('ORT_DISABLE_ALL', ':ort-cpu-disable_all'), ('ORT_ENABLE_ALL', ':ort-cpu'):
                got, said = predict(tool + words + word, data, 4)
                hold(what % (' at ' + level), got, run('tool.onnx', half, level) if got else said, float32, 1e-6, 0.001)

# Drawn networks of a few nodes: which Casts onnxruntime's CPU drops depends on all neighbours of a node.
for seed in range(24):
    r = numpy.random.default_rng(seed)
    values, nodes, held = ['x'], [], {}
    for i in range(int(r.integers(4, 12))):
        op = str(r.choice(['Add', 'Mul', 'Tanh', 'Relu', 'Max', 'Min', 'Clip', 'Transpose', 'Round', 'Neg']))
        ins = [str(r.choice(values[-3:]))]
        if op in ('Add', 'Mul', 'Max', 'Min') and r.random() < 0.5:
            held['k%d' % i] = R(8, 8)
            ins += ['k%d' % i]
        elif op in ('Add', 'Mul', 'Max', 'Min'):
            ins += [str(r.choice(values))]
        elif op == 'Clip':
            held |= {'l%d' % i: f32(-1.3), 'h%d' % i: f32(1.7)}
            ins += ['l%d' % i, 'h%d' % i]
        nodes.append(N(op, ins, ['v%d' % i], name='n%d' % i, **({'perm': [0, 2, 1]} if op == 'Transpose' else {})))
        values.append('v%d' % i)
    read = {v for n in nodes for v in n.input}
    model(nodes, {'x': (FLOAT, ['n', 8, 8])}, [v for v in values[1:] if v not in read][:3], held)
    data = {'x': R(4, 8, 8)}
    feeds = batches(data, 4)
    float32 = run('float.onnx', feeds)
    for tool, module in (('occ-fp16', occ), ('ort-fp16', ort)):
        for keep in 0, 1:
            m = quiet(module.convert_float_to_float16, onnx.load('float.onnx'), keep_io_types=bool(keep))
            onnx.save(m, 'tool.onnx')
            half = [{k: v if keep else v.astype(numpy.float16) for k, v in f.items()} for f in feeds]
            words = tool + (':keep_io_types' if keep else '') + ':ort-cpu-disable_all'
            got, said = predict(words, data, 4)
            hold('drawn network %d under %s' % (seed, words), got, run('tool.onnx', half), float32, 1e-6, 0.003)


def refused(what, scheme, says, nodes, held, opset=17):
    """The scheme names what the converter's file is refused for, in one line."""
    model(nodes, row, ['y'], held, opset)
    got, said = predict(scheme, {'x': R(4, 32)}, 1)
    tap.ok(got is None and says in said and said.count('\n') == 1, what, said)


shared = [N('Max', ['x', 'k'], ['a'], name='m1'), N('Add', ['a', 'k'], ['y'], name='ad')]
refused('a constant of blocked nodes and others', 'occ-fp16', "constant 'k'", shared, {'k': f32(1)})
model(shared, row, ['y'], {'k': f32(1)})
quiet(onnx.save, occ.convert_float_to_float16(onnx.load('float.onnx')), 'tool.onnx')
try:
    run('tool.onnx', [{'x': R(4, 32).astype(numpy.float16)}])
    tap.ok(False, 'onnxruntime refuses it')
except Exception:
    tap.ok(True, 'onnxruntime refuses it')
got, said = predict('ort-fp16', {'x': R(4, 32)}, 4)
tap.ok(got is not None, 'the other converter takes it', said)
value = [N('Constant', [], ['k'], name='k', value_float=2.0), N('Mul', ['x', 'k'], ['y'], name='m')]
for tool in 'occ-fp16', 'ort-fp16':
    refused('%s: a Constant of value_float' % tool, tool, "node 'k'", value, {})
cast = [
    N('Shape', ['x'], ['s'], name='s'),
    N('Cast', ['s'], ['f'], name='c', to=1),
    N('ReduceProd', ['f'], ['p'], name='p', keepdims=0),
    N('Div', ['x', 'p'], ['y'], name='d'),
]
refused('occ-fp16: a Cast to float32', 'occ-fp16', "node 'c'", cast, {})
out = [N('Add', ['x', 'k'], ['y'], name='a'), N('Mul', ['y', 'k'], ['z'], name='m')]
model(out, row, ['y', 'z'], {'k': f32(3)})
got, said = predict('occ-fp16:keep_io_types', {'x': R(4, 32)}, 4)
tap.ok(got is None and "output 'y'" in said, 'occ-fp16: keep_io_types and an output that a node reads', said)
quiet(onnx.save, occ.convert_float_to_float16(onnx.load('float.onnx'), keep_io_types=True), 'tool.onnx')
try:
    run('tool.onnx', [{'x': R(4, 32)}])
    tap.ok(False, 'onnxruntime refuses its file')
except Exception:
    tap.ok(True, 'onnxruntime refuses its file')
tap.finish()
