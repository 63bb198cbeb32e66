# SPDX-License-Identifier: Apache-2.0
# The commands that faults.py runs while something fails, the files that they read, and the environment that they run
# in.
import os
import shlex
import shutil
import struct
import subprocess

import npzfile
import onnxfile
from tap import HALFULP, bail_out


def environment(**more):
    # One thread: the N-th call is the same one each time. Libraries' own settings do not matter.
    keep = {k: v for k, v in os.environ.items() if not k.startswith(('FAULT_', 'LD_PRELOAD'))}
    all = dict(keep, LC_ALL='C', OMP_NUM_THREADS='1', OMP_WAIT_POLICY='passive', HALFULP_MPI='none',
               CI_COMMIT_SHA='0123456789abcdef0123456789abcdef01234567')
    all.update(more)
    return {k: v for k, v in all.items() if v}


GNUPLOT = """#!/bin/sh
# Draws nothing: what is tried is the program that starts it
for last; do :; done
test "$last" = --version && exit 0
for f in svg png; do printf '<svg><title>Gnuplot</title>%0300d' 0 >"${last%.gp}.$f"; done
printf 'A title\\nA caption\\n' >"${last%.gp}.txt"
"""

ONE = '--model mlp --data digits --model width=0.02 --data size=8,train=32,eval=8 --batch 16'
TRAIN = ('--quiet --model mlp --data digits --policy mixed_float16 --model width=0.02 --data size=8,train=32,eval=8 '
         '--batch 16 --threads 1')
COMMANDS = {
    'calc': "calc '0.1 + sqrt(2) * 1e-3' --format fp16,bf16,fp32 --json",
    'calc text': "calc '1 + 2^-11 + 3' --format fp16 --mode RZ",
    'round': 'round 0.1 65504.5 --format fp16,e4m3 --json',
    'formats': 'formats e4m3 --json',
    'accumulate': 'accumulate --n 40 --json',
    'accumulate file': 'accumulate --terms t.npy --json',
    'train': 'train %s --steps 2 new' % TRAIN,
    'train resume': 'train --resume cut',
    'analyze': 'analyze run --threads 1',
    'report': 'report seen --json',
    'verify': 'verify run --threads 1',
    'baseline': 'baseline seen -o other.tsv --reason first',
    'check': 'check seen --baseline base.tsv --json',
    'diff': 'diff a.npy b.npy --json',
    'diff npz': 'diff x.npz y.npz --json',
    'merge': 'merge one.part two.part',
    'validate': 'validate m.onnx --data x.npz --policy fp16,bf16 --outputs outs --json',
    'advise': "advise m.onnx --data x.npz --accept 'rel_l2<=1e-2' --format fp16,bf16 --json",
    'inspect': 'inspect m.onnx --threads 1 --json',
    'tree': 'tree --backend cpu --n 7 --json',
    'gate files': 'gate --baseline base.tsv seen -o junit=g.xml -o tap=g.tap -o gitlab=g.json -o sarif=g.sarif',
    'tree sum': 'tree --sum pairwise --n 8 --in fp32 -o t.dot',
    'engines': 'engines l.npz k.npz --tau 2 --json',
    'plan': 'plan --json',
    'plan text': 'plan',
    'judge': 'judge softmax --in x=x.npy --got y.npy --json',
    'op': 'op matmul --in a=a.npy --in b=b.npy --out d.npy',
}
# Commands that are like these, or take longer: t/base/x-faults.py alone tries them
MORE = {
    'calc explain': "calc '0.1 + 0.2 * 3' --format fp16 --explain -o e.svg",
    'calc export': "calc '0.1 + 3' --format fp16,bf16 -o c.md",
    'validate against': 'validate m.onnx --data x.npz --policy ort-static,fp16 --against h.onnx --report said '
                        '--sensitivity --json',
    'validate shard': 'validate m.onnx --data x.npz --policy fp16,bf16 --shard 1/2:part=v.part',
    'advise out': "advise m.onnx --data x.npz --accept 'rel_l2<=1e-2' --format fp16,bf16 --out advised",
    'judge bound': 'judge softmax --in x=x.npy --got y.npy --exact e.npy --bound d.npy',
    'judge make': 'judge softmax --make drawn',
    'judge graph': "judge 'y = softmax(x)' --in x=x.npy --got y.npy --json",
    'gate': 'gate --baseline base.tsv --quiet gated -- %s --steps 2' % TRAIN,
    'gate summary': 'gate --baseline base.tsv seen --quiet -o summary=g.md',
    'compare': 'compare --policy float32,float16 %s --steps 2 both' % ONE,
    'engines text': 'engines l.npz k.npz',
    'doctor': 'doctor --json',
    'figures': 'figures swamped-addend --out drawn',
    'bench train': 'bench train %s --steps 2 --json' % ONE,
    'judge list': 'judge list --json',
    'op list': 'op list',
    'formats page': 'formats e4m3',
    'calc steps': "calc '0.1 + 0.2 * 3' --format fp16 --step -o s.svg",
    'allreduce': 'allreduce seen --ranks 4 --sample 16 --threads 1 --json',
    'bench cast': 'bench cast --format fp16 --sizes 1 --trials 1 --threads 1 --no-python --backend simd=scalar --json',
    'bench gemm': 'bench gemm --format fp16 --sizes 16 --trials 1 --threads 1 -o b.tsv',
    'probe': 'probe --model tc:hopper --json',
    'check file': "check x.npz --baseline y.npz --rule '*: rel <= 1' --format junit",
    'check history': 'check seen --baseline base.tsv --history kept',
    'baseline run': 'baseline seen -o new.tsv --reason first',
    'diff runs': 'diff run seen --json',
    'plan export': 'plan --model mlp:width=0.02 -o p.tsv',
    'report page': 'report seen',
    'analyze weights': 'analyze other --only weights,replay --threads 1',
    'analyze again': 'analyze seen --threads 1',
    'baseline scores': 'baseline seen other third -o many.tsv --reason drawn --score loss',
    'bench why': 'bench why %s --steps 2:warm=0 --policy mixed_float16 --json' % ONE,
    'bench predicted': 'bench why --model mlp --model width=0.02 --policy mixed_float16 --device a100 -o w.tsv',
    'figures lean': 'figures swamped-addend --lean --format svg --out drawn --json',
    'op list kernels': 'op list --json',
    'report history': 'report --history past --out moved --json',
    'report card': 'report judged --out card.md',
    'report model': 'report judged --out model.html',
    'report terminal': 'report seen -o -',
    'tree all': 'tree --backend cpu --n 5',
    'inspect rule': "inspect m.onnx --to e4m3 --totals --fail-if 'zeroed>0' --threads 1",
}


