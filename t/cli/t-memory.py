# SPDX-License-Identifier: Apache-2.0
# Promise: A command asks for no more memory than --max-memory allows, half of the machine by default, whatever a file
# claims; a stack that is too small is refused by name.
# --max-memory, an option of every command: what a file claims, or unpacks to, beyond it is refused with one line before
# the memory is touched. And a stack that is too small is refused by name.
import gzip
import os
import re
import resource
import struct
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import npzfile
import onnxfile
import tap

os.chdir(tap.home())
WATCHED = b'__asan_init' in open(tap.HALFULP, 'rb').read()
COMMANDS = re.findall(r'^COMMAND\((\w+)\)', open(TOP + '/commands.def').read(), re.M)
MIB = 1 << 20


def run(*words, before=None):
    """Returns the exit code, standard error and the largest resident set in MiB."""
    child = subprocess.Popen([tap.HALFULP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, preexec_fn=before)
    said = child.stderr.read().decode(errors='replace')
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, said, used.ru_maxrss / 1024


def refused(words, what, most, codes=(3, 4)):
    code, said, peak = run(*words)
    lines = [x for x in said.splitlines() if x]
    tap.ok(code in codes and len(lines) == 1 and peak < most,
           '%s: exit %s, one line, %.0f MiB of %d' % (what, code, peak, most), said or 'nothing was said')


def npy_head(shape, descr='<f4'):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + (head + ' ' * (117 - len(head)) + '\n').encode()


def many(n=200 * MIB, value=1):
    """A node that makes n numbers, and its shape."""
    return (onnxfile.node('ConstantOfShape', 's', 'z', value=onnxfile.ints('v', [1], [value])),
            onnxfile.ints('s', [1], [n]))


def function(name, body):
    """A function of domain d: node by node from a to b."""
    imports = b''.join(onnxfile.blob(9, onnxfile.blob(1, d) + onnxfile.number(2, v)) for d, v in (('', 17), ('d', 1)))
    return onnxfile.blob(1, name) + onnxfile.blob(4, 'a') + onnxfile.blob(5, 'b') + b''.join(
        onnxfile.blob(7, x) for x in body) + imports + onnxfile.blob(10, 'd')


def doubled(k):
    return [onnxfile.node('f%d' % (k - 1), 'a', 't', domain='d'), onnxfile.node('f%d' % (k - 1), 't', 'b', domain='d')]


def longer():
    """A loop's body that makes a sequence longer by one in each step."""
    return onnxfile.graph(
        [onnxfile.node('Identity', 'ci', 'co'), onnxfile.node('SequenceInsert', 'qi x', 'qo')], [],
        [onnxfile.value('i', [], onnxfile.INT64), onnxfile.value('ci', [], onnxfile.BOOL), onnxfile.value('qi')],
        [onnxfile.value('co', [], onnxfile.BOOL), onnxfile.value('qo')])


ALL, SHAPE = many()
# name, what it has, nodes, tensors, functions, and how many MiB may be taken before it is refused
GREEDY = [
    ('list', '1600 MB of numbers as a shape', [ALL, onnxfile.node('Reshape', 'x z', 'y')], [SHAPE], (), 100),
    ('places', '1600 MB of numbers that are looked through', [ALL, onnxfile.node('NonZero', 'z', 'y')], [SHAPE], (),
     100),
    ('outputs', '800 MB of outputs', [onnxfile.node('ConstantOfShape', 's', 'y')], [SHAPE], (), 100),
    ('twice', 'a constant that is joined to itself 33 times',
     [onnxfile.node('Concat', 'c%d c%d' % (i, i), 'c%d' % (i + 1), axis=0) for i in range(33)] +
     [onnxfile.node('ReduceSum', 'c33', 'r', keepdims=0), onnxfile.node('Add', 'x r', 'y')],
     [onnxfile.floats('c0', [2], [1, 2])], (), 1000),
    ('functions', 'a function of 2^30 nodes', [onnxfile.node('f30', 'x', 'y', domain='d')], [],
     [function('f0', [onnxfile.node('Relu', 'a', 'b')]), *(function('f%d' % k, doubled(k)) for k in range(1, 31))],
     400),
    ('sequence', 'a sequence that grows in a loop',
     [onnxfile.node('SequenceEmpty', '', 'q'), onnxfile.node('Loop', 'm c q', 'w', body=longer()),
      onnxfile.node('ConcatFromSequence', 'w', 'y', axis=0)],
     [onnxfile.ints('m', [], [10**9]), onnxfile.tensor('c', onnxfile.BOOL, [], b'\1')], (), 400),
]

for c in COMMANDS:
    code, said, _ = run(c, '--max-memory', 'much')
    tap.ok(code == 2 and '--max-memory much' in said and said.count('\n') == 1, '%s knows --max-memory' % c, said)
code, said, _ = run('calc', '1+1', '--max-memory', '1MB')
tap.ok(code == 2 and '16MiB' in said, 'less than the program itself needs is refused', said)

if WATCHED:
    tap.skip('what is not allowed is not taken', 'a sanitizer watches the program, and its shadow memory counts too')
else:
    # A zip that unpacks to a thousand times its size
    with zipfile.ZipFile('bomb.npz', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        with z.open('x.npy', 'w', force_zip64=True) as f:
            f.write(npy_head((400 * MIB // 4,)))
            for _ in range(400):
                f.write(bytes(MIB))
    onnxfile.write('m.onnx', onnxfile.graph([onnxfile.node('Relu', 'x', 'y')], [], [onnxfile.value('x', ['n', 4])],
                                            [onnxfile.value('y', ['n', 4])]))
    npzfile.npz('x.npz', x=((3, 4), [0.5 * i for i in range(12)]))
    size = os.path.getsize('bomb.npz')
    tap.ok(size < MIB, 'an archive of %d kB that holds 400 MiB' % (size // 1000))
    for words in (['accumulate', '--terms', 'bomb.npz'],
                  ['validate', 'm.onnx', '--data', 'bomb.npz', '--policy', 'fp16']):
        refused([*words, '--max-memory', '200MiB'], '%s of it with 200 MiB' % words[0], 200)
    # Images that a gzip stream unpacks to
    with gzip.open('train-images-idx3-ubyte.gz', 'wb', 9) as f:
        f.write(struct.pack('>4I', 0x803, 400 * 1024, 32, 32))
        for _ in range(400):
            f.write(bytes(MIB))
    with open('train-labels-idx1-ubyte', 'wb') as f:
        f.write(struct.pack('>2I', 0x801, 400 * 1024) + bytes(400 * 1024))
    refused(['train', '--model', 'mlp', '--data', 'idx:.', '--steps', '1', '--max-memory', '200MiB', 'r'],
            'train on 400 MiB of images in %d kB' % (os.path.getsize('train-images-idx3-ubyte.gz') // 1000), 200)
    tap.ok(not os.path.exists('r/manifest.json'), 'and no run was begun')
    # A model of a few hundred bytes with a tensor of 800 MiB
    onnxfile.write('wide.onnx', onnxfile.graph(
        [onnxfile.node('ConstantOfShape', 's', 'z'), onnxfile.node('Add', 'x z', 'y')],
        [onnxfile.ints('s', [2], [50 * MIB, 4])], [onnxfile.value('x', [1, 4])], [onnxfile.value('y', [50 * MIB, 4])]))
    npzfile.npz('one.npz', x=((1, 4), [1, 2, 3, 4]))
    refused(['validate', 'wide.onnx', '--data', 'one.npz', '--policy', 'fp16', '--max-memory', '300MiB'],
            'validate of a model of %d bytes that makes 800 MiB' % os.path.getsize('wide.onnx'), 300)
    # Small models that ask for much more than the memory may take, which is told before any of it is filled
    for name, what, nodes, tensors, functions, most in GREEDY:
        onnxfile.write(name + '.onnx', onnxfile.graph(nodes, tensors, [onnxfile.value('x', [1, 4])],
                                                      [onnxfile.value('y')]), 17, [('d', 1)], functions)
        refused(['validate', name + '.onnx', '--data', 'one.npz', '--policy', 'fp16', '--max-memory', '2GiB'],
                'validate of %d bytes with %s' % (os.path.getsize(name + '.onnx'), what), most)
    # What fits is not refused
    code, said, peak = run('train', '--model', 'mlp', '--data', 'digits', '--steps', '2', '--quiet', '--max-memory',
                           '400MiB', 's')
    tap.ok(code == 0, 'a small training with 400 MiB: %.0f MiB' % peak, said)

    allowed = [int(x) for x in re.findall(r'MemTotal: *(\d+)', open('/proc/meminfo').read())]
    # A program that waits at a pipe that nobody writes
    os.mkfifo('fifo')
    child = subprocess.Popen([tap.HALFULP, 'inspect', 'fifo'], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(200):
        limits = open('/proc/%d/limits' % child.pid).read()
        now = re.search(r'Max data size +(\S+)', limits)[1]
        if now != 'unlimited':
            break
        subprocess.run(['sleep', '0.02'])
    child.kill()
    child.wait()
    tap.ok(now.isdigit() and allowed and int(now) <= 1024 * allowed[0] / 2,
           'left out, it is half of the memory: %s' % now)

for kb in (64, 128, 256, 512, 1024):
    code, said, _ = run('calc', '1 + 2^-11', '--format', 'fp16',
                        before=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kb * 1024, kb * 1024)))
    tap.ok(code == 0 if kb >= 512 else code == 4 and 'ulimit -s' in said and said.count('\n') == 1,
           'a stack of %d kB %s' % (kb, 'suffices' if kb >= 512 else 'is refused by name'), said)
p = subprocess.run([tap.HALFULP, 'calc', '1'], env=dict(os.environ, OMP_STACKSIZE='64k'), capture_output=True,
                   text=True)
tap.ok(p.returncode == 4 and 'OMP_STACKSIZE=64k' in p.stderr, "and so is one of threads'", p.stderr)
tap.finish()
