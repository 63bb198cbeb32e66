#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate's batch axes: models whose inputs or outputs have the batch on another axis than the first, several elements
# of it for each input, or none at all. Values are small whole numbers, so that float32 is exact and what each row must
# be is computed here.
import json, math, os, re, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())


def drawn(n, seed=1):
    """Small whole numbers, no two rows of which are alike."""
    return [float((i * i * 7 + i * 5 + seed * 3) % 23 - 11) for i in range(n)]


def check(text, model, data, want, *words, alone=False, **axes):
    """The model's outputs on the data must be WANT, a shape and values each, and the axes as named."""
    got = tap.halfulp('validate', model, '--data', data, '--policy', 'bf16', '--outputs', 'out', '--json', *words)
    if not tap.ok(got.returncode == 0, text + ': it runs', got.stderr):
        return
    told, out = json.loads(got.stdout), outputs('out/float32.npz')
    wrong = [(k, out[k], want[k]) for k in want if out[k] != (tuple(want[k][0]), tuple(want[k][1]))]
    tap.none(wrong, text + ': every row is its own input')
    tap.ok(bool(told['one_by_one']) == alone and (told['batch'] == 1) == alone, text + ': together or alone', told)
    tap.ok(
        all(told['batch_axes'][k] == v for k, v in axes.items())
        and told['exact']['inputs'] > 0
        and told['exact']['max_error'] == 0,
        text + ': axes %s, and float32 is the exact network' % axes,
        told,
    )


def refused(text, pattern, code, *words):
    got = tap.halfulp('validate', *words, '--policy', 'bf16')
    tap.ok(
        got.returncode == code and got.stderr.count('\n') == 1 and pattern in got.stderr and not got.stdout,
        text + ' is refused in one line',
        got.stderr + got.stdout,
    )


N, T, C = 7, 3, 2
x = drawn(N * T * C)
at = lambda n, t, c: x[(n * T + t) * C + c]
rows = lambda f: [v for n in range(N) for v in f(n)]
npz('x.npz', x=([N, T, C], x))

# Time first: y[t, n, c] = 2 x[n, t, c]
for name, dims in ('all open', ['d0', 'd1', 'd2']), ('named', ['n', T, C]):
    write(
        'm.onnx',
        graph(
            [node('Transpose', 'x', 'p', perm=[1, 0, 2]), node('Add', 'p p', 'y')],
            [],
            [value('x', dims)],
            [value('y', [T, 'n', C] if name == 'named' else None)],
        ),
    )
    want = rows(lambda n: [2 * at(n, t, c) for t in range(T) for c in range(C)])
    check('time first, ' + name, 'm.onnx', 'x.npz', {'y': ([N, T, C], want)}, x=0, y=1)
out = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'bf16').stdout
tap.ok("The inputs of a batch lie along axis 0 of 'x' and axis 1 of 'y'.\n" in out, 'the axes are said', out)
refused('another axis of an output', "output 'y'", 2, 'm.onnx', '--data', 'x.npz', '--batch-axis', 'y=0',
        '--batch', '4')
refused('an axis that the model has not', "'y' with such an axis", 2, 'm.onnx', '--data', 'x.npz',
        '--batch-axis', 'y=3')
refused('an output that the model has not', "'z' with such an axis", 2, 'm.onnx', '--data', 'x.npz',
        '--batch-axis', 'z=0')
for bad in 'y', 'y=', '=1', 'y=-1', 'y=1.5', 'y=8':
    refused('--batch-axis ' + bad, '--batch-axis', 2, 'm.onnx', '--data', 'x.npz', '--batch-axis', bad)

# An input with time first too, of which each step depends on the steps before: inputs of a batch lie along axis 1,
# which no name says where the file's are those that torch.onnx gives
for dims in [T, 'n', C], ['x_dynamic_axes_1', 'x_dynamic_axes_2', C], ['time', 'batch', C]:
    write(
        'm.onnx',
        graph([node('CumSum', 'x k', 'y')], [ints('k', [], [0])], [value('x', dims)], [value('y', ['a', 'b', C])]),
    )
    want = rows(lambda n: [sum(at(n, s, c) for s in range(t + 1)) for t in range(T) for c in range(C)])
    check('a recurrence, %s' % dims, 'm.onnx', 'x.npz', {'y': ([N, T, C], want)}, x=1, y=1)
