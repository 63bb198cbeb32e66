# SPDX-License-Identifier: Apache-2.0
# The tensors of a safetensors file, such as a traced step, of 8, 16, 32 or 64 bits, by the standard library alone.
import json
import struct


def e4m3(code):
    """The number that a code of 8 bits stands for: 4 of exponent, 3 of significand; the last code of a sign is NaN."""
    e, m = code >> 3 & 15, code & 7
    x = float('nan') if code & 127 == 127 else (8 + m) * 2.0 ** (e - 10) if e else m * 2.0**-9
    return -x if code & 128 else x


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
        if kind == 'F8_E5M2':  # the first half of a float16
            body, kind = b''.join(b'\0' + body[i : i + 1] for i in range(len(body))), 'F16'
        if kind == 'F8_E4M3':
            return tuple(e4m3(code) for code in body)
        letter = {'F16': 'e', 'F32': 'f', 'F64': 'd'}[kind]
        return struct.unpack('<%d%s' % (len(body) // struct.calcsize(letter), letter), body)

    def shape(self, name):
        return self.head[name]['shape']
