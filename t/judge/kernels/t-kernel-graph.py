#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# One kernel as a model of ONNX and as a text: the same exact values and bounds; and what a graph's text may be.
import json
import math
import os
import struct
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
import onnxfile  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

folder = home()
os.chdir(folder)
x = [0.37 * i - 4.1 for i in range(24)]
w = [0.11 * i - 1.3 for i in range(30)]
y = [0.0] * 20


def f32(values):
    return [struct.unpack('<f', struct.pack('<f', v))[0] for v in values]


npz('in.npz', x=((4, 6), f32(x)))
npz('all.npz', x=((4, 6), f32(x)), w=((6, 5), f32(w)), y=((4, 5), y))
nodes = [onnxfile.node('MatMul', 'x w', 'a'), onnxfile.node('Sigmoid', 'a', 's'), onnxfile.node('Mul', 'a s', 'g'),
         onnxfile.node('Softmax', 'g', 'y')]
onnxfile.write('m.onnx', onnxfile.graph(nodes, [onnxfile.floats('w', [6, 5], f32(w))], [onnxfile.value('x', ['n', 6])],
                                        [onnxfile.value('y')]))
text = 'a = matmul(x, w); s = sigmoid(a); g = mul(a, s); y = softmax(g)'
of_model = halfulp('judge', 'm.onnx', '--data', 'in.npz', '--got', 'y=all.npz:y', '--set', 'out=bf16', '--exact',
                   'e1.npy', '--bound', 'b1.npy')
of_text = halfulp('judge', text, '--in', 'x=all.npz:x', '--in', 'w=all.npz:w', '--got', 'all.npz:y', '--set',
                  'out=bf16', '--exact', 'e2.npy', '--bound', 'b2.npy')
ok(of_model.returncode == 1 and of_text.returncode == 1, 'zeros are wrong in both', of_model.stderr + of_text.stderr)
ok('all elements are zero' in of_model.stdout, 'and are called zeros', of_model.stdout)
for name in 'eb':
    same = os.path.exists(name + '1.npy') and open(name + '1.npy', 'rb').read() == open(name + '2.npy', 'rb').read()
    ok(same, 'a model and a text have the same %s' % ('exact values' if name == 'e' else 'bounds'))
npz('more.npz', x=((4, 6), f32(x)), labels=((4,), [0.0, 1.0, 2.0, 3.0]))
npz('less.npz', z=((4, 6), f32(x)))
more = halfulp('judge', 'm.onnx', '--data', 'more.npz', '--got', 'y=all.npz:y', '--set', 'out=bf16')
ok(more.returncode == 1 and more.stdout.split('e1.npy')[0] == of_model.stdout.split('e1.npy')[0],
   'an array that no input is called after changes nothing', more.stdout + more.stderr)
less = halfulp('judge', 'm.onnx', '--data', 'less.npz', '--got', 'y=all.npz:y')
ok(less.returncode == 2 and "--data has no array 'x', which is an input of m.onnx" in less.stderr,
   'an input without an array is named', less.stderr)
onnxfile.write('u.onnx', onnxfile.graph([onnxfile.node('ArgMax', 'x', 'y', axis=1)], [],
                                        [onnxfile.value('x', ['n', 6])], [onnxfile.value('y')]))
none = halfulp('judge', 'u.onnx', '--data', 'in.npz', '--got', 'all.npz')
ok(none.returncode == 4 and 'operator argmax has no radius' in none.stderr, 'an operator without a radius is named',
   none.stdout + none.stderr)
# Where the exact result is infinite or no number, no number is right, and that element is the worst.
npz('odd.npz', x=((4,), [-1.0, 0.0, 2.0, -3.0]), o=((4,), [float('inf'), 1.0, 1.0, 1.0]))
for graph, wrong, right in (('y = log(x)', [0.0, float('-inf'), 0.6931472, float('nan')],
                             [float('nan'), float('-inf'), 0.6931472, float('nan')]),
                            ('y = add(x, o)', [5.0, 1.0, 3.0, -2.0], [float('inf'), 1.0, 3.0, -2.0]),
                            ('y = max(x, o)', [-1.0, 1.0, 2.0, 1.0], [float('inf'), 1.0, 2.0, 1.0]),
                            ('y = rsqrt(x)', [1.0, float('inf'), 0.70710677, float('nan')],
                             [float('nan'), float('inf'), 0.70710677, float('nan')])):
    for what, values in (('beyond the proven bound', wrong), ('right', right)):
        npz('got.npz', y=((4,), f32(values)))
        p = halfulp('judge', graph, '--in', 'x=odd.npz:x', *(['--in', 'o=odd.npz:o'] if ', o' in graph else []),
                    '--got', 'got.npz:y')
        ok(p.stdout.startswith(what) and ('worst      [0] is' in p.stdout or what == 'right'),
           '%s: %s is %s' % (graph, values, what), p.stdout + p.stderr)
