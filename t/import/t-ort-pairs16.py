#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Products of unsigned and signed bytes on x86 processors without VNNI, whose sums of two products saturate at 16 bits:
# the word pairs16 of ort-dynamic and ort-static, and of --runtime. A plain model of the instruction (vpmaddubsw) says
# what a product is; where this processor has AVX2 and no VNNI, onnxruntime's own kernels say it of files with
# convolutions, recurrent cells and other formats of the tool too. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(16)
FLOAT = TensorProto.FLOAT
N_, K, M = 12, 37, 9
x = (2 + abs(r.standard_normal((N_, K)))).astype(f32)
x[:, ::3] *= f32(-0.2)
W = numpy.sign(r.standard_normal((1, M))) * (2 + abs(r.standard_normal((K, M))))  # columns of one sign add up
W = W.astype(f32)


def codes(x):
    low, high = numpy.minimum(x.min(), f32(0)), numpy.maximum(x.max(), f32(0))
    s = (high - low) / f32(255)
    z = numpy.rint(-low / s)
    return numpy.clip(numpy.rint(x / s) + z, 0, 255).astype(numpy.int64), int(z), s


def product(u, z, w, saturates):
    """Sums of pairs of terms, the last of an odd number alone."""
    if len(w) % 2:
        u, w = numpy.pad(u, ((0, 0), (0, 1))), numpy.pad(w, ((0, 1), (0, 0)))
    terms = u[:, :, None] * w[None]
    pairs = terms[:, ::2] + terms[:, 1::2]
    pairs = numpy.clip(pairs, -32768, 32767) if saturates else pairs
    return pairs.sum(1) - z * w.sum(0)


u, z, s = codes(x)
sw = abs(W).max() / f32(127)
w = numpy.rint(W / sw).astype(numpy.int64)
model([N('MatMul', ['x', 'W'], ['y'], name='mm')], {'x': (FLOAT, ['n', K])}, ['y'], {'W': W})
quiet(quantize_dynamic, 'float.onnx', 'tool.onnx')
wanted = {}
for saturates in (0, 1):
    y = product(u, z, w, saturates).astype(f32) * (s * sw)
    wanted[saturates] = y.astype(numpy.float64)
    got, said = ask('ort-dynamic' + ':pairs16' * saturates, {'x': x}, N_)
    hold('a product, saturating: %d' % saturates, got, {'y': wanted[saturates]} if got else said, {'y': x @ W})
apart = rel(wanted[1], wanted[0])
tap.ok(apart > 0.01, 'pairs saturate here: %.3g apart' % apart)
got, said = ask('float32', {'x': x}, N_, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'ort-cpu:pairs16')
hold('the file, by --runtime', got, {'y': wanted[1]} if got else said, {'y': x @ W})
for scheme, says in (
    ('ort-static:pairs16', 'add one of these'),
    ('occ-fp16:pairs16', "'pairs16' is no word of occ-fp16"),
    ('ort-w8a8:pairs16', "'pairs16' is no word of ort-w8a8"),
):
    got, said = ask(scheme, {'x': x}, N_)
    tap.ok(got is None and says in said and said.count('\n') == 1, scheme + ' is refused in one line', said)
got, said = ask('float32', {'x': x}, N_, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'strict:pairs16')
tap.ok(got is None and "'strict:pairs16' is not known" in said, 'strict has no such word', said)

# Which products saturate: of unsigned bytes on the left and signed ones on the right alone, whatever their zero points.
BYTES = {'uint8': (numpy.uint8, 0, 255), 'int8': (numpy.int8, -128, 127)}
model([N('MatMul', ['x', 'W'], ['y'], name='mm')], {'x': (FLOAT, ['n', K])}, ['y'], {'W': W})
for left, right, za, zb in (
    ('uint8', 'int8', 9, 0),
    ('uint8', 'int8', 9, -18),
    ('int8', 'int8', -30, 0),
    ('int8', 'int8', -30, 5),
    ('uint8', 'uint8', 9, 131),
    ('int8', 'uint8', -30, 131),
):
    ta, a_low, a_high = BYTES[left]
    tb, b_low, b_high = BYTES[right]
    held = {'s': f32(1), 'za': ta(za), 'zb': tb(zb), 'w': r.choice([b_low, b_high], (K, M)).astype(tb)}
    nodes = [
        N('QuantizeLinear', ['x', 's', 'za'], ['q'], name='quantise'),
        N('MatMulInteger', ['q', 'w', 'za', 'zb'], ['i'], name='product'),
        N('Cast', ['i'], ['y'], name='cast', to=FLOAT),
    ]
    os.rename('float.onnx', 'kept.onnx')
    model(nodes, {'x': (FLOAT, ['n', K])}, ['y'], held)
    os.rename('float.onnx', 'tool.onnx')
    os.rename('kept.onnx', 'float.onnx')
    rows = r.choice([a_low - za, a_high - za], (N_, K)).astype(f32)
    u, w = rows.astype(numpy.int64) + za, held['w'].astype(numpy.int64)
    exact = product(u - za, 0, w - zb, False)
    ends = product(u, za, w, True) - zb * (u - za).sum(1)[:, None]
    saturates = (left, right) == ('uint8', 'int8')
    what = '%s with zero point %d times %s with %d' % (left, za, right, zb)
    got, said = ask('float32', {'x': rows}, N_, 'float.onnx', '--against', 'tool.onnx', '--runtime', 'ort-cpu:pairs16')
    wanted = (ends if saturates else exact).astype(numpy.float64)
    tap.ok(bool(got) and (got['y'] == wanted).all(), what + ', saturating: %d' % saturates, said)
    tap.ok((ends != exact).any() or not saturates, what + ': pairs would saturate')
    ort = run('tool.onnx', [{'x': rows}])['y']
    tap.ok((ort == (wanted if SATURATES else exact)).all(), what + ', as onnxruntime here', ort - wanted)

