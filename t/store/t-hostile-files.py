# SPDX-License-Identifier: Apache-2.0
# Promise: A file that claims what it does not hold, a folder, a device or a dangling link in place of a file, and an
# output that cannot be written give one line and an exit code of 2 to 4, in each command that takes a file.
# HALFULP names the program. Each file is given to every command that reads its kind, with 256 MB of memory.
import json
import os
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import npzfile
import onnxfile
import tap
from fault_commands import npy
from tap import HALFULP

ONE = '--model mlp --data digits --model width=0.02 --data size=8,train=32,eval=8 --batch 16 --steps 2 --threads 1'
LIMITED = '--max-memory=256MB'


def npy_of(shape, kind='<f4', data=b'', version=1):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)).encode() + b'\n'
    return b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', len(head)) + head + data


def tensors(head, data=b''):
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack('<Q', len(head)) + head + data


def f32(shape, begin, end):
    return {'dtype': 'F32', 'shape': shape, 'data_offsets': [begin, end]}


# Files that no reader can take, by the suffix that they have
WRONG = {
    '.npy': {
        'more elements than there are addresses': npy_of('(%d,)' % 2**62),
        'extents whose product overflows': npy_of('(%d, %d)' % (2**33, 2**33)),
        'a negative extent': npy_of('(-1,)'),
        'a header that ends too soon': b'\x93NUMPY\x01\x00\xff\xff',
        'a header of four GB': b'\x93NUMPY\x02\x00\xff\xff\xff\xff{',
        'a nested shape': npy_of('(' * 3000 + ')' * 3000),
        'five thousand axes': npy_of('(' + '1, ' * 5000 + ')', data=b'abcd'),
        'objects': npy_of('(3,)', '|O'),
        'data that end too soon': npy_of('(10,)', data=b'abc'),
        'a terabyte': npy_of('(%d,)' % 2**38),
    },
    '.safetensors': {
        'a header of 2^62 bytes': struct.pack('<Q', 2**62) + b'{}',
        'a header of 2^64 - 1 bytes': struct.pack('<Q', 2**64 - 1) + b'{}',
        'an offset behind the end': tensors({'x': f32([4], 0, 2**63)}),
        'a negative extent': tensors({'x': f32([-4], 0, 16)}, b'0' * 16),
        'extents whose product overflows': tensors({'x': f32([2**32, 2**32], 0, 0)}),
        'tensors that overlap': tensors({'x': f32([4], 0, 16), 'y': f32([4], 0, 16)}, b'0' * 16),
        'nested lists': tensors(b'[' * 200000),
        'nested objects': tensors(b'{"a":' * 100000),
        'a name twice': tensors(b'{"x":%s,"x":%s}' % ((json.dumps(f32([1], 0, 4)).encode(),) * 2), b'0000'),
        'an extent of 23 digits': tensors(b'{"x":{"dtype":"F32","shape":[%s],"data_offsets":[0,4]}}' % (b'9' * 23),
                                          b'0000'),
        'an extent that is no integer': tensors(b'{"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}', b'0000'),
        'ten thousand axes': tensors({'x': f32([1] * 10000, 0, 4)}, b'0000'),
    },
    '.json': {
        'nested lists': b'[' * 300000,
        'nested objects': b'{"a":' * 100000,
        'a number beyond all': b'1e999999',
        'a list': b'[]',
        'null': b'null',
        'no key': b'{}',
        'a key twice': b'{"compute": "float16", "compute": "float32"}',
        'a list of layers': b'{"compute": "float16", "layers": ["dense1"]}',
        'bytes that are no UTF-8': b'\xff\xfe',
    },
    '.tsv': {
        'two hundred thousand columns': b'# table: x\n' + b'\t'.join(b'c%d' % i for i in range(200000)) + b'\n',
        'a zero byte': b'# a: b\nx\ty\n1\x002\t3\n',
        'a line of five million letters': b'x' * 5000000,
        'bytes of nothing': bytes(i * i * 7 % 251 for i in range(5000)),
        'a seal of more rows than fit': b'# table: baseline\n# whole: %s rows, checksum 0x%s\nx\n' % (
            b'9' * 20, b'f' * 16),
    },
    '.npz': {'an archive without its end': b'PK\x03\x04' + bytes(200)},
    '.onnx': {'a length beyond the end': b'\x3a\xff\xff\xff\xff\x0f', 'letters': b'hello'},
}
# The commands that read a file of such a suffix, which stands for @
READERS = {
    '.npy': ['accumulate --terms @', 'diff @ a.npy', 'op matmul --in a=@ --in b=a.npy --out d.npy', 'inspect @',
             'judge softmax --in x=@ --got a.npy', 'judge softmax --in x=a.npy --got @',
             'validate m.onnx --data @ --policy fp16', 'validate m.onnx --data x.npz --labels @ --policy fp16'],
    '.npz': ['diff @ x.npz', "check @ --baseline x.npz --rule=*:rel<=1", 'validate m.onnx --data @ --policy fp16',
             'engines @ x.npz', 'inspect @'],
    '.safetensors': ['inspect @', 'diff @ @', 'check @ --baseline @ --rule=*:rel<=1',
                     'train --policy float16 %s --init @ new' % ONE],
    '.onnx': ['validate @ --data x.npz --policy fp16', 'inspect @',
              'advise @ --data x.npz --accept rel_l2<=1 --format fp16',
              'validate m.onnx --data x.npz --policy fp16 --against @'],
    '.json': ['train --policy @ %s new' % ONE, 'validate m.onnx --data x.npz --policy @'],
    '.tsv': ['check run --baseline @', 'gate run --baseline @', 'diff @ base.tsv', 'merge @',
             'report run --history @'],
}
RUNS = ['analyze @', 'report @', 'report --history @', 'verify @', 'train --resume @', 'check @ --baseline base.tsv',
        'baseline @ -o new.tsv --reason first', 'allreduce @ --ranks 4', 'diff run run @']
