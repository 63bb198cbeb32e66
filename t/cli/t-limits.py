# SPDX-License-Identifier: Apache-2.0
# The numbers that options of analyzers take: of each the least and the most that it says it needs.
import os
import shlex
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import npzfile
import onnxfile
import tap

os.chdir(tap.home())
onnxfile.write(
    'm.onnx',
    onnxfile.graph(
        [onnxfile.node('MatMul', 'x w', 'y')],
        [onnxfile.floats('w', [2, 2], [1, 2, 3, 4])],
        [onnxfile.value('x', ['n', 2])],
        [onnxfile.value('y', ['n', 2])],
    ),
)
npzfile.npz('d.npz', x=([2, 2], [1, 2, 3, 5]))
WIDE = 2**63 - 1
# The command, with the option's name last; the least and the most.
LIMITS = [
    ('tree product --n', 2, 16384),
    ('tree product --op part=', 0, 16384),
    ('gate --baseline x --runs', 1, 64),
    ('engines a b --tau', 1, 1e300),
    ('engines a b --step', 0, 2**40),
    ('calc 1+1 --mode SR --seed', 0, WIDE),
    ('calc 1+1 --mode SR --mode random_bits=', 1, 32),
    ('allreduce a --all-reduce scale=', 2.0**-64, 2.0**64),
    ('allreduce a --sample', 1, 2**40),
    ('allreduce a --seed', 0, WIDE),
    ('allreduce a --tolerance', 0, 1e300),
    ('allreduce --steps', 1, 100000),
    ('allreduce a --threads', 0, 4096),
    ('validate m.onnx --data d.npz --policy fp16 --batch', 1, 2**20),
    ('validate m.onnx --data d.npz --policy fp16 --exact', 0, 2**30),
    ('validate m.onnx --data d.npz --policy fp16 --top-k', 1, 2**30),
    ('validate m.onnx --data d.npz --policy fp16 --sensitivity --sensitivity-inputs', 1, 2**30),
    ('validate m.onnx --data d.npz --policy int8 --calibrate-inputs', 1, 2**30),
    ("advise m.onnx --data d.npz --accept 'flips<=1%' --top-k", 1, 2**30),
    ('op dot --seed', 0, WIDE),
    ('op dot --result', 0, 0),
    ('op layernorm --result', 0, 2),
    ('op dot --in a=a.npy --in b=b.npy --out d.npy --as bound --confidence', 0, 1),
    ('inspect m.onnx --threads', 0, 1024),
    ('inspect m.onnx --axis', -8, 7),
    ('analyze R --sample', 1, 2**40),
    ('analyze R --seed', 0, 2**62),
    ('analyze R --threads', 0, 4096),
    ('analyze R --lost', 0, 1),
    ('accumulate --n', 1, 2**27),
    ('accumulate --table --every', 1, 2**27),
    ('accumulate --terms uniform:0,1 --seeds', 1, 1000),
    ('accumulate --terms uniform:0,1 --seed', 0, WIDE - 1000),
    ('accumulate --terms start=', float('-inf'), float('inf')),
    ('probe --backend shim --sample', 0, 2**40),
    ('probe --backend shim --sample 1 --seed', 0, 2**53),
]
for line, least, most in LIMITS:
    between = '' if line.endswith('=') else ' '  # a key and its value are one word
    r = tap.halfulp(*shlex.split(line + between + 'x'))
    of = '%d', 'an integer'
    if isinstance(least, float) or isinstance(most, float) or line.endswith(('--lost', '--confidence')):
        of = '%g', 'a number'
    want = '%s%sx: %s from %s to %s is needed' % (line[line.rindex('--') :], between, of[1], of[0] % least, of[0] % most)
    tap.ok(
        r.returncode == 2 and r.stderr.strip() == 'halfulp %s: %s' % (line.split()[0], want),
        '%s: from %s to %s' % (line, of[0] % least, of[0] % most),
        '%d: %s' % (r.returncode, r.stderr),
    )
tap.finish()
