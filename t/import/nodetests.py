# SPDX-License-Identifier: Apache-2.0
# ONNX's own node tests: their models, inputs and expected outputs, and how validate runs them. The Python package onnx
# ships them as files up to 1.22; later ones make them when asked. Inputs that must be known beforehand, such as shapes
# and axes, become constants.
import os
import re
import shutil
import subprocess
import warnings

PROGRAM = os.path.abspath(os.environ.get('HALFULP', './halfulp'))
PLAIN = 'f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1'.split()
MADE = {}
WHERE = ''
try:
    import numpy
    import onnx
    from onnx import numpy_helper

    WHERE = os.path.join(os.path.dirname(onnx.__file__), 'backend/test/data/node')
    if not os.path.isdir(WHERE):
        from onnx.backend.test.case.node import collect_testcases

        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            MADE = {t.name: t for t in collect_testcases(None)}
except (ImportError, AttributeError):
    pass


def names():
    """The tests' names; none where the package is absent."""
    return sorted(MADE) or (sorted(os.listdir(WHERE)) if os.path.isdir(WHERE) else [])


def model(name):
    return MADE[name].model if name in MADE else onnx.load(os.path.join(WHERE, name, 'model.onnx'))


def array(x):
    """A value that a package made: an array, a number, or a tensor of ONNX's."""
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else numpy.asarray(x)


def tensor(path):
    t = onnx.TensorProto()
    with open(path, 'rb') as f:
        t.ParseFromString(f.read())
    return numpy_helper.to_array(t)


class Test:
    """A model, its inputs by name, and the expected outputs in their order: of a node test, or of a folder."""
    def __init__(self, name):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(onnx.load(name + '/model.onnx') if os.path.isabs(name) else model(name))
        made = {t.name for t in self.model.graph.initializer}
        self.ports = [v for v in self.model.graph.input if v.name not in made]
        values = self.model.graph.input, self.model.graph.output
        if any(v.type.WhichOneof('value') != 'tensor_type' for list in values for v in list):
            raise TypeError('a sequence or an optional value')
        if name in MADE:
            given, wants = MADE[name].data_sets[0]
            given, self.wants = [array(x) for x in given], [array(x) for x in wants]
        else:
            dir = os.path.join(WHERE, name, 'test_data_set_0') # of an absolute path that path itself
            given = [tensor('%s/input_%d.pb' % (dir, i)) for i in range(len(self.ports))]
            self.wants = [tensor('%s/output_%d.pb' % (dir, i)) for i in range(len(self.model.graph.output))]
        self.inputs = {v.name: x for v, x in zip(self.ports, given)}

    def fix(self, name):
        """An input becomes a constant."""
        self.model.graph.initializer.append(numpy_helper.from_array(self.inputs.pop(name), name))
        keep = [v for v in self.model.graph.input if v.name != name]
        del self.model.graph.input[:]
        self.model.graph.input.extend(keep)


    def count(self):
        """A model without inputs gets one that nothing reads, since inputs say how often it runs."""
        self.model.graph.input.append(onnx.helper.make_tensor_value_info('times', onnx.TensorProto.FLOAT, [1]))
        self.inputs['times'] = numpy.zeros(1, numpy.float32)


def load(name):
    """The test; or in words why it is none of tensors of numbers."""
    try:
        t = Test(name)
    except Exception:
        return 'inputs or outputs are no tensors'
    if any(v.dtype.kind in 'OSUc' for v in list(t.inputs.values()) + t.wants):
        return 'texts or complex numbers'
    for v in [k for k in t.inputs if not t.inputs[k].size]:
        t.fix(v)
    return t


def once(t, dir, exact):
    onnx.save(t.model, dir + '/m.onnx')
    rows = {k: v[None] if v.dtype.str[1:] in PLAIN else v.astype(numpy.float32)[None] for k, v in t.inputs.items()}
    numpy.savez(dir + '/x.npz', **rows)
    return subprocess.run([PROGRAM, 'validate', dir + '/m.onnx', '--data', dir + '/x.npz', '--policy', 'float32',
        '--exact', exact, '--outputs', dir + '/out'], capture_output=True, text=True, timeout=60)


def outputs(dir):
    """The outputs of a run: those that the file's types have, where it has float16 or bfloat16, else float32's."""
    typed = dir + '/out/as_typed.npz'
    with numpy.load(typed if os.path.exists(typed) else dir + '/out/float32.npz') as got:
        return dict(got)


def run(t, dir, exact='0'):
    """Runs the test in float32, and on the exact network where EXACT is '1': DIR/out has the outputs. Returns None, or
    in words why it cannot be run."""
    for _ in range(len(t.ports) + 1):
        if not t.inputs:
            t.count()
        shutil.rmtree(dir + '/out', ignore_errors=True)
        p = once(t, dir, exact)
        err = p.stderr.strip()
        m = re.search(r"'([^']*)' must be a constant here", err)
        if p.returncode == 0 or not m or m.group(1) not in t.inputs:
            break
        t.fix(m.group(1))
    if p.returncode < 0:
        return 'WRONG: a signal, %d, ended the program' % -p.returncode
    return re.sub(r"'[^']*'", "'…'", re.sub(r'^.*?m\.onnx: ', '', err)) if p.returncode else None


# The tolerances are those of ONNX's own backend tests (onnx.backend.test.loader: rtol 1e-3, atol 1e-7); and four units
# in the last place of the largest output in the output's type, since what is expected of a sum that cancels, or of a
# node of bfloat16, has roundings of its own.
UNIT = {'bfloat16': 2.0**-8, 'float16': 2.0**-11, 'float32': 2.0**-24}


def fits(want, got):
    unit = UNIT.get(want.dtype.name, 0)
    want, got = numpy.asarray(want, dtype=numpy.float64), numpy.asarray(got, dtype=numpy.float64)
    finite = numpy.abs(want[numpy.isfinite(want)])
    least = max(1e-7, 4 * unit * finite.max()) if finite.size else 1e-7
    return want.shape == got.shape and numpy.allclose(got, want, rtol=1e-3, atol=least, equal_nan=True)


def judge(name, dir):
    """None where the test passes, else why not; what begins with WRONG is no refusal."""
    t = load(name)
    try:
        why = t if isinstance(t, str) else run(t, dir)
    except subprocess.TimeoutExpired:
        return 'WRONG takes longer than a minute'
    if why:
        return why
    got = outputs(dir)
    for v, want in zip(t.model.graph.output, t.wants):
        if v.name not in got:
            return 'WRONG %s is absent' % v.name
        if got[v.name].size != want.size:
            return 'WRONG %s: another shape' % v.name
        is_ = got[v.name].reshape(want.shape)
        if not fits(want, is_):
            with numpy.errstate(invalid='ignore'):
                return 'WRONG %s: %s' % (v.name, numpy.max(numpy.abs(want.astype(float) - is_)))
    return None