# Commands that write what stands for @, and whether that is a folder
WRITERS = [
    ('calc 0.1 -o @.tsv', 0), ('calc 0.1 -o @.md', 0), ('plan -o @.tsv', 0),
    ('tree --sum pairwise --n 4 --out @.dot', 0),
    ('op matmul --in a=a.npy --in b=a.npy --out @', 0), ('inspect m.onnx --out @.tsv', 0),
    ('baseline run -o @ --reason first', 0), ('gate run --baseline base.tsv -o junit=@', 0),
    ('analyze run --only state --shard 1/2:part=@', 0), ('judge softmax --make @', 1),
    ('validate m.onnx --data x.npz --policy fp16 --outputs @', 1),
    ('validate m.onnx --data x.npz --policy fp16 --report @', 1), ('train --policy float16 %s @' % ONE, 1),
    ('compare --policy float32,float16 %s @' % ONE, 1), ('figures swamped-addend --lean --format svg --out @', 1),
    ('advise m.onnx --data x.npz --accept rel_l2<=1 --format fp16 --out @', 1),
    ('check run --baseline base.tsv --history @', 1)]


def instead(suffix):
    """What stands where a file is expected: (what it is, its path)."""
    os.makedirs('folder' + suffix, exist_ok=True)
    for name, to in (('loop', 'loop' + suffix), ('dangling', 'nowhere'), ('zero', '/dev/zero'),
                     ('memory', '/proc/self/mem')):
        if not os.path.lexists(name + suffix):
            os.symlink(to, name + suffix)
    with open('sparse' + suffix, 'wb') as f:
        f.truncate(1 << 40)
    open('empty' + suffix, 'wb').close()
    strange = 'a\nb\x1b[31m\t' + suffix
    open(strange, 'wb').write(b'hello')
    return [('a folder', 'folder' + suffix), ('a link to itself', 'loop' + suffix),
            ('a dangling link', 'dangling' + suffix), ('zeros without an end', 'zero' + suffix),
            ('its own memory', 'memory' + suffix), ('a sparse terabyte', 'sparse' + suffix),
            ('nothing', 'empty' + suffix), ('letters, by a name of two lines', strange),
            ('a name of 300 bytes', 'n' * 300 + suffix), ('a path of 6000 bytes', 'n/' * 3000 + suffix)]


def ended(line, path, **more):
    words = [w.replace('@', path) for w in line.split()]
    environment = dict(os.environ, OMP_WAIT_POLICY='passive', OMP_NUM_THREADS='1', HALFULP_MPI='none', **more)
    return subprocess.run([HALFULP, *words, LIMITED], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env=environment)


