# SPDX-License-Identifier: Apache-2.0
# For tests of the schemes that are named after tools: the tool itself writes its file, onnxruntime runs it, and
# validate predicts the outputs from the float32 file alone. Who imports this skips where the packages are absent.
import contextlib, io, json, logging, os, shutil, warnings

import tap

try:
    import numpy, onnx, onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType
    from onnxruntime.quantization import quantize_dynamic, quantize_static
except ImportError as e:
    tap.skip_all('no %s' % e.name)
warnings.filterwarnings('ignore')
logging.disable(logging.WARNING)
onnxruntime.set_default_logger_severity(4)
# Products of bytes saturate in onnxruntime's kernels on such a processor, and predictions say so here.
flags = open('/proc/cpuinfo').read() if os.path.exists('/proc/cpuinfo') else ''
SATURATES = 'avx2' in flags and 'vnni' not in flags
f32 = numpy.float32
N = helper.make_node


class Reader(CalibrationDataReader):
    def __init__(self, rows):
        self.rows = iter(rows)

    def get_next(self):
        return next(self.rows, None)


def model(nodes, inputs, outputs, held, opset=17):
    """The file float.onnx: inputs {name: (type, shape)}, initialisers {name: array}."""
    g = helper.make_graph(
        nodes,
        'g',
        [helper.make_tensor_value_info(k, t, d) for k, (t, d) in inputs.items()],
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, None) for k in outputs],
        [numpy_helper.from_array(numpy.asarray(v), k) for k, v in held.items()],
    )
    m = helper.make_model(g, opset_imports=[helper.make_opsetid('', opset)])
    m.ir_version = 10
    onnx.save(onnx.shape_inference.infer_shapes(m), 'float.onnx')


def run(path, feeds, level='ORT_DISABLE_ALL', axis=0):
    """Outputs of all feeds, one behind the other."""
    so = onnxruntime.SessionOptions()
    so.intra_op_num_threads = 1
    so.log_severity_level = 4
    so.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    s = onnxruntime.InferenceSession(path, so, providers=['CPUExecutionProvider'])
    names = [o.name for o in s.get_outputs()]
    found = [s.run(None, f) for f in feeds]
    joined = lambda o: numpy.concatenate(o, axis) if o[0].ndim else numpy.stack(o)
    return {k: joined(o).astype(numpy.float64) for k, o in zip(names, zip(*found))}


def batches(data, batch):
    n = len(next(iter(data.values())))
    return [{k: v[i : i + batch] for k, v in data.items()} for i in range(0, n, batch)]


def as_here(scheme):
    """The scheme or runtime as this processor has it."""
    codes = 'ort-dynamic' in scheme or ('ort-static' in scheme and ('qoperator' in scheme or 'ort-cpu' in scheme))
    here = SATURATES and (codes or scheme.startswith('ort-cpu'))
    return scheme + ':pairs16' if here and 'pairs16' not in scheme and not scheme.endswith(':') else scheme


def predict(scheme, data, batch, path='float.onnx', *words):
    """What `ask` says of the scheme, and of a runtime among the words, as onnxruntime has them on this processor."""
    return ask(as_here(scheme), data, batch, path, *(as_here(w) for w in words))


def ask(scheme, data, batch, path='float.onnx', *words):
    """validate's outputs of the scheme by name, and its JSON row; None and what it says where it fails."""
    numpy.savez('data.npz', **data)
    shutil.rmtree('out', ignore_errors=True)
    r = tap.halfulp(
        *('validate %s --data data.npz --exact 0 --outputs out --json --batch %d' % (path, batch)).split(),
        '--policy',
        scheme,
        *words,
    )
    if r.returncode:
        return None, r.stderr
    found = [f for f in os.listdir('out') if f.endswith('.npz') and f != 'float32.npz'] or ['float32.npz']
    with numpy.load('out/' + found[0]) as z:
        return {k: z[k].astype(numpy.float64) for k in z.files}, json.loads(r.stdout)['policies'][-1]


def quiet(function, *words, **options):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return function(*words, **options)


def rel(a, b):
    return float(numpy.linalg.norm((a - b).ravel()) / max(numpy.linalg.norm(b.ravel()), 1e-30))


def decisions(a, axis=-1):
    return a.argmax(axis)


def hold(what, got, ort, float32, close=2e-7, codes=0.0, axis=-1, decided=0.99, within=0.05):
    """Prediction GOT, onnxruntime's ORT and FLOAT32, each by output: elements are within CLOSE of the largest but for
    the share CODES, decisions agree, and so do the distances to float32."""
    if got is None:
        return tap.ok(False, what, ort if isinstance(ort, str) else 'no prediction')
    wrong, far = [], 0.0
    for k, y in ort.items():
        g = got[k].reshape(y.shape)
        with numpy.errstate(invalid='ignore'):
            off = ~((abs(g - y) <= close * max(abs(y).max(), 1e-30)) | (g == y) | (numpy.isnan(g) & numpy.isnan(y)))
        far = max(far, off.mean())
        a, b = rel(y, float32[k]), rel(g, float32[k])
        same = (decisions(g, axis) == decisions(y, axis)).mean() if y.ndim > 1 else 1
        if off.mean() > codes:
            wrong.append('%s: %d of %d elements differ, by %.3g at most' % (k, off.sum(), off.size, abs(g - y).max()))
        if same < decided:
            wrong.append('%s: %.4f of the decisions are the same' % (k, same))
        if not abs(a - b) <= within * a + 1e-6 and numpy.isfinite([a, b]).any():
            wrong.append('%s: %.4g from float32, and onnxruntime %.4g' % (k, b, a))
    return tap.none(wrong, what)
