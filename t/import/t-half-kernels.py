#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# half_kernels.def says which operators ONNX Runtime computes in float16 on a CPU: where it is installed, it says so
# itself, by the Casts that it puts around a node. Every row of the table has a case here.
import os, re, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    tap.skip_all('onnx and onnxruntime are not installed')
if not ort.__version__.startswith('1.32.'):
    tap.skip_all('the table is of ONNX Runtime 1.32, and %s is installed' % ort.__version__)
os.chdir(tap.home())
ort.set_default_logger_severity(4)
MS, I = 'com.microsoft', np.int64
H = lambda *d: np.ones(d, np.float16)

# Operator: its operands (a shape is an input in float16, an array an initialiser), attributes, and the opset.
WITH = {
    ('', 'Attention'): ([(1, 2, 4)] * 3, dict(q_num_heads=2, kv_num_heads=2), 23), ('', 'Clip'): ([(4, 4), H(),
            H()], {}, 20),
    ('', 'Concat'): ([(4, 4), (4, 4)], dict(axis=0), 20), ('', 'Expand'): ([(4, 4), np.array([2, 4, 4], I)], {}, 20),
    ('', 'Flatten'): ([(4, 4)], {}, 20), ('', 'Gather'): ([(4, 4), np.array([0], I)], {}, 20),
    ('', 'GatherElements'): ([(4, 4), np.zeros((1, 4), I)], {}, 20), ('', 'GatherND'): ([(4, 4), np.zeros((1, 1),
            I)], {}, 20),
    ('', 'ReverseSequence'): ([(4, 4), np.array([2] * 4, I)], {}, 20), ('', 'IsNaN'): ([(4, 4)], {}, 20),
    ('', 'Identity'): ([(4, 4)], {}, 20), ('', 'LayerNormalization'): ([(4, 4), H(4), H(4)], {}, 20),
    ('', 'Max'): ([(4, 4), (4, 4)], {}, 20), ('', 'Min'): ([(4, 4), (4, 4)], {}, 20), ('', 'Mod'): ([(4, 4), (4,
            4)], dict(fmod=1), 20),
    ('', 'QuantizeLinear'): ([(4, 4), H(), np.uint8(0)], {}, 20), ('', 'RMSNormalization'): ([(4, 4), H(4)], {}, 23),
    ('', 'Reshape'): ([(4, 4), np.array([16], I)], {}, 20), ('', 'RotaryEmbedding'): ([(1, 2, 2, 4), H(4, 2), H(4,
            2), np.zeros((1, 2), I)], {}, 23),
    ('', 'Round'): ([(4, 4)], {}, 20), ('', 'ScatterElements'): ([(4, 4), np.zeros((1, 4), I), (1, 4)], {}, 20),
    ('', 'ScatterND'): ([(4, 4), np.zeros((1, 1), I), (1, 4)], {}, 20), ('', 'Shape'): ([(4, 4)], {}, 20), ('',
            'Shrink'): ([(4, 4)], {}, 20),
    ('', 'Sign'): ([(4, 4)], {}, 20), ('', 'SimplifiedLayerNormalization'): ([(4, 4), H(4)], {}, 20),
    ('', 'Slice'): ([(4, 4), np.array([0], I), np.array([2], I)], {}, 20), ('', 'Split'): ([(4, 4)], dict(axis=0,
            num_outputs=1), 20),
    ('', 'Squeeze'): ([(1, 4), np.array([0], I)], {}, 20), ('', 'Transpose'): ([(4, 4)], {}, 20),
    ('', 'Unsqueeze'): ([(4, 4), np.array([0], I)], {}, 20), ('', 'DequantizeLinear'): ([np.ones((4, 4), np.uint8),
            (), np.uint8(0)], {}, 20),
    (MS, 'GroupQueryAttention'): ([(1, 2, 32)] * 3 + [(1, 2, 0, 16)] * 2 + [np.array([1], np.int32), np.array(2,
            np.int32)],
                                  dict(num_heads=2, kv_num_heads=2), 20),
    (MS, 'MatMulNBits'): ([(4, 32), np.zeros((4, 1, 16), np.uint8), H(4)], dict(K=32, N=4, bits=4, block_size=32),
            20),
    (MS, 'RotaryEmbedding'): ([(1, 2, 2, 4), np.zeros((1, 2), I), H(4, 2), H(4, 2)], {}, 20),
    (MS, 'SkipLayerNormalization'): ([(1, 4, 4), (1, 4, 4), H(4), H(4)], {}, 20),
    (MS, 'SkipSimplifiedLayerNormalization'): ([(1, 4, 4), (1, 4, 4), H(4)], {}, 20),
}
CONSTANTS = {('', 'Constant'), ('', 'ConstantOfShape')}  # they have no operand in float16
WITHOUT = {('', op): ([(1, 4, 4, 4)], {}, 20)
        for op in 'Abs Neg Relu Sigmoid Tanh Exp Log Sqrt Erf Floor Softmax Gelu GlobalAveragePool '
           'LogSoftmax ReduceMean ReduceSum ReduceMax Sin HardSwish LeakyRelu Elu'.split()}
