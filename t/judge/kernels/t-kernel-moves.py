#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# transpose, take and topk in a graph's text: each element of the exact result is the one that Python moves there, for
# every order of axes, every axis and every stretch of it; and how many the k largest may be.
import ast
import itertools
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
SHAPES = [(5,), (3, 4), (4, 3), (2, 3, 4), (4, 2, 3), (2, 3, 2, 4)]


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def indices(shape):
    return itertools.product(*(range(d) for d in shape))


def flat(shape, index):
    at = 0
    for d, i in zip(shape, index):
        at = at * d + i
    return at


def read(path):
    raw = open(path, 'rb').read()
    n = struct.unpack('<H', raw[8:10])[0]
    head = ast.literal_eval(raw[10:10 + n].decode())
    code = {'<f8': 'd', '<f4': 'f'}[head['descr']]
    return head['shape'], list(struct.unpack('<%d%s' % (size(head['shape']), code), raw[10 + n:]))


def wrong(text, shape, to, moved):
    """What judge says wrongly of the result in which element i is element moved[i] of x; '' where nothing."""
    x = [float(k + 1) for k in range(size(shape))]
    npz('all.npz', x=(shape, x), y=(to, [x[k] for k in moved]))
    p = halfulp('judge', text, '--in', 'x=all.npz:x', '--got', 'all.npz:y', '--exact', 'e.npy')
    if p.returncode:
        return ['%s of %s: exit %d: %s' % (text, shape, p.returncode, p.stderr or p.stdout)]
    got = read('e.npy')
    return [] if got == (to, [x[k] for k in moved]) else ['%s of %s: %s' % (text, shape, got)]


bad, count = [], 0
for shape in SHAPES:
    rank = len(shape)
    plain = (*range(rank - 2), rank - 1, rank - 2) if rank > 1 else (0,)
    for perm in [None, *itertools.permutations(range(rank))]:
        order = perm or plain
        to = tuple(shape[a] for a in order)
        moved = [flat(shape, [i[order.index(a)] for a in range(rank)]) for i in indices(to)]
        key = ', perm=%s' % ''.join(map(str, perm)) if perm else ''
        bad += wrong('y = transpose(x%s)' % key, shape, to, moved)
        count += 1
none(bad, 'transpose: %d orders of axes' % count)
bad, count = [], 0
for shape in SHAPES[:4]:
    for axis in range(len(shape)):
        for first in range(shape[axis]):
            for n in range(1, shape[axis] - first + 1):
                to = (*shape[:axis], n, *shape[axis + 1:])
                moved = [flat(shape, [i[a] + (first if a == axis else 0) for a in range(len(shape))])
                         for i in indices(to)]
                bad += wrong('y = take(x, axis=%d, first=%d, count=%d)' % (axis, first, n), shape, to, moved)
                count += 1
none(bad, 'take: %d stretches' % count)
npz('x.npz', x=((2, 5), [3.0, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8]))
for key in ('first=0, count=0', 'first=0, count=6', 'first=3, count=3', 'first=5, count=1'):
    p = halfulp('judge', 'y = take(x, axis=1, %s)' % key, '--in', 'x=x.npz:x', '--got', 'x.npz:x')
    ok(p.returncode == 3 and 'of an axis of 5' in p.stderr, 'take: %s is refused' % key, p.stderr or p.stdout)
for k in (0, 1, 4, 5, 6):
    rows = [[4, 2, 0, 3, 1], [4, 1, 2, 3, 0]]
    npz('y.npz', y=((2, max(k, 1)), [float((row + [0])[j]) for row in rows for j in range(max(k, 1))]))
    p = halfulp('judge', 'y = topk(x, k=%d)' % k, '--in', 'x=x.npz:x', '--got', 'y.npz:y')
    if 0 < k <= 5:
        ok(p.returncode == 0, 'topk: the %d largest of 5 are chosen' % k, p.stderr or p.stdout)
    else:
        ok(p.returncode == 3 and 'k=%d of 5 elements' % k in p.stderr, 'topk: %d of 5 is refused' % k,
           p.stderr or p.stdout)
finish()