# What a model passes on is judged too; a transposed convolution is judged too.
def model_of(nodes, inputs, output, data, got, constants=()):
    onnxfile.write('n.onnx', onnxfile.graph(nodes, list(constants), [onnxfile.value(k, v) for k, v in inputs],
                                            [output]))
    npz('n.npz', **data)
    npz('ngot.npz', **got)
    name = next(iter(got))
    return halfulp('judge', 'n.onnx', '--data', 'n.npz', '--got', '%s=ngot.npz:%s' % (name, name),
                   '--no-culprit').stdout


def verdicts(what, right, wrong):
    ok(right.startswith('right') and wrong.startswith('beyond the proven bound'), what, right + wrong)


one = [1.0, 2.0, 3.0, 4.0]
verdicts('an output that is an input', *[model_of(
        [onnxfile.node('Identity', 'x', 'y'), onnxfile.node('Exp', 'x', 'z')], [('x', [4])], onnxfile.value('y'),
        {'x': ((4,), one)}, {'y': ((4,), v)}) for v in (one, one[::-1])])
deconv = [1.0, 2.0, 2.0, 3.0, 6.0, 4.0, 3.0, 7.0, 4.0]
verdicts('a transposed convolution', *[model_of(
        [onnxfile.node('ConvTranspose', 'x w', 'y')], [('x', [1, 1, 2, 2])], onnxfile.value('y'),
        {'x': ((1, 1, 2, 2), one)}, {'y': ((1, 1, 3, 3), v)},
        [onnxfile.floats('w', [1, 1, 2, 2], [1.0, 0.0, 0.0, 1.0])])
        for v in ([1.0, 2.0, 0.0, 3.0, 5.0, 2.0, 0.0, 3.0, 4.0], deconv)])
# A model's node and the same as a text, which computes without the import: images, limits, powers, selections.
image, kernel = f32([0.13 * (i * 7 % 23) - 3.5 for i in range(120)]), f32(
        [0.21 * (i * 5 % 17) - 1.5 for i in range(72)])
flags = [float(i % 3 > 0) for i in range(120)]
npz('image.npz', x=((2, 4, 5, 3), image), w=((4, 2, 3, 3), kernel), m=((2, 4, 5, 3), flags), e=((1,), [1.5]),
    q=((2, 4, 5, 3), [abs(v) + 0.1 for v in image]))
NODES = ((onnxfile.node('Conv', 'x w', 'y', pads=[1, 1, 1, 1], strides=[1, 2], group=2), 'y = conv(x, w, padding=1, '
          'stride=1x2, groups=2)', 'x w'),
         (onnxfile.node('MaxPool', 'x', 'y', kernel_shape=[3, 2], pads=[1, 0, 1, 0], strides=[2, 1]),
          'y = maxpool(x, window=3x2, padding=1x0, stride=2x1)', 'x'),
         (onnxfile.node('AveragePool', 'x', 'y', kernel_shape=[2, 2], pads=[1, 1, 1, 1], strides=[1, 1],
                        count_include_pad=1), 'y = avgpool(x, window=2, padding=1, stride=1)', 'x'),
         (onnxfile.node('Pow', 'q e', 'y'), 'y = pow(q, e)', 'q e'),
         (onnxfile.node('Where', 'c x q', 'y'), 'y = where(m, x, q)', 'm x q'))