# As many inputs as steps and channels: sizes say nothing
npz('three.npz', x=([3, 3, 3], drawn(27, 2)))
x3 = drawn(27, 2)
write('m.onnx', graph([node('CumSum', 'x k', 'p'), node('Transpose', 'p', 'y', perm=[0, 2, 1])], [ints('k', [], [0])],
                      [value('x', ['a', 'b', 'c'])], [value('y', ['d', 'e', 'f'])]))
want = [sum(x3[n * 9 + s * 3 + c] for s in range(t + 1)) for n in range(3) for t in range(3) for c in range(3)]
check('sizes that are all alike', 'm.onnx', 'three.npz', {'y': ([3, 3, 3], want)}, x=1, y=2)

# A state of layers beside the input, and the sum over layers; rows of it as layers x hidden, and as a whole
L, H = 3, 2
h = drawn(N * L * H, 4)
xs = drawn(N * H, 5)
write(
    's.onnx',
    graph(
        [node('ReduceSum', 'h k', 's', keepdims=0), node('Add', 's x', 'y'), node('Mul', 'h h', 'z')],
        [ints('k', [1], [0])],
        [value('x', ['batch', H]), value('h', [L, 'batch', H])],
        [value('y', ['batch', H]), value('z', [L, 'batch', H])],
    ),
)
y = rows(lambda n: [sum(h[(n * L + l) * H + k] for l in range(L)) + xs[n * H + k] for k in range(H)])
npz('rows.npz', x=([N, H], xs), h=([N, L, H], h))
npz('whole.npz', x=([N, 1, H], xs), h=([N, L, 1, H], h))
check('a state', 's.onnx', 'rows.npz', {'y': ([N, H], y), 'z': ([N, L, H], [v * v for v in h])}, x=0, h=1, y=0, z=1)
got = tap.halfulp('validate', 's.onnx', '--data', 'whole.npz', '--policy', 'bf16', '--outputs', 'whole')
out = outputs('whole/float32.npz')
tap.ok(
    got.returncode == 0 and out == {'y': ((N, 1, H), tuple(y)), 'z': ((N, L, 1, H), tuple(v * v for v in h))},
    'a row may be all that the model takes',
    got.stderr,
)

# k rows for each input, and as many in the output
K = 4
xk = drawn(N * K * C, 6)
for dims, shape in (['4*batch', C], [N * K, C]), (['batch*4', C], [N, K, C]):
    npz('k.npz', x=(shape, xk), w=([N, C], drawn(N * C, 7)))
    write('m.onnx', graph([node('Add', 'x x', 'y'), node('Mul', 'w w', 'z')], [], [value('x', dims), value('w',
            ['batch', C])],
                          [value('y', dims), value('z', ['batch', C])]))
    check('%s, an array of %s' % (dims, shape), 'm.onnx', 'k.npz',
          {'y': ([N, K, C], [2 * v for v in xk]), 'z': ([N, C], [v * v for v in drawn(N * C, 7)])}, x=0, y=0)

# An input's outputs depend on the batch: one by one, or refused where a batch is asked for
write('m.onnx', graph([node('ReduceSum', 'x k', 's', keepdims=1), node('Add', 'x s', 'y')], [ints('k', [1], [0])],
                      [value('x', ['n', T, C])], [value('y', ['n', T, C])]))
check('a sum over the batch', 'm.onnx', 'x.npz', 
      {'y': ([N, T, C], [2 * v for v in x])}, alone=True)
refused('a batch of it', 'give --batch 1', 2, 'm.onnx', '--data', 'x.npz', '--batch', '4')
# What fails whatever the batch is
write('m.onnx', graph([node('Unheard', 'x', 'y')], [], [value('x', ['n', T, C])], [value('y', ['n', T, C])]))
says = 'validate: m.onnx: operators that are not known: Unheard'
refused('an unknown operator', says, 4, 'm.onnx', '--data', 'x.npz', '--batch', '4')
# A Reshape that takes one input alone
write('m.onnx', graph([node('Reshape', 'x k', 'y')], [ints('k', [2], [1, T * C])], [value('x', ['n', T, C])],
                      [value('y', [1, T * C])]))
check('a shape for one input', 'm.onnx', 'x.npz', {'y': ([N, T * C], x)}, alone=True)
refused('a batch of it', 'give --batch 1', 2, 'm.onnx', '--data', 'x.npz', '--batch', '4')

# A model whose batch is fixed: the outputs' axis is where rotated inputs have rotated outputs
write('m.onnx', graph([node('Transpose', 'x', 'p', perm=[1, 0, 2]), node('Add', 'p p', 'y')], [], [value('x',
        [3, 3, 3])],
                      [value('y', [3, 3, 3])]))
