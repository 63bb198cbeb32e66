#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The scheme modelopt-int8 beside files that this test writes: codes where nvidia-modelopt's file has them
# (modelopt_nets.py), scales from the ranges that onnxruntime's values have, by onnxruntime's own calibrater where
# batches grow. onnxruntime runs them. Where nvidia-modelopt is installed, its own files have these codes and the
# scheme's outputs, in float32 and float16. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *
from modelopt_nets import NETS
from onnxruntime.quantization.calibrate import HistogramCollector

try:
    from modelopt.onnx.quantization import quantize
except ImportError:
    quantize = None
os.chdir(tap.home())
ROWS = 16
# The tool leaves MatMul's, Conv's and Gemm's channels their own scales.
AXES = {'Conv': 0, 'ConvTranspose': 1, 'Gemm': 0, 'MatMul': 1}


def drawn(inputs):
    """Batches grow: later ones have larger values."""
    r = numpy.random.default_rng(5)
    grow = numpy.repeat([1, 1.5, 1, 2.25], ROWS // 4)
    x = {k: r.standard_normal([ROWS] + s[1:]) for k, (_, s) in inputs.items()}
    return {k: (v * grow.reshape([-1] + [1] * (v.ndim - 1))).astype(f32) for k, v in x.items()}


def values(data, batch):
    """All values of float.onnx, a list of batches of each, as onnxruntime computes them."""
    m = onnx.load('float.onnx')
    have = {o.name for o in m.graph.output}
    for n in m.graph.node:
        m.graph.output.extend(onnx.ValueInfoProto(name=o) for o in n.output if o not in have)
    s = onnxruntime.InferenceSession(m.SerializeToString(), providers=['CPUExecutionProvider'])
    names = [o.name for o in s.get_outputs()]
    found = [dict(zip(names, s.run(None, f))) | f for f in batches(data, batch)]
    return {k: [f[k] for f in found] for k in found[0]}


def entropy(parts):
    """The range that onnxruntime's calibrater has of batches one after the other."""
    c = HistogramCollector('entropy', False, 128, 128, 99.999, 'same')
    with contextlib.redirect_stdout(io.StringIO()):
        for p in parts:
            c.collect({'v': [p]})
        low, high = c.compute_collection_result()['v'][:2]
    return float(low), float(high)


def written(init, coded, seen, shared, by_entropy):
    """float.onnx with codes where CODED says, as q.onnx."""
    m = onnx.load('float.onnx')
    made = {o: n for n in m.graph.node for o in n.output}
    nodes, new = [], {}

    def scale(name):
        if made.get(name) is not None and made[name].op_type == 'Softmax':
            low, high = 0, 1
        elif name in shared:
            low = min(v.min() for k in shared for v in seen[k])
            high = max(v.max() for k in shared for v in seen[k])
        elif by_entropy:
            low, high = entropy(seen[name])
        else:
            low, high = min(v.min() for v in seen[name]), max(v.max() for v in seen[name])
        return f32(2 * max(abs(float(low)), abs(float(high))) / 254)

    def pair(name, s, axis=None):
        if name in new:
            return new[name]
        k = {} if axis is None else {'axis': axis}
        m.graph.initializer.extend(
            numpy_helper.from_array(v, name + end) for v, end in ((s, '.s'), (numpy.zeros(s.shape, numpy.int8), '.z'))
        )
        nodes.append(N('QuantizeLinear', [name, name + '.s', name + '.z'], [name + '.q'], **k))
        nodes.append(N('DequantizeLinear', [name + '.q', name + '.s', name + '.z'], [name + '.d'], **k))
        new[name] = name + '.d'
        return new[name]

    for n in m.graph.node:
        for k in map(int, coded.get(n.name, '')):
            w = init.get(n.input[k])
            if w is None:
                n.input[k] = pair(n.input[k], numpy.asarray(scale(n.input[k]), f32))
                continue
            axis = AXES[n.op_type]
            most = abs(w.astype(numpy.float64)).max(tuple(i for i in range(w.ndim) if i != axis))
            n.input[k] = pair(n.input[k], (2 * most / 254).astype(f32), axis)
        nodes.append(n)
    del m.graph.node[:]
    m.graph.node.extend(nodes)
    onnx.save(m, 'q.onnx')


def off(a, b):
    return float(numpy.linalg.norm(a - b) / max(numpy.linalg.norm(b), 1e-30))


def check(name, nodes, inputs, init, coded):
    model(nodes, inputs, ['y'], init, 19)
    data = drawn(inputs)
    for batch in ROWS, 4:
        shared = ['z', 'ra', 'k'] if 'Concat' in name else []
        scheme = 'modelopt-int8:float32'
        words = ['--decision', 'none']
        if shared and batch < ROWS:
            got, said = ask(scheme, data, batch, 'float.onnx', *words)
            tap.ok(got is None and 'add the word max' in str(said), '%s: entropy of several batches is refused' % name)
            scheme += ':max'
        got, said = ask(scheme, data, batch, 'float.onnx', *words)
        if got is None:
            tap.ok(False, '%s, batches of %d: %s' % (name, batch, said))
            continue
        written(init, coded, values(data, batch), shared, batch < ROWS and 'max' not in scheme)
        want = run('q.onnx', batches(data, batch))['y']
        plain = run('float.onnx', batches(data, batch))['y']
        d, moved = off(got['y'], want), off(want, plain)
        what = '%s, batches of %d: %.2g from onnxruntime, which is %.2g off float32'
        tap.ok(d <= 1e-6, what % (name, batch, d, moved))
        if quantize and batch == 4 and not shared:
            own(name, data, batch, coded, got['y'])


class Fed(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds, self.rest = feeds, iter(feeds)

    def get_next(self):
        return next(self.rest, None)

    def get_first(self):
        return self.feeds[0]

    def rewind(self):
        self.rest = iter(self.feeds)


def own(name, data, batch, coded, got):
    """The tool's own files: their codes, and their outputs."""
    words = dict(quantize_mode='int8', calibration_eps=['cpu'], log_level='ERROR')
    for kind, scheme in ('fp32', 'modelopt-int8:float32'), ('fp16', 'modelopt-int8'):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            feeds = Fed(batches(data, batch))
            words['high_precision_dtype'] = kind
            quantize('float.onnx', calibration_data_reader=feeds, output_path='t.onnx', **words)
        m = onnx.load('t.onnx')
        made = {o: n for n in m.graph.node for o in n.output}
        has = {}
        for n in m.graph.node:
            k = [i for i, v in enumerate(n.input) if v in made and made[v].op_type == 'DequantizeLinear']
            if k and n.op_type not in ('QuantizeLinear', 'DequantizeLinear'):
                has[n.name] = ''.join(map(str, k))
        tap.ok(has == coded, '%s: nvidia-modelopt gives these operands codes, %s' % (name, kind))
        both, said = ask(scheme, data, batch, 'float.onnx', '--decision', 'none', '--against', 't.onnx')
        file = numpy.load('out/t.onnx.npz')['y'].astype(numpy.float64) if both else None
        d = off(both['y'], file) if both else numpy.inf
        tap.ok(d <= 1e-6, '%s: %.2g from its file, %s' % (name, d, kind))


for name, (nodes, inputs, init, coded) in NETS.items():
    check(name, nodes, inputs, init, dict(one.split(':') for one in coded.split()))
tap.finish()
