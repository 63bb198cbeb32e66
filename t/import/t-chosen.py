#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Models that choose by what they compute, input by input: branches of an If, steps of a Loop, places of scatters; and
# values without elements, such as a past of length 0. Values are small whole numbers, and each output is computed here.
import json, os, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
N, C = 6, 5
x = [float((i * i * 7 + i * 3) % 19 - 9) for i in range(N * C)]
row = [x[i * C : i * C + C] for i in range(N)]
flat = lambda rows: tuple(float(v) for r in rows for v in r)


def check(text, model, data, shape, want, alone=None):
    got = tap.halfulp('validate', model, '--data', data, '--policy', 'bf16', '--outputs', 'out', '--json')
    y = outputs('out/float32.npz')['y'] if got.returncode == 0 else None
    tap.ok(y == (tuple(shape), tuple(want)), text, [got.stderr, str(y), str(want)])
    if alone and got.returncode == 0:
        told = json.loads(got.stdout)
        tap.ok(told['batch'] == 1 and alone in told['one_by_one'], text + ': one by one', told['one_by_one'])


def refused(text, pattern, model, data, code=4):
    got = tap.halfulp('validate', model, '--data', data, '--policy', 'bf16')
    tap.ok(got.returncode == code and got.stderr.count('\n') == 1 and pattern in got.stderr, text, got.stderr)


X, Y = [value('x', ['n', C])], [value('y')]
condition = [node('ReduceSum', 'x axes', 's', keepdims=0), node('Greater', 's zero', 'c')]
tensors = [ints('axes', [2], [0, 1]), floats('zero', [], [0]), floats('two', [1], [2])]
npz('x.npz', x=([N, C], x))
branch = lambda op, out: graph([node(op, 'x two', out)], [], [], [value(out)])
choice = node('If', 'c', 'y', then_branch=branch('Mul', 'a'), else_branch=branch('Sub', 'b'))
write('if.onnx', graph([*condition, choice], tensors, X, Y))
want = [[2 * v for v in r] if sum(r) > 0 else [v - 2 for v in r] for r in row]
tap.ok(len({sum(r) > 0 for r in row}) == 2, 'rows take both branches')
check('an If', 'if.onnx', 'x.npz', [N, C], flat(want), "'y' (If) chooses")
ends = [ints('axis0', [1], [0]), ints('axis1', [1], [1])]
short = graph([node('Slice', 'x axis0 axis1 axis1', 'b')], ends, [], [value('b')])
write('if.onnx', graph(condition + [node('If', 'c', 'y', then_branch=branch('Mul', 'a'), else_branch=short)],
                       tensors, X, Y))
ran = tap.halfulp('validate', 'if.onnx', '--data', 'x.npz', '--policy', 'bf16')
tap.ok(ran.returncode == 0 and "shapes or choices follow from 1 value: 'c'" in ran.stdout,
       'branches of several shapes run input by input', [ran.stdout, ran.stderr])

# A Loop that doubles while the sum of absolute values is below 100, at most 5 times
body = graph(
    [node('Mul', 'v two', 'w'), node('Abs', 'w', 'a'), node('ReduceSum', 'a axes', 's', keepdims=0),
     node('Less', 's top', 'more')],
    [floats('top', [], [100])],
    [value('step', [], INT64), value('go', [], BOOL), value('v', ['n', C])],
    [value('more', [], BOOL), value('w', ['n', C])],
)
for name, go in (('always begun', 'yes'), ('perhaps not begun', 'c')):
    nodes = [*condition, node('Loop', 'most %s x' % go, 'y', body=body)]
    begun = [ints('most', [], [5]), tensor('yes', BOOL, [], b'\1')]
    write('loop.onnx', graph(nodes, tensors + begun, X, Y))
    want, steps = [], set()
    for r in row:
        k, going = 0, go == 'yes' or sum(r) > 0
        while going and k < 5:
            r, k = [2 * v for v in r], k + 1
            going = sum(map(abs, r)) < 100
        want.append(r)
        steps.add(k)
    tap.ok(len(steps) > 1, 'rows take %s steps' % sorted(steps))
    check('a Loop, ' + name, 'loop.onnx', 'x.npz', [N, C], flat(want), '(Loop) chooses')

