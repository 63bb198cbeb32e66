# SPDX-License-Identifier: Apache-2.0
# A network of two products, mlp.onnx with its inputs in x.npz, whose inner values are an output too; its weights as
# lists of columns.
import os
import random
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap  # noqa: E402
from npzfile import npz  # noqa: E402
from onnxfile import *  # noqa: E402,F401,F403
from quantised_again import f  # noqa: E402

where = tap.home()
os.chdir(where)
random.seed(11)
N, I, H, C, CAL = 40, 24, 12, 5, 13
draw = lambda n, s: [f(random.gauss(0, s)) for _ in range(n)]
w1, b1, w2, x = draw(H * I, 0.4), draw(H, 0.1), draw(H * C, 0.35), draw(N * I, 1)
write(
    'mlp.onnx',
    graph(
        [
            node('Gemm', 'x w1 b1', 'h', name='first', transB=1),
            node('Relu', 'h', 'r', name='relu'),
            node('MatMul', 'r w2', 'y', name='second'),
        ],
        [floats('w1', [H, I], w1), floats('b1', [H], b1), floats('w2', [H, C], w2)],
        [value('x', ['batch', I])],
        [value('y', ['batch', C]), value('r', ['batch', H])],
    ),
)
npz('x.npz', x=([N, I], x))
X = [x[i * I : i * I + I] for i in range(N)]
W1 = [w1[j * I : j * I + I] for j in range(H)]
W2 = [[w2[k * C + j] for k in range(H)] for j in range(C)]
