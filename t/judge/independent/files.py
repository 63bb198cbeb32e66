# SPDX-License-Identifier: Apache-2.0
# What a run leaves behind, read with the standard library alone: safetensors, tables, programs, the manifest.
import json
import os
import struct

from .number import FORMATS, decode, pow2

DTYPES = {'F64': 'fp64', 'F32': 'fp32', 'F16': 'fp16', 'BF16': 'bf16', 'F8_E4M3': 'e4m3', 'F8_E5M2': 'e5m2'}
SIZES = {'F64': 8, 'F32': 4, 'F16': 2, 'BF16': 2, 'F8_E4M3': 1, 'F8_E5M2': 1}


class Safetensors:
    def __init__(self, path):
        raw = open(path, 'rb').read()
        n, = struct.unpack('<Q', raw[:8])
        self.head, self.body = json.loads(raw[8:8 + n]), raw[8 + n:]
        self.meta = self.head.pop('__metadata__', {})

    def __contains__(self, name):
        return name in self.head

    def codes(self, name):
        h = self.head[name]
        a, b = h['data_offsets']
        size = SIZES[h['dtype']]
        return struct.unpack('<%d%s' % ((b - a) // size, {8: 'Q', 4: 'I', 2: 'H', 1: 'B'}[size]), self.body[a:b]), DTYPES[h['dtype']]


class Tensor:
    """Values by index, decoded when asked for. NaN and infinities raise NotFinite."""

    def __init__(self, codes, stored, info):
        self.codes, self.stored, self.format, self.shape = codes, stored, info['format'], info['shape']
        self.n, self.cache = len(codes), {}
        p, emin = FORMATS[stored][2:4]
        self.unit = emin - p + 1

    def raw(self, i):
        return decode(self.codes[i], self.stored)

    def __getitem__(self, i):
        v = self.cache.get(i)
        if v is None:
            v = self.cache[i] = self.raw(i)
        if isinstance(v, str):
            raise NotFinite
        return v

    def integer(self, i):
        """value / 2^unit"""
        v = self[i]
        return v.numerator * ((1 << -self.unit) // v.denominator) if self.unit < 0 else int(v / pow2(self.unit))


class NotFinite(Exception):
    """An operand is an infinity or a NaN: what follows from it is not recomputed."""


def table(path):
    """The columns of a table and its rows, each a dict of texts."""
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return lines[0], [dict(zip(lines[0], line)) for line in lines[1:]]


class Run:
    """A run's folder: its manifest, training program and traced steps."""

    def __init__(self, path):
        self.path = path
        self.manifest = json.load(open(os.path.join(path, 'manifest.json')))
        self.program = json.load(open(os.path.join(path, 'program-train.json')))
        self.tensors, self.calls = self.program['tensors'], self.program['calls']
        self.producer = {t: c for c in self.calls for t in c['out']}
        trace = os.path.join(path, 'trace')
        self.steps = sorted(int(f[5:-12]) for f in os.listdir(trace))

    def trace(self, step):
        return Safetensors(os.path.join(self.path, 'trace', 'step-%06d.safetensors' % step))

    def analysis(self, name):
        return os.path.join(self.path, 'analysis', name)

    def is_update(self, call):
        w = self.tensors[call['in'][0]] if call['in'] else {}
        return call['phase'] == 'update' and bool(w.get('trainable')) and w.get('next') == call['out'][0]
