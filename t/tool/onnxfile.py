# SPDX-License-Identifier: Apache-2.0
# Writes ONNX files without any package: protobuf's wire format by hand, so that tests of the reader owe nothing to its
# schema.
import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 9, 10, 11


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def blob(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, dtype, dims, raw):
    return b"".join(number(1, d) for d in dims) + number(2, dtype) + blob(8, name) + blob(9, raw)


def floats(name, dims, values):
    return tensor(name, FLOAT, dims, struct.pack("<%df" % len(values), *values))


def ints(name, dims, values):
    return tensor(name, INT64, dims, struct.pack("<%dq" % len(values), *values))


class Graph(bytes):
    """A graph as bytes, told from a tensor's where it is an attribute."""


def attribute(name, v):
    out = blob(1, name)
    if isinstance(v, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", v) + number(20, 1)
    if isinstance(v, int):
        return out + number(3, v) + number(20, 2)
    if isinstance(v, str):
        return out + blob(4, v) + number(20, 3)
    if isinstance(v, Graph):
        return out + blob(6, v) + number(20, 5)
    if isinstance(v, bytes):
        return out + blob(5, v) + number(20, 4)
    if v and isinstance(v[0], float):
        return out + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + number(20, 6)
    return out + b"".join(number(8, x) for x in v) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    """An input "-" is left out."""
    return (b"".join(blob(1, "" if i == "-" else i) for i in inputs.split()) + b"".join(blob(2, o) for o in outputs.split()) + blob(3, name) + blob(4, op) +
            b"".join(blob(5, attribute(k, v)) for k, v in attributes.items()) + blob(7, domain))


def value(name, dims=None, dtype=FLOAT):
    """A dimension that is a text is a parameter."""
    shape = b"" if dims is None else blob(2, b"".join(blob(1, blob(2, d) if isinstance(d, str) else number(1, d)) for d in dims))
    return blob(1, name) + blob(2, blob(1, number(1, dtype) + shape))


def graph(nodes, tensors=(), inputs=(), outputs=(), name="g"):
    return Graph(b"".join(blob(1, n) for n in nodes) + blob(2, name) + b"".join(blob(5, t) for t in tensors) +
                 b"".join(blob(11, v) for v in inputs) + b"".join(blob(12, v) for v in outputs))


def model(g, opset=17, domains=(), functions=()):
    """The bytes of a file of a graph."""
    return (number(1, 8) + blob(7, g) + blob(8, blob(1, "") + number(2, opset)) +
            b"".join(blob(8, blob(1, d) + number(2, v)) for d, v in domains) +
            b"".join(blob(25, fn) for fn in functions))


def write(path, g, opset=17, domains=(), functions=()):
    with open(path, "wb") as f:
        f.write(model(g, opset, domains, functions))
