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
