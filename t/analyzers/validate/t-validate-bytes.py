#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What validate says that the weights take is what a quantised file holds, whether the file is the model or stands
# beside it by --against, and whether its codes are widened before the run or at every one; and the folder that
# --outputs wrote is one that report makes a page of. HALFULP names the program.
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
random.seed(7)
K, M, ROWS = 24, 10, 8
codes = [random.randint(-127, 127) for _ in range(K * M)]
npz('x.npz', x=([ROWS, K], [random.gauss(0, 1) for _ in range(ROWS * K)]))
ports = [value('x', ['n', K])], [value('y', ['n', M])]
write('float.onnx', graph([node('MatMul', 'x W', 'y', name='m')],
    [floats('W', [K, M], [c / 64 for c in codes])], *ports), opset=17)
held = [tensor('W', INT8, [K, M], struct.pack('%db' % len(codes), *codes)), floats('s', [], [1 / 64])]
write('qdq.onnx', graph([node('DequantizeLinear', 'W s', 'w', name='d'), node('MatMul', 'x w', 'y', name='m')], held,
    *ports), opset=17)
zeros = [tensor('z', UINT8, [], b'\0'), tensor('wz', INT8, [], b'\0')]
write('dynamic.onnx', graph([node('DynamicQuantizeLinear', 'x', 'q sx zx', name='q'),
    node('MatMulInteger', 'q W zx wz', 'i', name='i'), node('Cast', 'i', 'f', name='c', to=FLOAT),
    node('Mul', 'sx s', 'k', name='k'), node('Mul', 'f k', 'y', name='m')], held + zeros[1:], *ports), opset=17)
HOLDS = {'float.onnx': 4 * K * M, 'qdq.onnx': K * M + 4, 'dynamic.onnx': K * M + 4 + 1}


def bytes_of(*words):
    got = tap.halfulp('validate', *words, '--data', 'x.npz', '--exact', '0', '--json')
    tap.ok(got.returncode == 0, 'validate ' + ' '.join(words), got.stderr)
    return {r['policy']: r['weight_bytes'] for r in json.loads(got.stdout)['policies']}


for name, holds in HOLDS.items():
    got = bytes_of(name, '--policy', 'fp16')
    tap.ok(got['float32'] == holds, '%s holds %d bytes' % (name, holds), got)
    less = 4 * K * M if name == 'float.onnx' else 4 # of floating point, which fp16 halves, or leaves out as folded
    tap.ok(holds - less <= got['fp16'] <= holds, 'fp16 shortens what is no code', got)
got = bytes_of('float.onnx', '--policy', 'fp16', '--against', 'qdq.onnx', '--against', 'dynamic.onnx', '--outputs', 'o')
tap.ok(all(got[n] == HOLDS[n] for n in ('qdq.onnx', 'dynamic.onnx')) and got['float32'] == HOLDS['float.onnx'],
    'beside the model too', got)
made = tap.halfulp('report', 'o')
tap.ok(made.returncode == 0 and os.path.exists('o/report/index.html'), 'report makes a page of what --outputs wrote',
    made.stderr)

got = tap.halfulp(
    'validate', 'float.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0', '--against', 'qdq.onnx'
)
tap.ok('Where a code differs by one, later nodes may' in got.stdout, 'a note says what one code may do', got.stdout)
got = tap.halfulp('validate', 'float.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0')
tap.ok('Where a code' not in got.stdout, 'and only where a file stands beside the model', got.stdout)
tap.finish()