npz('five.npz', x=([5, 3, 3], drawn(45, 8)))
x5 = drawn(45, 8)
got = tap.halfulp('validate', 'm.onnx', '--data', 'five.npz', '--policy', 'bf16', '--outputs', 'fixed', '--json')
tap.ok(
    got.returncode == 0
    and outputs('fixed/float32.npz')['y'] == ((5, 3, 3), tuple(2 * v for v in x5))
    and json.loads(got.stdout)['batch_axes'] == {'x': 0, 'y': 1},
    'a fixed batch of three, five inputs, the batch last but one in the output',
    got.stderr + got.stdout,
)
write('m.onnx', graph([node('ReduceSum', 'x k', 's', keepdims=1), node('Add', 'x s', 'y')], [ints('k', [1], [0])],
                      [value('x', [3, 2, 4])], [value('y', [3, 2, 4])]))
npz('five.npz', x=([5, 2, 4], drawn(40, 8)))
refused('a fixed batch whose inputs depend on each other', 'each depends on the others', 3, 'm.onnx', '--data',
        'five.npz')
# whole batches have no inputs that fill up, so that each batch is what the model's own runtime computes
x6 = drawn(48, 8)
npz('six.npz', x=([6, 2, 4], x6))
got = tap.halfulp('validate', 'm.onnx', '--data', 'six.npz', '--policy', 'bf16', '--outputs', 'whole', '--json')
sums = [[sum(x6[24 * b + 8 * i + e] for i in range(3)) for e in range(8)] for b in range(2)]
want = tuple(v + sums[k // 24][k % 8] for k, v in enumerate(x6))
tap.ok(
    got.returncode == 0
    and outputs('whole/float32.npz')['y'] == ((6, 2, 4), want)
    and json.loads(got.stdout)['batch_axes'] == {'x': 0, 'y': 0},
    'two whole batches of it are judged as they are',
    got.stderr + got.stdout,
)

# A file in float16, whose outputs in float32 are others than as typed: that is no fault of its rows
half = struct.pack('<3e', 0.1, 0.3, 2.3)
write(
    'half.onnx',
    graph([node('Mul', 'x k', 'p'), node('Mul', 'p p', 'q'), node('Cast', 'q', 'y', to=FLOAT)],
          [tensor('k', FLOAT16, [3], half)], [value('x', ['n', 3], FLOAT16)], [value('y', ['n', 3])]),
)
npz('half.npz', x=([4, 3], [1, 2, 3, 0.125, 5, 7, 1.5, 2.5, 9, 11, 13, 17]))
got = tap.halfulp('validate', 'half.onnx', '--data', 'half.npz', '--policy', 'bf16')
good = got.returncode == 0 and 'The exact network, on 4 inputs' in got.stdout
tap.ok(good, 'a file in float16 is judged', got.stderr)
# An axis that rows do not fit is refused, whatever is said of it
write('m.onnx', graph([node('Add', 'x x', 'y')], [], [value('x', ['a', 'b', 'c'])], [value('y', ['a', 'b', 'c'])]))
npz('whole.npz', x=([N, 2, T, C], drawn(N * 2 * T * C)))
refused('rows that are no whole inputs', 'elements in a row', 3, 'm.onnx', '--data', 'x.npz', '--batch-axis', 'x=none')
for axis in range(3):
    words = 'm.onnx', '--data', 'whole.npz', '--batch-axis', 'x=%d' % axis
    refused('whole inputs along axis %d' % axis, 'elements in a row', 3, *words)

# float32 is in every table once
got = tap.halfulp('validate', 's.onnx', '--data', 'rows.npz', '--policy', 'float32,bf16,float32', '--json')
names = [r['policy'] for r in json.loads(got.stdout)['policies']] if got.returncode == 0 else got.stderr
tap.ok(names == ['float32', 'bf16'], 'float32 has one row', names)

# An array that the model takes whole beside another one's rows, and a number: the same for all inputs
TABLE = drawn(C * 2, 9)
xt = drawn(N * C, 10)
product = [sum(xt[n * C + c] * TABLE[c * 2 + k] for c in range(C)) for n in range(N) for k in range(2)]


def shared(text, dims, names, data, *words):
    write('t.onnx', graph([node('MatMul', 'x t', 'p'), node('Mul', 'p s', 'y')], [],
                          [value('x', ['n', C]), value('t', dims), value('s', [])], [value('y', ['n', 2])]))
    npz('t.npz', x=([N, C], xt), **data)
    check(text, 't.onnx', 't.npz', {'y': ([N, 2], [3 * v for v in product])}, *words, x=0, t=None, s=None, y=0)
    got = tap.halfulp('validate', 't.onnx', '--data', 't.npz', '--policy', 'bf16', *words)
    said = re.findall("Input '(.)' is one array, the same for all inputs of the data", got.stdout)
    told = json.loads(tap.halfulp('validate', 't.onnx', '--data', 't.npz', '--policy', 'bf16', '--json', *words).stdout)
    tap.ok(said == names and told['shared_inputs'] == names, text + ': it is said which', got.stdout)


shared('a table and a number', [C, 2], ['t', 's'], dict(t=([C, 2], TABLE), s=([], [3.0])))
shared(
    'a table of open sizes', ['c', 'k'], ['t', 's'], dict(t=([C, 2], TABLE), s=([], [3.0])), '--batch-axis', 't=none'
)
npz('t.npz', x=([N, C], xt), t=([C, 2], TABLE), s=([], [3.0]))
refused('a table of open sizes of which nothing is said', 'each row, along', 3, 't.onnx', '--data', 't.npz')
# A table of as many rows as there are inputs is one array all the same where the inputs' number is open
write('m.onnx', graph([node('MatMul', 'x t', 'y')], [], [value('x', ['n', C]), value('t', [C, 2])],
                      [value('y', ['n', 2])]))
npz('as-many.npz', x=([C, C], drawn(C * C, 13)), t=([C, 2], TABLE))
xm = drawn(C * C, 13)
want = [sum(xm[n * C + k] * TABLE[2 * k + j] for k in range(C)) for n in range(C) for j in range(2)]
check('a table of as many rows as inputs', 'm.onnx', 'as-many.npz', {'y': ([C, 2], want)}, x=0, y=0)
got = tap.halfulp('validate', 'm.onnx', '--data', 'as-many.npz', '--policy', 'bf16')
tap.ok('per row, say --batch-axis t=0.' in got.stdout, 'and it says how its rows are meant', got.stdout)
write('m.onnx', graph([node('Mul', 'x t', 'y')], [], [value('x', ['n', C]), value('t', [C])], [value('y', ['n', C])]))
npz('as-many.npz', x=([C, C], xm), t=([C], TABLE[:C]))
want = [xm[n * C + k] * TABLE[k] for n in range(C) for k in range(C)]
check('a vector of as many numbers as inputs', 'm.onnx', 'as-many.npz', {'y': ([C, C], want)}, x=0, y=0)
# A batch that the model fixes beside an open size, as of a cache: every array has rows
write('m.onnx', graph([node('Concat', 'h x', 'y', axis=1)], [], [value('h', [2, 'past', C]), value('x', [2, 1, C])],
                      [value('y', [2, 4, C])]))
npz('past.npz', h=([2, 3, C], drawn(6 * C, 11)), x=([2, 1, C], drawn(2 * C, 12)))
past, new = drawn(6 * C, 11), drawn(2 * C, 12)
want = [v for n in range(2) for v in past[n * 3 * C:(n + 1) * 3 * C] + new[n * C:(n + 1) * C]]
got = tap.halfulp('validate', 'm.onnx', '--data', 'past.npz', '--policy', 'bf16', '--outputs', 'past', '--json')
tap.ok(
    got.returncode == 0
    and outputs('past/float32.npz')['y'] == ((2, 4, C), tuple(want))
    and json.loads(got.stdout)['shared_inputs'] == [],
    'a fixed batch beside an open size',
    got.stderr + got.stdout,
)
# The array is cut along a size that the model fixes, although its batch is open
write('m.onnx', graph([node('MatMul', 'w x', 'y')], [floats('w', [2, 3], drawn(6))], [value('x', [3, 'n'])],
                      [value('y', [2, 'n'])]))
npz('last.npz', x=([N, 3], drawn(N * 3)))
npz('first.npz', x=([3, N], drawn(N * 3)))
got = tap.halfulp('validate', 'm.onnx', '--data', 'last.npz', '--policy', 'bf16')
tap.ok(
    got.returncode == 0 and "axis 1 of 'x' and axis 1 of 'y'.\nEach row of an array" in got.stdout,
    'rows are said',
    got,
)
refused('an array as the model takes it', "the open axis 1 of input 'x', give an array with one", 3, 'm.onnx', '--data',
        'first.npz')

# What an array lacks is said
npz('none.npz', x=([0, H], []), h=([0, L, H], []))
refused('an array without rows', 'no rows', 3, 's.onnx', '--data', 'none.npz')
tap.finish()
