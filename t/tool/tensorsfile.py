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
        body, kind = self.body[first:last], self.head[name]['dtype']
        if kind == 'BF16':  # the first half of a float32
            body, kind = b''.join(b'\0\0' + body[i : i + 2] for i in range(0, len(body), 2)), 'F32'
        letter = {'F16': 'e', 'F32': 'f', 'F64': 'd'}[kind]
        return struct.unpack('<%d%s' % (len(body) // struct.calcsize(letter), letter), body)

    def shape(self, name):
        return self.head[name]['shape']