WITHOUT.update({('', op): ([(4, 4), (4, 4)], {}, 20) for op in 'Add Sub Mul Div Pow MatMul Gemm'.split()})
WITHOUT.update({('', 'Conv'): ([(1, 4, 4, 4), H(4, 4, 1, 1)], {}, 20), ('', 'Tile'): ([(4, 4), np.array([2, 2],
        I)], {}, 20),
                ('', 'Pad'): ([(4,), np.array([1, 1], I)], {}, 20), (MS, 'FastGelu'): ([(1, 4, 4)], {}, 20),
                ('', 'MaxPool'): ([(1, 4, 4, 4)], dict(kernel_shape=[2, 2]), 20)})


EXPANDED = {('', 'AffineGrid'): ([(1, 2, 3), np.array([1, 1, 4, 4], I)], {}, 20)}


def written(key, operands, attributes, opset):
    """The operators of the graph that the runtime makes of the node."""
    domain, op = key
    ins, inits, names = [], [], []
    for i, v in enumerate(operands):
        names.append('i%d' % i)
        if isinstance(v, tuple):
            ins.append(helper.make_tensor_value_info(names[-1], TensorProto.FLOAT16, v))
        else:
            inits.append(numpy_helper.from_array(np.asarray(v), names[-1]))
    outs = ['y'] + ['p', 'q'] * (op == 'GroupQueryAttention')
    type_ = {'Shape': TensorProto.INT64, 'QuantizeLinear': TensorProto.UINT8,
             'IsNaN': TensorProto.BOOL}.get(op, TensorProto.FLOAT16)
    g = helper.make_graph([helper.make_node(op, names, outs, domain=domain, **attributes)], 'g', ins,
                          [helper.make_tensor_value_info(o, type_, None) for o in outs], inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', opset), helper.make_opsetid(MS, 1)])
    m.ir_version = 10
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.optimized_model_filepath = 'o.onnx'
    ort.InferenceSession(m.SerializeToString(), o, providers=['CPUExecutionProvider'])
    return [n.op_type for n in onnx.load('o.onnx').graph.node]


def casts(*case):
    """1 where the runtime puts Casts around the node."""
    return 'Cast' in written(*case)


text = open(os.path.join(tap.TOP, 'lib/import/half_kernels.def'), encoding='utf-8').read()
rows = set(re.findall(r'^KERNEL\("([\w.]*)", (\w+)\)', text, re.M))
expanded = set(re.findall(r'^EXPANDED\("([\w.]*)", (\w+)\)', text, re.M))
tap.ok(rows == set(WITH) | CONSTANTS and len(rows) > 30, 'each of %d rows has a case' % len(rows),
        sorted(rows ^ (set(WITH) | CONSTANTS)))
tap.none([k for k, v in WITH.items() if casts(k, *v)], 'ONNX Runtime computes the operators of the table in float16')
tap.none([k for k, v in WITHOUT.items() if not casts(k, *v)], '%d others it gives float32' % len(WITHOUT))
tap.ok(expanded == set(EXPANDED), 'each operator that is expanded has a case', sorted(expanded ^ set(EXPANDED)))
wrong = [k for k, v in EXPANDED.items() if k[1] in (ops := written(k, *v)) or len(ops) < 3]
tap.none(wrong, 'ONNX Runtime computes these as the nodes that ONNX defines them by')
tap.finish()
