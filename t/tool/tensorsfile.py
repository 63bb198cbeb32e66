# SPDX-License-Identifier: Apache-2.0
# The float32 tensors of a safetensors file, such as a traced step, by the standard library alone.
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
        return struct.unpack('<%df' % ((last - first) // 4), self.body[first:last])

    def shape(self, name):
        return self.head[name]['shape']
