#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The schemes occ-fp16 and ort-fp16 on models with If, Loop and Scan: the converters convert the graphs inside these
# nodes too, and their files, run by ONNX's reference evaluator, have the numbers that are predicted. What onnxruntime
# refuses of such files is refused here. HALFULP names the program.
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
r = numpy.random.default_rng(39)
R = lambda *s: r.standard_normal(s).astype(f32)
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
V = helper.make_tensor_value_info
held_of = lambda held: [numpy_helper.from_array(numpy.asarray(v), k) for k, v in held.items()]
graph = lambda nodes, ins, outs, held={}: helper.make_graph(nodes, 'inner', ins, outs, held_of(held))
row = {'x': (FLOAT, ['n', 16])}
stem = [N('MatMul', ['x', 'w'], ['s'], name='mm'), N('ReduceSum', ['s'], ['sum'], name='sum', keepdims=0),
    N('Greater', ['sum', 'zero'], ['is'], name='gr')]


def branches(yes, no, names=('r1', 'r2'), held=({}, {})):
    make = lambda nodes, o, h: graph(nodes, [], [V(o, FLOAT, ['n', 6])], h)
    return stem + [N('If', ['is'], ['r'], name='if', then_branch=make(yes, names[0], held[0]),
        else_branch=make(no, names[1], held[1])), N('Tanh', ['r'], ['y'], name='end')]


def loop(nodes, held={}, out='c9'):
    return stem[:1] + [N('Loop', ['n3', 'yes', 's'], ['last', 'all'], name='loop', body=graph(
        nodes + [N('Identity', ['go'], ['on'], name='id')], [V('i', INT, []), V('go', BOOL, []),
            V('c', FLOAT, ['n', 8])], [V('on', BOOL, []), V(out, FLOAT, ['n', 8]), V('out', FLOAT, ['n', 8])], held)),
        N('Gather', ['all', 'ax'], ['one'], name='pick'), N('Add', ['last', 'one'], ['y'], name='join')]


W = {'w': R(16, 8), 'v': R(8, 6), 'u': R(8, 8) / 3, 'zero': f32(0), 'n3': numpy.int64(3), 'yes': numpy.bool_(True),
    'ax': numpy.int64(1), 'low': f32(-0.4), 'b': R(8), 'tiny': f32(3e-8)}
steps = [N('MatMul', ['c', 'u'], ['c1'], name='lm'), N('Tanh', ['c1'], ['c9'], name='lt'),
    N('Mul', ['c9', 'b'], ['out'], name='lo')]
scan = graph([N('Add', ['st', 'xx'], ['st1'], name='sa'), N('Tanh', ['st1'], ['yy'], name='sy')],
    [V('st', FLOAT, [8]), V('xx', FLOAT, [8])], [V('st1', FLOAT, [8]), V('yy', FLOAT, [8])])
NETS = {
    'If with weights from outside': branches([N('MatMul', ['s', 'v'], ['r1'], name='a')],
        [N('Exp', ['s'], ['e'], name='ex'), N('MatMul', ['e', 'v'], ['r2'], name='b2')]),
    'If with weights of its own, and a constant that is clamped': branches(
        [N('MatMul', ['s', 'v1'], ['q'], name='a'), N('Mul', ['q', 'big'], ['r0'], name='m'),
            N('Div', ['r0', 'big'], ['r1'], name='d')],
        [N('Constant', [], ['v2'], name='k', value=numpy_helper.from_array(W['v'])),
            N('MatMul', ['s', 'v2'], ['r2'], name='b2')], held=({'v1': W['v'], 'big': f32(12345)}, {})),
    'If with a blocked node': branches(
        [N('MatMul', ['s', 'v'], ['q'], name='a'), N('Max', ['q', 'low1'], ['r1'], name='mx')],
        [N('MatMul', ['s', 'v'], ['r2'], name='b2')], held=({'low1': W['low']}, {})),
    'Loop': loop(steps),
    'Loop with weights of its own': loop([N('MatMul', ['c', 'ui'], ['c1'], name='lm'),
        N('Tanh', ['c1'], ['c9'], name='lt'), N('Mul', ['c9', 'bi'], ['out'], name='lo')],
        {'ui': W['u'], 'bi': W['b']}),
    'Loop around an If': loop([N('Cast', ['i'], ['k'], name='ck', to=BOOL), N('If', ['k'], ['c1'], name='in',
        then_branch=graph([N('MatMul', ['c', 'u'], ['t1'], name='la')], [], [V('t1', FLOAT, ['n', 8])]),
        else_branch=graph([N('Mul', ['c', 'b'], ['t2'], name='lb')], [], [V('t2', FLOAT, ['n', 8])])),
        N('Tanh', ['c1'], ['c9'], name='lt'), N('Mul', ['c9', 'b'], ['out'], name='lo')]),
    'Scan': stem[:1] + [N('Scan', ['b', 's'], ['fin', 'y'], name='scan', body=scan, num_scan_inputs=1)],
    'a blocked node that reads from outside': branches([N('MatMul', ['s', 'v'], ['q'], name='a'),
        N('Max', ['q', 'low'], ['r1'], name='mx')], [N('MatMul', ['s', 'v'], ['r2'], name='b2')]),
    'a Cast to float32 inside': branches([N('Shape', ['s'], ['sh'], name='sh'), N('Cast', ['sh'], ['f'], name='cf',
        to=FLOAT), N('ReduceMax', ['f'], ['m'], name='rm', keepdims=0), N('MatMul', ['s', 'v'], ['q'], name='a'),
        N('Div', ['q', 'm'], ['r1'], name='d')], [N('MatMul', ['s', 'v'], ['r2'], name='b2')]),
}
for name, (nodes) in NETS.items():
    read = {i for n in nodes for i in n.input} | {i for n in nodes for a in n.attribute if a.HasField('g')
        for m in a.g.node for i in list(m.input) + [i for b in m.attribute if b.HasField('g') for k in b.g.node
            for i in k.input]}
    model(nodes, row, ['y'], {k: v for k, v in W.items() if k in read})
    data = {'x': R(12, 16)}
    feeds = batches(data, 1)
    float32 = run('float.onnx', feeds)
    for tool, module in (('occ-fp16', occ), ('ort-fp16', ort)):
        for words, options in ('', {}), (':keep_io_types', {'keep_io_types': True}):
            what = '%s%s of %s' % (tool, words, name)
            got, said = predict(tool + words, data, 1)
            try:
                m = quiet(module.convert_float_to_float16, onnx.load('float.onnx'), **options)
                onnx.save(m, 'tool.onnx')
                half = [{k: v if words else v.astype(numpy.float16) for k, v in f.items()} for f in feeds]
                run('tool.onnx', half)
            except Exception as e:
                tap.ok(got is None and 'onnxruntime refuses' in str(said), what + ': onnxruntime refuses the file',
                    [str(said)[-300:], str(e)[:300]])
                continue
            occ.sort_topology(m.graph)
            strict = [ReferenceEvaluator(m).run(None, f)[0] for f in half]
            strict = {'y': numpy.concatenate(strict).astype(numpy.float64)}
            hold(what, got, strict if got else said, float32, 4e-7, 0.02)
tap.finish()