# Scatters by indices that are data
at = [(i * 3 + i // 3) % C - (C if i % 4 == 0 else 0) for i in range(N * 3)]
up = [float(i - 7) for i in range(N * 3)]
npz('s.npz', x=([N, C], x), i=([N, 3], at, '<i8'), u=([N, 3], up))
for how in 'none', 'add', 'mul', 'max', 'min':
    write('s.onnx', graph([node('ScatterElements', 'x i u', 'y', axis=1, reduction=how)], [],
                          [value('x', ['n', C]), value('i', ['n', 3], INT64), value('u', ['n', 3])], Y), opset=18)
    join = {'none': lambda a, b: b, 'add': lambda a, b: a + b, 'mul': lambda a, b: a * b, 'max': max, 'min': min}[how]
    want = [list(r) for r in row]
    for k, (i, u) in enumerate(zip(at, up)):
        want[k // 3][i % C] = join(want[k // 3][i % C], u)
    check('ScatterElements, ' + how, 's.onnx', 's.npz', [N, C], flat(want))
    # ScatterND: rows of a value of 2 x 3 rows of two elements, by two indices each
    D = 2
    v = [float((i * 5) % 17 - 8) for i in range(N * 2 * 3 * D)]
    second = lambda i: (i * 5 + i // 3) % 3 - (3 if i % 3 == 0 else 0)
    nd = [second(i) if i % 2 else (i * 7 + i // 5) % 2 for i in range(N * 4 * 2)]
    un = [float(i % 11 - 5) for i in range(N * 4 * D)]
    npz('n.npz', v=([N, 1, 2, 3, D], v), i=([N, 1, 4, 2], nd, '<i8'), u=([N, 1, 4, D], un))
    write('n.onnx', graph([node('Squeeze', 'v axes', 'p'), node('Squeeze', 'i axes', 'q'),
                           node('Squeeze', 'u axes', 'r'),
                           node('ScatterND', 'p q r', 'o', reduction=how), node('Unsqueeze', 'o axes', 'y')],
                          [ints('axes', [1], [0])],
                          [value('v', [1, 2, 3, D]), value('i', [1, 4, 2], INT64), value('u', [1, 4, D])], Y), opset=18)
    want = list(v)
    for k in range(N * 4):
        n, (a, b) = k // 4, nd[2 * k : 2 * k + 2]
        for d in range(D):
            e = ((n * 2 + a % 2) * 3 + b % 3) * D + d
            want[e] = join(want[e], un[k * D + d])
    check('ScatterND, ' + how, 'n.onnx', 'n.npz', [N, 1, 2, 3, D], want)

# No elements: a past of length 0, a product of no terms, elementwise operators and a Transpose between
npz('past.npz', x=([N, C], x), past=([N, 0, C], []))
nodes = [
    node('Mul', 'past two', 'a'), node('Relu', 'a', 'b'), node('Transpose', 'b', 't', perm=[0, 2, 1]),
    node('Unsqueeze', 'x one', 'z'), node('Concat', 'b z', 'k', axis=1), node('MatMul', 't b', 'm'),
    node('ReduceSum', 'm both', 'w', keepdims=0), node('ReduceSum', 'k one', 'v', keepdims=0),
    node('Unsqueeze', 'w one', 'o'), node('Add', 'v o', 'y'),
]
write('past.onnx', graph(nodes, [floats('two', [1], [2]), ints('one', [1], [1]), ints('both', [2], [1, 2])],
                         [value('x', ['n', C]), value('past', ['n', 'length', C])], Y))
check('a past of length 0', 'past.onnx', 'past.npz', [N, C], x)
past = [float(i % 7 - 3) for i in range(N * 2 * C)]
npz('past.npz', x=([N, C], x), past=([N, 2, C], past))
b = [[[max(2 * past[(n * 2 + t) * C + c], 0) for c in range(C)] for t in range(2)] for n in range(N)]
want = [[row[n][c] + b[n][0][c] + b[n][1][c] + sum(sum(r) ** 2 for r in b[n]) for c in range(C)] for n in range(N)]
check('a past of length 2', 'past.onnx', 'past.npz', [N, C], flat(want))

# --list names the nodes that need constants and do not get them, which are those whose model runs input by input
whole = node('Cast', 'x', 'w', to=INT64)
one = [ints('zero', [1], [0]), ints('one', [1], [1]), ints('both', [2], [-1, C])]
flat_ = node('Flatten', 'w', 'f', axis=0)
first = [whole, flat_, node('Gather', 'f zero', 'g', axis=1), node('Squeeze', 'g zero', 'k')]
for text, nodes, runs in (
    ('NonZero', [node('NonZero', 'x', 'y')], False),
    ('Acos', [node('Acos', 'x', 'y')], False),
    ('Sin', [node('Sin', 'x', 'y')], True),
    ('Slice', [*first, node('Slice', 'x zero k one', 'y')], False),
    ('TopK', [*first, node('TopK', 'x k', 'y i')], False),
    ('Tile', [*first, node('Concat', 'k one', 'r', axis=0), node('Tile', 'x r', 'y')], False),
    ('Reshape', [node('Shape', 'x', 's'), node('Reshape', 'x s', 'y')], True),
    ('Reshape', [node('Reshape', 'x both', 'y')], True),
    ('Slice', [node('Shape', 'x', 's'), node('Slice', 's zero one', 'k'), node('Slice', 'x zero k zero', 'y')], True),
    ('If', [node('ReduceSum', 'x both01', 's', keepdims=0), node('Cast', 's', 'c', to=BOOL),
            node('If', 'c', 'y', then_branch=branch('Mul', 'a'), else_branch=branch('Sub', 'b'))], True),
):
    constants = one + [floats('two', [1], [2]), ints('both01', [2], [0, 1])]
    write('l.onnx', graph(nodes, constants, X, Y))
    got = tap.halfulp('validate', 'l.onnx', '--list', '--json')
    named = [n['operator'] for n in json.loads(got.stdout)['need_constants']] if got.returncode == 0 else got.stderr
    ran = tap.halfulp('validate', 'l.onnx', '--data', 'x.npz', '--policy', 'bf16', '--exact', '0')
    told = 'so that each input runs by itself' in tap.halfulp('validate', 'l.onnx', '--list').stdout
    refused = text in ('TopK', 'Tile') and not runs  # the inputs ask for fewer than none
    each = 'shapes or choices follow from' in ran.stdout
    good = 'and with a program for each input' in ran.stderr if refused else ran.returncode == 0 and each != runs
    tap.ok(good and named == [text] * (not runs) and told != runs,
           '%s %s' % (text, 'runs' if runs else 'runs input by input'),
           [named, ran.stderr, told])
tap.finish()
