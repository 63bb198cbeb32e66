# SPDX-License-Identifier: Apache-2.0
# ONNX's own node tests, which the Python package onnx 1.22 ships (later ones have no such files): their models, inputs
# and expected outputs, and how validate runs them. Inputs that must be known beforehand, such as shapes and axes, become
# constants.
import os
import re
import shutil
import subprocess

PROGRAM = os.path.abspath(os.environ.get('HALFULP', './halfulp'))
PLAIN = 'f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1'.split()
try:
    import numpy
    import onnx
    from onnx import numpy_helper

    WHERE = os.path.join(os.path.dirname(onnx.__file__), 'backend/test/data/node')
except ImportError:
    WHERE = ''


def names():
    """The tests' names; none where the package is absent."""
    return sorted(os.listdir(WHERE)) if os.path.isdir(WHERE) else []


def tensor(path):
    t = onnx.TensorProto()
    with open(path, 'rb') as f:
        t.ParseFromString(f.read())
    return numpy_helper.to_array(t)


class Test:
    """A model, its inputs by name, and the expected outputs in their order."""
    def __init__(self, name):
        self.model = onnx.load(os.path.join(WHERE, name, 'model.onnx'))
        self.set = os.path.join(WHERE, name, 'test_data_set_0')
        made = {t.name for t in self.model.graph.initializer}
        self.ports = [v for v in self.model.graph.input if v.name not in made]
        self.inputs = {v.name: tensor('%s/input_%d.pb' % (self.set, i)) for i, v in enumerate(self.ports)}
        self.wants = [tensor('%s/output_%d.pb' % (self.set, i)) for i in range(len(self.model.graph.output))]

    def fix(self, name):
        """An input becomes a constant."""
        self.model.graph.initializer.append(numpy_helper.from_array(self.inputs.pop(name), name))
        keep = [v for v in self.model.graph.input if v.name != name]
        del self.model.graph.input[:]
        self.model.graph.input.extend(keep)


    def count(self):
        """A model whose only input became a constant gets one that nothing reads, since inputs say how often it runs."""
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
    return subprocess.run([PROGRAM, 'validate', dir + '/m.onnx', '--data', dir + '/x.npz', '--policies', 'float32',
        '--exact', exact, '--outputs', dir + '/out'], capture_output=True, text=True, timeout=60)


def run(t, dir, exact='0'):
    """Runs the test in float32, and on the exact network where EXACT is '1': DIR/out has the outputs. Returns None, or
    in words why it cannot be run."""
    for _ in range(len(t.ports) + 1):
        if not t.inputs:
            return 'no inputs'
        shutil.rmtree(dir + '/out', ignore_errors=True)
        p = once(t, dir, exact)
        err = p.stderr.strip()
        m = re.search(r"'([^']*)' must be a constant here", err)
        if p.returncode == 0 or not m or m.group(1) not in t.inputs:
            break
        t.fix(m.group(1))
        if not t.inputs:
            t.count()
    if p.returncode < 0:
        return 'WRONG: a signal, %d, ended the program' % -p.returncode
    return re.sub(r"'[^']*'", "'…'", re.sub(r'^.*?m\.onnx: ', '', err)) if p.returncode else None
