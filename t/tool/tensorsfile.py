# SPDX-License-Identifier: Apache-2.0
# The tensors of a safetensors file, such as a traced step, of 16, 32 or 64 bits, by the standard library alone.
import json
import struct


class Tensors:
    """t[name] is a tuple of its values in order, t.shape(name) their shape."""

    def __init__(self, path):
        raw = open(path, 'rb').read()
        begin = 8 + struct.unpack('<Q', raw[:8])[0]
        self.head, self.body = json.loads(raw[8:begin]), raw[begin:]

    def __getitem__(self, name):
        first, last = self.head[name]['data_offsets']
        letter = {'F16': 'e', 'F32': 'f', 'F64': 'd'}[self.head[name]['dtype']]
        return struct.unpack('<%d%s' % ((last - first) // struct.calcsize(letter), letter), self.body[first:last])

    def shape(self, name):
        return self.head[name]['shape']
