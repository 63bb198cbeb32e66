# SPDX-License-Identifier: Apache-2.0
"""Sums of numpy, torch or onnxruntime as black boxes, for `halfulp tree --library NAME`, which starts this file.

    python3 halfulp_sums.py NAME N

prints the library with its version, then a line for each of its sums of N terms: the format and, behind a tab, what it
is; then an empty line. From then on it reads, in the machine's own order of bytes, the number of a sum (4 bytes) and
its terms (N doubles, which that format holds), and answers with two doubles: the first of the outputs that all have
these terms, and the first output that differs from it, or the same again.
"""
import struct
import sys

ROWS, COLUMNS = 64, 64  # outputs of a product: enough for the library's usual kernels


def of_numpy(n):
    import numpy as np

    sums = []
    for name in ("float32", "float64"):
        ones, column = np.ones((n, COLUMNS), name), np.ones(n, name)
        sums += [
            (name, f"matmul, {ROWS}x{n} by {n}x{COLUMNS}", lambda x, b=ones: np.tile(x, (ROWS, 1)) @ b),
            (name, f"matmul, a vector by {n}x{COLUMNS}", lambda x, b=ones: x @ b),
            (name, "dot of two vectors", lambda x, b=column: np.dot(x, b)),
            (name, "sum of a vector", lambda x: x.sum()),
            (name, "sum of columns (axis=0)", lambda x: np.ascontiguousarray(np.tile(x, (COLUMNS, 1)).T).sum(axis=0)),
            (name, "einsum i,i->", lambda x, b=column: np.einsum("i,i->", x, b)),
        ]
    wrap = lambda f: lambda kind, data: np.ravel(f(np.frombuffer(data).astype(kind))).tolist()
    return f"numpy {np.__version__}", [(kind, what, wrap(f)) for kind, what, f in sums]


def of_torch(n):
    import torch
    from torch.nn import functional as F

    sums = []
    for name in ("float32", "float64"):
        kind = getattr(torch, name)
        ones = torch.ones(n, COLUMNS, dtype=kind)
        square = torch.ones(COLUMNS, n, dtype=kind)
        filters = torch.ones(COLUMNS, n, 1, 1, dtype=kind)
        sums += [
            (name, f"matmul, {ROWS}x{n} by {n}x{COLUMNS}", lambda x, b=ones: x.repeat(ROWS, 1) @ b),
            (name, f"matmul, a vector by {n}x{COLUMNS}", lambda x, b=ones: x @ b),
            (name, f"linear, {ROWS} rows", lambda x, b=square: F.linear(x.repeat(ROWS, 1), b)),
            (name, f"conv2d 1x1, {n} channels, 8x8", lambda x, b=filters: F.conv2d(x.view(1, n, 1, 1).tile(8, 8), b)),
            (name, "dot of two vectors", lambda x, b=ones: torch.dot(x, b[:, 0].contiguous())),
            (name, "sum of a vector", lambda x: x.sum()),
            (name, "sum of columns (dim=0)", lambda x: x.repeat(COLUMNS, 1).T.contiguous().sum(0)),
        ]

    def wrap(kind, f):
        return lambda _, data: f(torch.frombuffer(bytearray(data), dtype=torch.float64).to(kind)).flatten().tolist()

    torch.set_grad_enabled(False)
    return f"torch {torch.__version__}", [(kind, what, wrap(getattr(torch, kind), f)) for kind, what, f in sums]


def of_onnxruntime(n):
    import numpy as np
    import onnxruntime as ort

    def number(field, value):
        out, value = bytes([field << 3]), int(value)
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    def blob(field, data):
        data = data.encode() if isinstance(data, str) else data
        return bytes([field << 3 | 2]) + number(0, len(data))[1:] + data

    def value(field, name, dims):
        shape = b"".join(blob(1, number(1, d)) for d in dims)
        return blob(field, blob(1, name) + blob(2, blob(1, number(1, 1) + blob(2, shape))))

    # A model of one node in protobuf's wire format, which needs no package; its constant b holds ones
    def model(op, inputs, x, y, b=None, given=False):
        node = b"".join(blob(1, i) for i in inputs) + blob(2, "y") + blob(4, op)
        graph = blob(1, node) + blob(2, "g") + value(11, "x", x) + value(12, "y", y)
        if given:
            graph += value(11, "b", b)
        elif b:
            ones = np.ones(b, np.float32).tobytes()
            graph += blob(5, b"".join(number(1, d) for d in b) + number(2, 1) + blob(8, "b") + blob(9, ones))
        options = ort.SessionOptions()
        options.log_severity_level = 4
        body = number(1, 8) + blob(7, graph) + blob(8, blob(1, "") + number(2, 12))
        return ort.InferenceSession(body, options, providers=["CPUExecutionProvider"])

    rows, ones = (ROWS, n), np.ones((n, COLUMNS), np.float32)
    constant = model("MatMul", "xb", rows, (ROWS, COLUMNS), (n, COLUMNS))
    free = model("MatMul", "xb", rows, (ROWS, COLUMNS), (n, COLUMNS), True)
    vector = model("MatMul", "xb", (1, n), (1, COLUMNS), (n, COLUMNS))
    conv = model("Conv", "xb", (1, n, 8, 8), (1, COLUMNS, 8, 8), (COLUMNS, n, 1, 1))
    sums = [
        (f"MatMul, {ROWS}x{n} by a constant {n}x{COLUMNS}", lambda x: constant.run(None, {"x": np.tile(x, (ROWS, 1))})),
        (f"MatMul, {ROWS}x{n} by an input {n}x{COLUMNS}",
         lambda x: free.run(None, {"x": np.tile(x, (ROWS, 1)), "b": ones})),
        (f"MatMul, a row by a constant {n}x{COLUMNS}", lambda x: vector.run(None, {"x": x.reshape(1, n)})),
        (f"Conv 1x1, {n} channels, 8x8", lambda x: conv.run(None, {"x": np.tile(x.reshape(1, n, 1, 1), (1, 1, 8, 8))})),
    ]
    wrap = lambda f: lambda _, data: np.ravel(f(np.frombuffer(data).astype(np.float32))[0]).tolist()
    return f"onnxruntime {ort.__version__}", [("float32", what, wrap(f)) for what, f in sums]


def main():
    name, n = sys.argv[1], int(sys.argv[2])
    title, sums = {"numpy": of_numpy, "torch": of_torch, "onnxruntime": of_onnxruntime}[name](n)
    out = sys.stdout.buffer
    text = "".join([title + "\n"] + ["%s\t%s\n" % (kind, what) for kind, what, _ in sums] + ["\n"])
    out.write(text.encode())
    out.flush()
    while True:
        request = sys.stdin.buffer.read(4 + 8 * n)
        if len(request) < 4 + 8 * n:
            return
        kind, _, run = sums[struct.unpack("I", request[:4])[0]]
        got = run(kind, request[4:])
        out.write(struct.pack("2d", got[0], next((x for x in got if x != got[0]), got[0])))
        out.flush()


if __name__ == "__main__":
    main()
