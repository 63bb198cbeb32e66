# SPDX-License-Identifier: Apache-2.0
# Cases of t-nodes.py: arrays, and what a node of one operator is to make of them, in doubles.
import itertools
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
from npzfile import *  # noqa: E402,F401,F403
from onnxfile import *  # noqa: E402,F401,F403

random.seed(17)
cases = []


class Array:
    """A shape and its elements; a[i, j] is one of them, and None outside."""

    def __init__(self, shape, values):
        self.shape, self.v = list(shape), list(values)
        assert len(self.v) == math.prod(self.shape)

    def __getitem__(self, index):
        at = 0
        for i, n in zip(index if isinstance(index, tuple) else (index,), self.shape):
            if not 0 <= i < n:
                return None
            at = at * n + i
        return self.v[at]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def drawn(*shape, low=-2.0, high=2.0):
    return Array(shape, [f32(random.uniform(low, high)) for _ in range(math.prod(shape))])


def whole(*shape, low=0, high=5):
    return Array(shape, [random.randint(low, high) for _ in range(math.prod(shape))])


def given(*shape_and_values):
    *shape, values = shape_and_values
    return Array(shape, values)


def made(shape, f):
    return Array(shape, [f(*i) for i in itertools.product(*map(range, shape))])


def case(name, op, inputs, expected, constants=(), nodes=None, out="y", **attributes):
    """inputs: {name: Array}; constants: those of them that the model holds. nodes: instead of one node op over all
    inputs."""
    nodes = nodes or [(op, " ".join(inputs), out, attributes)]
    wants = dict(zip(out.split(), expected if isinstance(expected, (list, tuple)) else [expected]))
    cases.append((name, nodes, inputs, set(constants), wants))


def is_whole(a):
    return all(isinstance(v, int) for v in a.v)


def unary(op, f, low=-3.0, high=3.0, **attributes):
    x = drawn(2, 3, 4, low=low, high=high)
    case(op, op, {"x": x}, Array(x.shape, map(f, x.v)), **attributes)


def lift(a, shape):
    """a broadcast to shape."""
    skip = len(shape) - len(a.shape)
    return made(shape, lambda *i: a[tuple(0 if n == 1 else k for k, n in zip(i[skip:], a.shape))])


def binary(op, f, low=-2.0, high=2.0, a=(2, 3, 4), b=(3, 1)):
    x, y = drawn(*a, low=low, high=high), drawn(*b, low=low, high=high)
    shape = list(a) if len(a) >= len(b) else list(b)
    shape = [
        max(p, q) for p, q in zip(([1] * (len(shape) - len(a))) + list(a), ([1] * (len(shape) - len(b))) + list(b))
    ]
    p, q = lift(x, shape), lift(y, shape)
    case(op + "".join("_%d" % n for n in b), op, {"x": x, "z": y}, Array(shape, map(f, p.v, q.v)))
