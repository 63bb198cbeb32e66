#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The memory of validate: a chain of wide layers takes a few of its widest values and not all of them, also while it is
# found along which axes the inputs of a batch lie.
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

if b'__asan_init' in open(tap.HALFULP, 'rb').read():
    tap.skip_all('a sanitizer watches the program, and keeps what was given back')
os.chdir(tap.home())
random.seed(3)


def peak(path):
    """Bytes that a run takes at most, in a process of its own so that others' do not count."""
    code = '''import resource, subprocess, sys
p = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stderr.write(p.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 if p.returncode == 0 else 0)'''
    p = subprocess.run([sys.executable, '-c', code, tap.HALFULP, 'validate', path + '.onnx', '--data', path + '.npz',
        '--policy', 'fp16', '--exact', '0', '--decision', 'none'], capture_output=True, text=True)
    return int(p.stdout or 0) or tap.bail_out(p.stderr)


WIDE, LAYERS = 1 << 19, 60
nodes = [node(('Relu', 'Neg')[i % 2], 'x' if not i else 'a%d' % i, 'a%d' % (i + 1)) for i in range(LAYERS)]
nodes.append(node('ReduceSum', 'a%d axes' % LAYERS, 'y'))
write('wide.onnx', graph(nodes, [ints('axes', [1], [1])], [value('x', ['n', WIDE])], [value('y')]))
npz('wide.npz', x=([2, WIDE], [1.0] * 2 * WIDE))
one, base = 4 * WIDE * 2, 64 << 20 # bytes of a layer of both inputs; the program, its threads and the data
got = peak('wide')
tap.ok(got < base + 12 * one, '%d layers of %d MB take %d MB' % (LAYERS, one >> 20, got >> 20), [str(got)])
tap.finish()
