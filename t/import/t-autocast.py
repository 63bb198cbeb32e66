#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme autocast-fp16 against nvidia-modelopt's AutoCast where that is installed, and against its rules, which are
# written down here once more; ONNX's reference evaluator, which rounds each result of float16, runs the file. HALFULP
# names the program.
import os, re, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    tap.skip_all('no %s' % e.name)
try:
    from modelopt.onnx.autocast import convert_to_mixed_precision as autocast
except ImportError:
    autocast = None
os.chdir(tap.home())
r = numpy.random.default_rng(41)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
row = {'x': (FLOAT, [4, 32])}
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
    'small and large constants, one of two readers': (
        [
            N('Add', ['x', 'tiny'], ['a'], name='add'),
            N('Mul', ['a', 'large'], ['b'], name='scale'),
            N('Mul', ['a', 'k'], ['d'], name='mu'),
            N('Div', ['b', 'large'], ['e'], name='div'),
            N('Mul', ['e', 'k'], ['f'], name='mk'),
            N('Add', ['d', 'f'], ['y'], name='last'),
        ],
        row,
        {
            'tiny': numpy.array([-1e-9, 1e-9, 3e-8, -6e-8, 9e-8, 2e-7, -4e-8, 0.0] * 4, f32),
            'large': numpy.full(32, 70000, f32),
            'k': R(32),
        },
    ),
    'values beyond data_max, and a fork of them': (
        [
            N('Mul', ['x', 'k'], ['a'], name='grow'),
            N('Add', ['a', 'c'], ['b'], name='add'),
            N('Mul', ['b', 'i'], ['d'], name='shrink'),
            N('Tanh', ['d'], ['t'], name='t'),
            N('Mul', ['a', 'i'], ['e'], name='shrink2'),
            N('Sub', ['t', 'e'], ['y'], name='sub'),
        ],
        row,
        {'k': f32(1000), 'c': R(32), 'i': f32(0.001)},
    ),
    'constants in nodes, and a Cast of whole numbers': (
        [
            N('Constant', [], ['v'], name='kv', value=numpy_helper.from_array(R(32, 8) * f32(1e-7))),
            N('MatMul', ['x', 'v'], ['a'], name='mm'),
            N('Cast', ['n'], ['f'], name='cast', to=1),
            N('Constant', [], ['s'], name='ks', value=numpy_helper.from_array(f32(0.1))),
            N('Mul', ['f', 's'], ['g'], name='mu'),
            N('Add', ['a', 'g'], ['y'], name='add'),
        ],
        row | {'n': (INT64, [4, 8])},
        {},
    ),
    'an index that is large': (
        [
            N('Gather', ['E', 'n'], ['e'], name='table'),
            N('MatMul', ['e', 'A'], ['y'], name='mm'),
        ],
        {'n': (INT64, [4, 6])},
        {'E': R(800, 16), 'A': R(16, 8)},
    ),
    'Resize, whose scales stay, and a blocked output that a node reads': (
        [
            N('Conv', ['x', 'W'], ['c'], name='c'),
            N('Resize', ['c', '', 'sc'], ['z'], name='rz', mode='nearest'),
            N('Mul', ['z', 'k'], ['u'], name='grow'),
            N('Mul', ['u', 'i'], ['y'], name='shrink'),
        ],
        {'x': (FLOAT, [4, 3, 6, 6])},
        {'W': R(4, 3, 3, 3), 'sc': numpy.array([1, 1, 2, 2], f32), 'k': f32(900), 'i': f32(0.003)},
    ),
}
OPTIONS = [
    ('', {}),
    (':keep_io_types', {'keep_io_types': True}),
    (':exclude=m+t.*', {'nodes_to_exclude': ['m', 't.*']}),
    (':op_block=Mul+Tanh', {'op_types_to_exclude': ['Mul', 'Tanh']}),
    (':data_max=5', {'data_max': 5}),
]


