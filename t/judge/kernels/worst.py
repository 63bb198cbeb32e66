# SPDX-License-Identifier: Apache-2.0
# Kernels whose roundings of a coarse format have signs that are chosen, one after another, so that an element errs as
# much as it can, on operands that are changed so that it comes as near to its radius as it can.
import math
import random
import struct

from npzfile import npy
from tap import halfulp

draw = random.Random(2026)
U = 2.0**-8  # of bf16
FACTS = 'compute=bf16 acc=bf16 exp=2^-8 fn=2^-7 tiny=0 out=fp64 '
EXP, FN = 2.0**-8, 2.0**-7
LOG2E = math.log2(math.e)


class Worst:
    """Operations that err as much as they may, each with the next of the signs."""

    def __init__(self, signs):
        self.signs, self.used = signs, 0

    def sign(self):
        self.used += 1
        if self.used > len(self.signs):
            self.signs.append(1)
        return self.signs[self.used - 1]

    def r(self, x, times=1):
        """Rounded to nearest: the relative error is u / (1 + u) at most."""
        for _ in range(times):
            x *= 1 + self.sign() * U / (1 + U)
        return x

    def off(self, x, e):
        return x + self.sign() * e

    def exp(self, x):
        x = self.r(x * LOG2E) * (1 + self.sign() * U / LOG2E / (1 + U))
        y = 2.0**x
        return self.off(y, EXP * y)

    def fn(self, y):
        return self.off(y, FN * abs(y))

    def sum(self, terms):
        total = terms[0]
        for x in terms[1:]:
            total = self.r(total + x)
        return total

    def dot(self, a, b):
        return self.sum([self.r(x * y) for x, y in zip(a, b)])


def radii(row, facts, result, operands, n, name=''):
    """The radii of the n elements of a result, or of that of a name, whose shape is `result`, of row (kernel, call,
    shapes, scale). An operand whose name ends with + has no negative numbers."""
    _, call, shapes, _ = row
    words, at = [], 0
    for key, shape in shapes:
        size = math.prod(shape)
        values = operands[at : at + size]
        if key.endswith('+'):
            key, values = key[:-1], [abs(v) for v in values]
        with open(key + '.npy', 'wb') as f:
            f.write(npy(shape, values, '<f8'))
        words += ['--in', '%s=%s.npy' % (key, key)]
        at += size
    with open('got.npy', 'wb') as f:
        f.write(npy(result or (1, n), [0.0] * n, '<f8'))
    done = halfulp('judge', call, *words, '--got', name + 'got.npy', '--bound', 'bound.npy', '--no-culprit', '--set',
                   FACTS + facts)
    if done.returncode not in (0, 1):
        raise RuntimeError(call + ': ' + done.stderr)
    with open('bound.npy', 'rb') as f:
        return struct.unpack('<%dd' % n, f.read()[-8 * n:])


class Exact(Worst):
    def r(self, x, times=1):
        return x

    def off(self, x, e):
        return x

    def exp(self, x):
        return math.exp(x)


def errors(kernel, x, exact, k):
    """The largest error of element k that signs of roundings give, found one sign after another, from both ends."""
    best = 0
    for way in (1, -1):
        signs = []
        kernel(Worst(signs), x)
        at = way * (kernel(Worst(signs), x)[k] - exact[k])
        for _ in range(3):
            moved = False
            for i in range(len(signs)):
                signs[i] = -signs[i]
                now = way * (kernel(Worst(signs), x)[k] - exact[k])
                if now > at:
                    at, moved = now, True
                else:
                    signs[i] = -signs[i]
            if not moved:
                break
        best = max(best, at)
    return best


def nearest(row, tries, facts='', result=None, name=''):
    """The largest share of its radius that an element's error comes to, and for which operands."""
    kernel, _, shapes, scale = row
    size = sum(math.prod(shape) for _, shape in shapes)
    best, where = -1, None
    for t in range(tries):
        if t < tries // 2 or not where:
            x = [draw.gauss(0, scale) for _ in range(size)]
        else:
            x = list(where)
            for i in draw.sample(range(size), max(1, size // 4)):
                x[i] = draw.choice([0.0, -x[i], 2 * x[i], x[i] / 2, x[i] + draw.gauss(0, scale / 4), x[i - 1]])
        try:
            exact = kernel(Exact([]), x)
        except ValueError:
            continue
        bound = radii(row, facts, result, x, len(exact), name)
        for k in range(len(exact)):
            if 0 < bound[k] < math.inf:
                ratio = errors(kernel, x, exact, k) / bound[k]
                if ratio > best:
                    best, where = ratio, x
    return best, where
