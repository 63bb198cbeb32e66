# SPDX-License-Identifier: Apache-2.0
"""For pytest: tensors of a test are held to what they were at the last commit, by halfulp-check (or halfulp).

Copy this file beside your tests, which then write:

    def test_forward(numerics):
        numerics('logits', model(x))                      # a NumPy array or a torch tensor
        numerics('loss', loss)
        numerics.rule('logits: ulps(fp16) <= 2')          # the first rule that matches counts; without one the dtype decides

At the test's end all of them are written to numerics/NAME.obtained.safetensors and held to numerics/NAME.safetensors, which you commit.
The test fails where they drifted, with the list that the program prints, its first line saying what moved most. Where there is no such
file, or where the change is right, `pytest --numerics-bless` writes it. HALFULP_CHECK names the program."""
import json
import os
import re
import shutil
import struct
import subprocess

DTYPES = {'f8': 'F64', 'f4': 'F32', 'f2': 'F16', 'i8': 'I64', 'i4': 'I32', 'i2': 'I16', 'i1': 'I8', 'u8': 'U64', 'u4': 'U32', 'u2': 'U16', 'u1': 'U8', 'b1': 'BOOL'}


def as_bytes(x):
    """dtype of safetensors, shape and bytes, little-endian and in C order; bfloat16 of torch by its bits."""
    if hasattr(x, 'detach'):  # torch
        x = x.detach().cpu().contiguous()
        if str(x.dtype) == 'torch.bfloat16':
            import torch
            return 'BF16', list(x.shape), x.view(torch.int16).numpy().tobytes()
        x = x.numpy()
    import numpy
    x = numpy.asarray(x)
    x = numpy.ascontiguousarray(x).reshape(x.shape)
    name = x.dtype.str[1:]
    if name not in DTYPES:
        raise TypeError('%s cannot be held: a number, an array or a torch tensor is needed' % x.dtype)
    return DTYPES[name], list(x.shape), x.astype(x.dtype.newbyteorder('<')).tobytes()


def write(path, tensors):
    """The safetensors file of {name: array}, without the package of that name; whole or not at all."""
    header, data = {}, b''
    for name in sorted(tensors):
        dtype, shape, raw = as_bytes(tensors[name])
        header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    head += b' ' * (-len(head) % 8)
    with open(path + '.part', 'wb') as f:
        f.write(struct.pack('<Q', len(head)) + head + data)
    os.replace(path + '.part', path)


def program():
    return os.environ.get('HALFULP_CHECK') or shutil.which('halfulp-check') or shutil.which('halfulp') or 'halfulp-check'


class Numerics:
    """What one test computed. name: of the file; folder: where it lies; bless: write it instead of comparing."""

    def __init__(self, folder, name, bless=False):
        self.path = os.path.join(folder, re.sub('[^A-Za-z0-9_.-]+', '_', name) + '.safetensors')
        self.tensors, self.rules, self.bless = {}, [], bless

    def __call__(self, name, x):
        if name in self.tensors:
            raise ValueError('%r was given twice in one test: names must differ' % name)
        self.tensors[name] = x

    def rule(self, text):
        self.rules += ['--rule', text]

    def verdict(self):
        """'' where all hold, else what to tell the reader."""
        if not self.tensors:
            return ''
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        obtained = self.path[:-len('safetensors')] + 'obtained.safetensors'
        write(self.path if self.bless else obtained, self.tensors)
        if self.bless:
            return ''
        if not os.path.exists(self.path):
            return '%s is not there; where %s is right: pytest --numerics-bless' % (self.path, obtained)
        p = subprocess.run([program(), 'check', obtained, '--baseline', self.path] + self.rules, capture_output=True, text=True)
        if p.returncode == 0:
            os.unlink(obtained)
            return ''
        return p.stderr if p.returncode > 1 else '\n'.join(line for line in p.stdout.splitlines() if not line.startswith('ok '))


try:
    import pytest
except ImportError:  # the class above needs no pytest
    pass
else:
    def pytest_addoption(parser):
        parser.addoption('--numerics-bless', action='store_true', help='write what tests compute as what later tests are held to')

    @pytest.fixture
    def numerics(request):
        n = Numerics(os.path.join(os.path.dirname(str(request.node.fspath)), 'numerics'), request.node.name, request.config.getoption('--numerics-bless'))
        yield n
        said = n.verdict()
        if said:
            pytest.fail(said, pytrace=False)