def rules(m, values, keep_io_types=False, nodes_to_exclude=(), op_types_to_exclude=(), data_max=512):
    """The file by AutoCast's rules: each float operand of a node has the node's type, and Casts make it so."""
    g = m.graph
    inits = {i.name: numpy_helper.to_array(i) for i in g.initializer}
    floats = {v.name for v in list(g.value_info) + list(g.input) + list(g.output) if v.type.tensor_type.elem_type == 1}
    floats |= {k for k, v in inits.items() if v.dtype == f32}
    types, made, nodes = {}, {}, []
    for i in g.input:
        if i.name in floats and not keep_io_types:
            i.type.tensor_type.elem_type = 10
        types[i.name] = i.type.tensor_type.elem_type

    def half(v):
        v = numpy.where((v != 0) & (abs(v) < 2.0**-24), f32(2.0**-24), numpy.clip(v, -65504, 65504))
        return v.astype(numpy.float16)

    def read(name, kind):
        if name not in floats or types.get(name, 0) == kind:
            return name
        new = '%s_%d' % (name, kind)
        if new not in made:
            made[new] = name
            if name in inits:
                g.initializer.append(numpy_helper.from_array(half(inits[name]) if kind == 10 else inits[name], new))
            else:
                nodes.append(N('Cast', [name], [new], to=kind))
        return new

    for n in g.node:
        large = any(abs(inits[k]).max() > 65504 for k in n.input if k in inits and inits[k].dtype == f32)
        near = [abs(values[k]).max() for k in list(n.input) + list(n.output) if k in values and values[k].size]
        named = any(re.match(e, n.name) for e in nodes_to_exclude) or n.op_type in op_types_to_exclude
        high = named or large or (n.op_type != 'Constant' and any(v > data_max for v in near))
        for k, name in enumerate(n.input):
            scales = n.op_type == 'Resize' and k == 2
            if name:
                n.input[k] = read(name, 1 if high or scales else 10)
        nodes.append(n)
        for name in n.output:
            if name in floats:
                types[name] = 1 if high or n.op_type in ('Constant', 'Cast') else 10
    for o in g.output:
        kind = 1 if keep_io_types else 10
        if types[o.name] != kind:
            nodes.append(N('Cast', [o.name], [o.name + '_out'], to=kind))
            o.name += '_out'
        o.type.tensor_type.elem_type = kind
    del g.node[:], g.value_info[:]
    g.node.extend(nodes)
    return m


for name, (nodes, inputs, held) in NETS.items():
    model(nodes, inputs, ['y'], held)
    data = {k: R(8, *d[1:]) if t == FLOAT else r.integers(0, 800 if 'E' in held else 9, [8] + d[1:])
            for k, (t, d) in inputs.items()}
    feeds = batches(data, 4)
    m = onnx.load('float.onnx')
    float32 = run('float.onnx', feeds)
    every = onnx.load('float.onnx')
    kept = {o.name for o in every.graph.output}
    every.graph.output.extend(v for v in every.graph.value_info if v.name not in kept)
    onnx.save(every, 'every.onnx')
    # Constants are values too, and inputs.
    values = run('every.onnx', feeds) | data
    for i, f in enumerate(feeds):
        os.makedirs('calibration', exist_ok=True)
        numpy.savez('calibration/%d.npz' % i, **f)
    for words, options in OPTIONS:
        files = {'its rules': rules(onnx.load('float.onnx'), values, **options)}
        if autocast:
            files['AutoCast'] = quiet(autocast, 'float.onnx', calibration_data='calibration', **options)
        got, said = predict('autocast-fp16' + words, data, 4)
        for what, file in files.items():
            kinds = {1: f32, 10: numpy.float16, 7: numpy.int64}
            cast = {i.name: kinds[i.type.tensor_type.elem_type] for i in file.graph.input}
            e = ReferenceEvaluator(file)
            strict = [e.run(None, {k: v.astype(cast[k]) for k, v in f.items()})[0] for f in feeds]
            strict = {'y': numpy.concatenate(strict).astype(numpy.float64)}
            # A sum in another order may round to the next float16.
            hold('autocast-fp16%s by %s: %s' % (words, what, name), got, strict if got else said, float32, 4e-7, 0.02)
    for f in os.listdir('calibration'):
        os.remove('calibration/' + f)
norm = [
    N('ReduceMean', ['x'], ['m'], name='mean', axes=[1]),
    N('Sub', ['x', 'm'], ['d'], name='sub'),
    N('Pow', ['d', 'two'], ['p'], name='pow'),
    N('ReduceMean', ['p'], ['v'], name='var', axes=[1]),
    N('Add', ['v', 'eps'], ['e'], name='eps'),
    N('Sqrt', ['e'], ['s'], name='sqrt'),
    N('Div', ['d', 's'], ['y'], name='div'),
]
model(norm, row, ['y'], {'two': f32(2), 'eps': f32(1e-5)})
got, said = predict('autocast-fp16', {'x': R(8, 32)}, 4)
one = got is None and "node 'div'" in said and said.count('\n') == 1
tap.ok(one, 'a chain that AutoCast replaces is refused', said)
got, said = predict('autocast-fp16:data_max=-1', {'x': R(8, 32)}, 4)
tap.ok(got is None and 'no positive number' in said, 'data_max=-1 is refused', said)
tap.finish()