def wrong_end(line, path):
    """What is wrong with how the command ends; '' where it ends as it must."""
    try:
        p = ended(line, path)
        again = ended(line, path, **LEAVING) if LEAVING and path.startswith('wrong-') else p
    except subprocess.TimeoutExpired:
        return 'it hangs'
    if (again.returncode, again.stderr) != (p.returncode, p.stderr):
        return 'where allocations leave an error number: exit %d, %s' % (again.returncode, again.stderr.decode()[:200])
    err = p.stderr.decode(errors='replace')
    if p.returncode in (2, 3, 4) and err.count('\n') == 1 and err.endswith('\n') and not any(
            ord(c) < 32 for c in err[:-1]) and 20 < len(err) < 12000:
        return ''
    said = err or p.stdout.decode(errors='replace')
    return 'exit %d, %s' % (p.returncode, said[:200].encode('unicode_escape').decode())


home = tap.home()
os.chdir(home)
# An allocation that succeeds may leave ENOMEM in errno, which is no reason to call a bad file a lack of memory
shim = '' if faults.watched() else faults.compiled(home, 'allocations.c', '-shared', '-fPIC')[0]
LEAVING = dict(LD_PRELOAD=shim, FAULT_ERRNO='1') if shim else {}
print('# allocations %s an error number' % ('leave' if shim else 'do not leave'))
npy('a.npy', (3, 3), [0.1 * i for i in range(9)])
npzfile.npz('x.npz', x=((3, 4), [0.91 * i - 5.3 for i in range(12)]))
onnxfile.write('m.onnx', onnxfile.graph(
    [onnxfile.node('MatMul', 'x w', 'y', name='fc'), onnxfile.node('Relu', 'y', 'z')],
    [onnxfile.floats('w', [4, 3], [0.37 * i - 1.7 for i in range(12)])],
    [onnxfile.value('x', ['n', 4])], [onnxfile.value('z', ['n', 3])]))
for words in ('train --quiet --policy mixed_float16 %s run' % ONE, 'analyze run --threads 1',
              'baseline run -o base.tsv --reason first'):
    p = tap.halfulp(*words.split())
    if p.returncode:
        tap.bail_out(words + ': ' + p.stderr)
for suffix, lines in READERS.items():
    files = instead(suffix)
    for k, (what, data) in enumerate(WRONG[suffix].items()):
        files.append((what, 'wrong-%d%s' % (k, suffix)))
        open(files[-1][1], 'wb').write(data)
    for line in lines:
        bad = []
        for what, path in files:
            why = wrong_end(line, path)
            bad += ['%s: %s' % (what, why)] if why else []
            shutil.rmtree('new', ignore_errors=True)
        tap.none(bad, '%s: %d files that are none' % (line.split(' --model')[0], len(files)))
for line in RUNS:
    files = instead('')
    if not line.startswith(('analyze', 'report', 'verify', 'allreduce')):
        files = files[1:]       # a folder is none of theirs, or no mistake
    tap.none(['%s: %s' % (what, why) for what, path in files for why in [wrong_end(line, path)] if why],
             '%s: %d that are no run' % (line, len(files)))
open('file', 'w').write('precious')
os.makedirs('full', exist_ok=True)
for line, folder in WRITERS:
    suffix = '.' + line.split('@.')[1].split()[0] if '@.' in line else ''
    line = line.replace('@' + suffix, '@')
    where = [('a file', 'file'), ('below a file', 'file/x')]
    if not folder:
        where = [('below a file', 'file/x' + suffix)]
        if ':part=' not in line:        # whose folder is made
            where.append(('a folder that is not there', 'nowhere/at/all' + suffix))
        where.append(('a folder', 'folder' + suffix))
        os.makedirs('folder' + suffix, exist_ok=True)
        if not os.path.lexists('full' + suffix):
            os.symlink('/dev/full', 'full' + suffix)
        if suffix:
            where.append(('a full device', 'full' + suffix))
    where.append(('a name of 300 bytes', 'n' * 300 + suffix))
    bad = ['%s: %s' % (what, why) for what, path in where for why in [wrong_end(line, path)] if why]
    tap.none(bad, '%s: %d places that take nothing' % (line.split(' --model')[0], len(where)))
tap.ok(not os.path.exists('n'), 'of a path that is too long no folder is made')
tap.ok(open('file').read() == 'precious', 'and what stood there is as it was')
tap.finish()
