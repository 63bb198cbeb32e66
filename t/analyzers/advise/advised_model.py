# SPDX-License-Identifier: Apache-2.0
# A model of a convolution and two products, m.onnx, with inputs in x.npz and in the two halves of it that advise makes:
# what validate says of it under a file of schemes.
import json
import os
import random
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap  # noqa: E402
from npzfile import npz, outputs  # noqa: E402,F401
from onnxfile import *  # noqa: E402,F401,F403

where = tap.home()
os.chdir(where)
random.seed(5)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
N, HALF = 60, 30
# A convolution, a product with its weights transposed and one without, and a last one whose classes are close to each
# other
write(
    'm.onnx',
    graph(
        [
            node('Conv', 'x cw cb', 'c', name='conv', kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=2),
            node('Relu', 'c', 'r', name='relu'),
            node('Flatten', 'r', 'f', name='flat'),
            node('Gemm', 'f w1 b1', 'g', name='fc1', transB=1),
            node('Tanh', 'g', 't', name='tanh'),
            node('MatMul', 't w2', 'y', name='fc2'),
        ],
        [
            floats('cw', [4, 1, 3, 3], draw(36, 0.4)),
            floats('cb', [4], draw(4, 0.1)),
            floats('w1', [16, 64], draw(1024, 0.15)),
            floats('b1', [16], draw(16, 0.1)),
            floats('w2', [16, 5], draw(80, 0.3)),
        ],
        [value('x', ['n', 2, 4, 4])],
        [value('y', ['n', 5])],
        'g',
    ),
    opset=19,
)
x = draw(N * 32, 1)
npz('x.npz', x=([N, 2, 4, 4], x))
npz('a.npz', x=([HALF, 2, 4, 4], x[: HALF * 32]))
npz('b.npz', x=([HALF, 2, 4, 4], x[HALF * 32 :]))
NODES, SCHEMES = ('conv', 'fc1', 'fc2'), ('float32', 'int8', 'bf16', 'int4:g8')


def policy(path, choice):
    with open(path, 'w') as file:
        json.dump({'nodes': dict(zip(NODES, choice))}, file)


def validate(data, policies, *more):
    got = tap.halfulp(
        'validate',
        'm.onnx',
        '--data',
        data,
        '--policy',
        ','.join(policies),
        '--calibrate',
        'a.npz',
        '--exact',
        '0',
        '--json',
        *more
    )
    if got.returncode:
        tap.bail_out(got.stderr)
    return {r['policy']: r for r in json.loads(got.stdout)['policies']}
