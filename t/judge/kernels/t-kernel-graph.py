#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# One kernel as a model of ONNX and as a text: the same exact values and bounds; and what a graph's text may be.
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
onnxfile.write('u.onnx', onnxfile.graph([onnxfile.node('Round', 'x', 'y')], [], [onnxfile.value('x', ['n', 6])],
                                        [onnxfile.value('y')]))
none = halfulp('judge', 'u.onnx', '--data', 'in.npz', '--got', 'all.npz')
ok(none.returncode == 4 and 'operator round has no radius' in none.stderr, 'an operator without a radius is named',
   none.stdout + none.stderr)
GRAPHS = (('y = softmax(x', 'a , or ) is needed'), ('softmax(x)', "kernel 'softmax(x)'"), ('y = add(x)', '2 operands'),
          ('y = neg(x); y = neg(x)', 'computed twice'), ('y = neg(x) z = neg(y)', 'a ; is needed'),
          ('y = scale(x, k=$k)', None), ('y = neg(x, x)', 'fewer operands'), ('y =', 'an operator is needed'))
for graph, word in GRAPHS:
    done = halfulp('judge', graph, '--in', 'x=all.npz:x', '--got', 'all.npz:x')
    good = done.returncode in (0, 1) if word is None else done.returncode == 2 and word in done.stderr
    ok(good and done.stderr.count('\n') <= 1, 'graph %r' % graph, done.stderr)
finish()