for node, text, names in NODES:
    kind = text.split('(')[0].split()[-1]
    drawn = {'x': [2, 4, 5, 3], 'w': [4, 2, 3, 3], 'q': [2, 4, 5, 3], 'm': [2, 4, 5, 3], 'e': [1]}
    nodes = [onnxfile.node('Cast', 'm', 'c', to=9)] if kind == 'where' else []
    held = [onnxfile.floats('w', [4, 2, 3, 3], kernel)] if 'w' in names.split() else []
    held += [onnxfile.floats('e', [1], [1.5])] if 'e' in names.split() else []
    onnxfile.write('node.onnx', onnxfile.graph(nodes + [node], held, [
        onnxfile.value(n, drawn[n]) for n in names.split() if n not in 'we'], [onnxfile.value('y')]))
    npz('fed.npz', **{n: (tuple(drawn[n]), {'x': image, 'q': [abs(v) + 0.1 for v in image], 'm': flags}[n])
                      for n in names.split() if n not in 'we'})
    shape = {'conv': (2, 4, 5, 2), 'maxpool': (2, 4, 3, 2), 'avgpool': (2, 4, 6, 4)}.get(kind, (2, 4, 5, 3))
    n = shape[0] * shape[1] * shape[2] * shape[3]
    npz('zeros.npz', y=(shape, [0.0] * n))
    a = halfulp('judge', 'node.onnx', '--data', 'fed.npz', '--got', 'y=zeros.npz:y', '--exact', 'n1.npy', '--bound',
                'n2.npy')
    b = halfulp('judge', text, *sum((['--in', '%s=image.npz:%s' % (n, n)] for n in names.split()), []), '--got',
                'zeros.npz:y', '--exact', 't1.npy', '--bound', 't2.npy')
    ok(a.returncode == b.returncode == 1, 'zeros are wrong for a node of %s' % kind, a.stderr + b.stderr)
    for one, two, what in (('n1.npy', 't1.npy', 'exact values'), ('n2.npy', 't2.npy', 'bounds')):
        same = os.path.exists(one) and os.path.exists(two) and open(one, 'rb').read() == open(two, 'rb').read()
        if kind == 'avgpool' and what == 'bounds' and not same:   # zeros of the padding count as terms
            p, q = (struct.unpack('<%dd' % n, open(f, 'rb').read()[-8 * n:]) for f in (one, two))
            same = all(u <= v <= 8 * u for u, v in zip(q, p))
        ok(same, 'a node of %s and a text have the same %s' % (kind, what))
        for f in (one, two):
            if os.path.exists(f):
                os.remove(f)
# Of one element both largest ratios are its own error over its own bounds
row, column = ((1, 24), f32(x)), ((24, 1), f32(x[::-1]))
npz('one.npz', a=row, b=column, y=((1, 1), f32([math.fsum(u * v for u, v in zip(x, x[::-1]))])), wrong=((1, 1), [1.0]))
for given, facts in (('y', ''), ('y', 'acc=bf16'), ('wrong', '')):
    done = halfulp('judge', 'matmul', '--in', 'a=one.npz:a', '--in', 'b=one.npz:b', '--got', 'one.npz:' + given,
                   '--json', *(['--set', facts] if facts else []))
    r = json.loads(done.stdout)['results'][0]
    error = abs(r['worst_value'] - r['worst_exact'])
    for ratio, bound in (('bound_ratio_max', 'worst_bound'), ('probable_ratio_max', 'worst_probable')):
        ok(error > 0 and abs(r[ratio] * r[bound] / error - 1) < 1e-9,
           '%s %s: %s is error over %s' % (given, facts, ratio, bound), r)
GRAPHS = (('y = softmax(x', 'a , or ) is needed'), ('softmax(x)', "kernel 'softmax(x)'"), ('y = add(x)', '2 operands'),
          ('y = neg(x); y = neg(x)', 'computed twice'), ('y = neg(x) z = neg(y)', 'a ; is needed'),
          ('y = scale(x, k=$k)', None), ('y = neg(x, x)', 'fewer operands'), ('y =', 'an operator is needed'))
for graph, word in GRAPHS:
    done = halfulp('judge', graph, '--in', 'x=all.npz:x', '--got', 'all.npz:x')
    good = done.returncode in (0, 1) if word is None else done.returncode == 2 and word in done.stderr
    ok(good and done.stderr.count('\n') <= 1, 'graph %r' % graph, done.stderr)
finish()