def npy(path, shape, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += ' ' * (117 - len(head)) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%df' % len(values), *values))


def prepare(folder, tracer):
    """Makes the files that the commands read."""
    os.makedirs(folder)
    os.environ['GNUPLOT'] = os.path.join(os.path.dirname(folder), 'gp')
    with open(os.environ['GNUPLOT'], 'w') as f:
        f.write(GNUPLOT)
    os.chmod(os.environ['GNUPLOT'], 0o755)
    here = os.getcwd()
    os.chdir(folder)
    npy('a.npy', (3, 3), [0.1 * i - 0.53 for i in range(9)])
    npy('b.npy', (3, 3), [0.37 * i + 0.11 for i in range(9)])
    npy('x.npy', (3, 4), [0.91 * i - 5.3 for i in range(12)])
    npy('y.npy', (3, 4), [0.25] * 12)
    npy('t.npy', (40,), [0.1 * i for i in range(40)])
    npzfile.npz('x.npz', x=((3, 4), [0.91 * i - 5.3 for i in range(12)]))
    npzfile.npz('y.npz', x=((3, 4), [0.91 * i - 5.31 for i in range(12)]))
    for name, step in (('l.npz', 0.61), ('k.npz', 0.62)):
        npzfile.npz(name, logits=((3, 4), [step * (i * i % 7) for i in range(12)]))
    for name, step in (('m.onnx', 0.37), ('h.onnx', 0.36)):
        onnxfile.write(name, onnxfile.graph(
            [onnxfile.node('MatMul', 'x w', 'y', name='fc'), onnxfile.node('Relu', 'y', 'z')],
            [onnxfile.floats('w', [4, 3], [step * i - 1.7 for i in range(12)])],
            [onnxfile.value('x', ['n', 4])], [onnxfile.value('z', ['n', 3])]))
    for line in ('train %s --steps 2 run' % TRAIN, 'train %s --steps 2 seen' % TRAIN,
                 'train %s --steps 2 --seed 2 other' % TRAIN, 'train %s --steps 2 --seed 3 third' % TRAIN,
                 'analyze seen --threads 1',
                 'baseline seen -o base.tsv --reason first', 'check seen --baseline base.tsv --history past',
                 'validate m.onnx --data x.npz --policy fp16,bf16 --report judged',
                 'analyze run --only state --shard 1/2:part=one.part',
                 'analyze run --only state --shard 2/2:part=two.part'):
        p = subprocess.run([HALFULP, *shlex.split(line)], capture_output=True, text=True, env=environment())
        if p.returncode:
            bail_out('%s: %s' % (line, p.stderr))
    # A run that was killed at the last of the calls that make it, where it has checkpoints
    cut = shlex.split('train %s --steps 4 --checkpoint-every 1 cut' % TRAIN)
    env = environment()
    subprocess.run([tracer, '../report', 'rename', '0', 'kill', HALFULP, *cut], capture_output=True, env=env)
    renames = int(open('../report').read().split()[0]) if os.path.exists('../report') else 0
    shutil.rmtree('cut', ignore_errors=True)
    if renames:
        at = str(renames - 8)
        subprocess.run([tracer, '../report', 'rename', at, 'kill', HALFULP, *cut], capture_output=True, env=env)
    os.chdir(here)
    return os.path.isdir(folder + '/cut')