# What onnxruntime does on such a processor.
model([N('MatMul', ['x', 'W'], ['y'], name='mm')], {'x': (FLOAT, ['n', K])}, ['y'], {'W': W})
notes = ask('ort-dynamic', {'x': x}, N_)[1]['notes']
if not SATURATES:
    tap.skip('as onnxruntime here', 'this processor has no AVX2, or has VNNI')
    tap.finish()
    sys.exit()
tap.ok(any('the word pairs16 predicts that' in n for n in notes), 'without VNNI a note says so', notes)
notes = ask('ort-static:qoperator', {'x': x}, N_)[1]['notes']
tap.ok(not any('pairs16' in n for n in notes), 'of signed bytes alone no note says so', notes)
C = 6
kernel = numpy.sign(r.standard_normal((C, 1, 1, 1))) * (1 + abs(r.standard_normal((C, C, 3, 3))))
held = {'K': kernel.astype(f32), 'D': kernel[:, :1].astype(f32), 'b': r.standard_normal(C).astype(f32)}
held |= {'W': W[: C * 4], 'c': r.standard_normal(M).astype(f32)}
image = {'x': (FLOAT, ['n', C, 4, 4])}
flat = [N('GlobalAveragePool', ['d'], ['g'], name='gap'), N('Flatten', ['g'], ['y'], name='flat')]
lstm = {
    'P': (numpy.sign(r.standard_normal((1, 32, 1))) * (1 + abs(r.standard_normal((1, 32, K))))).astype(f32),
    'Q': (numpy.sign(r.standard_normal((1, 32, 1))) * (1 + abs(r.standard_normal((1, 32, 8))))).astype(f32) / 9,
}
NETS = {
    'a product with a bias': (
        [N('Gemm', ['x', 'W', 'c'], ['y'], name='g')],
        {'x': (FLOAT, ['n', C * 4])},
        abs(r.standard_normal((N_, C * 4))),
        held,
    ),
    'a convolution': ([N('Conv', ['x', 'K', 'b'], ['d'], name='c', pads=[1] * 4)] + flat, image, None, held),
    'a convolution of each channel': (
        [N('Conv', ['x', 'D', 'b'], ['d'], name='c', pads=[1] * 4, group=C)] + flat,
        image,
        None,
        held,
    ),
    'a cell': (
        [
            N('LSTM', ['x', 'P', 'Q'], ['', 'h'], name='l', hidden_size=8),
            N('Squeeze', ['h', 'zero'], ['y'], name='s'),
        ],
        {'x': (FLOAT, [5, 'n', K])},
        abs(r.standard_normal((N_, 5, K))),
        lstm | {'zero': numpy.array([0])},
    ),
}
TOOLS = {
    'ort-dynamic:pairs16': lambda f: quantize_dynamic('float.onnx', 'tool.onnx'),
    'ort-static:ort-cpu:pairs16': lambda f: quantize_static('float.onnx', 'tool.onnx', Reader(f)),
    'ort-static:qoperator:pairs16': lambda f: quantize_static(
        'float.onnx', 'tool.onnx', Reader(f), quant_format=QuantFormat.QOperator
    ),
    'ort-static:qoperator:activation_type=uint8:pairs16': lambda f: quantize_static(
        'float.onnx',
        'tool.onnx',
        Reader(f),
        quant_format=QuantFormat.QOperator,
        activation_type=QuantType.QUInt8,
    ),
}
for name, (nodes, inputs, rows, weights) in NETS.items():
    used = {k for n in nodes for k in n.input}
    model(nodes, inputs, ['y'], {k: v for k, v in weights.items() if k in used})
    rows = (abs(r.standard_normal((N_, C, 4, 4))) if rows is None else rows).astype(f32)
    for scheme, write in TOOLS.items():
        if name == 'a cell' and 'static' in scheme:
            continue
        feeds = [{'x': rows.swapaxes(0, 1) if name == 'a cell' else rows}]
        float32 = run('float.onnx', feeds)
        quiet(write, feeds)
        got, said = ask(scheme, {'x': rows}, N_)
        ort = run('tool.onnx', feeds, 'ORT_ENABLE_ALL')
        hold('%s: %s, as onnxruntime here' % (name, scheme), got, ort if got else said, float32, 1e-6, 0.02)
tap.finish()
