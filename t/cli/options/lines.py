# SPDX-License-Identifier: Apache-2.0
# What t-options.py and t-options-idle.py share: files and runs that lines of the tables beside this file use, what is
# observed of a line that runs, which is neither times nor the mere record of its settings, and the names that lines
# begin with.
import hashlib
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCES = os.path.abspath(os.environ.get('srcdir', '.'))
sys.dont_write_bytecode = True
sys.path.insert(0, SOURCES + '/t/tool')
import onnxfile
from npzfile import npz
from tap import HALFULP, bail_out, home as own

home = own()
# What bench cast asks how fast NumPy is: of Python itself the picture would say whether a busy machine let it answer
environment = dict(os.environ, OMP_WAIT_POLICY='passive', HALFULP_RESULTS='', HALFULP_POWERCAP=home + '/powercap',
    PYTHON=home + '/python')


def run(line, cwd=home):
    p = subprocess.run([HALFULP] + shlex.split(line.replace('{h}', home)), cwd=cwd, env=environment,
                       stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


# --- what is observed -------------------------------------------------------------------------------------------------
TIMES = {'products', 'wait_ms', 'samples_per_s', 'gb_s', 'joules', 'joules_per_sample', 'joules_step', 'joules_sample',
         'watts', 'utilisation', 'ratio', 'ns', 'memcpy', 'mpfr', 'python', 'gflops', 'ceiling',
         'share', 'arithmetic_ms', 'memory_ms', 'launch_ms', 'predicted_ms', 'measured_ms', 'limit', 'seconds', 'ran',
         'peak_mb'}
RECORDED = ('threads', 'simd', 'gemm')     # of a manifest: settings that changed what ran, though no number


def timed(name):
    return name in TIMES or name == 'ms' or name.startswith('ms_')


def untimed(j):
    if isinstance(j, dict):
        return {k: untimed(v) if not timed(k) else v is None for k, v in j.items()}
    return [untimed(x) for x in j] if isinstance(j, list) else j


def of_table(text):
    rows = [line.split('\t') for line in text.splitlines() if not line.startswith('#')]
    keep = [i for i, name in enumerate(rows[0]) if not timed(name)] if rows else []
    return [[r[i] for i in keep if i < len(r)] for r in rows]


def of_file(path):
    name = os.path.basename(path)
    if name == 'manifest.json':
        m = json.load(open(path))
        return [m.get('backend'), {k: m.get(k) for k in RECORDED}, m.get('energy', {}).get('meter'),
                'grams_co2' in m.get('energy', {})]
    if name.startswith('program-') or '/checkpoint/' in path:
        return None  # attributes and state are settings too: that a step uses them shows in its digest
    if '/parts/' in path and '/analysis/' not in path:
        return None                        # what a run found has its time
    if name.endswith(('.tsv', '.part')):
        return of_table(open(path).read())
    if name == 's.svg':                    # what calc draws; its last line records the command
        return re.sub(r'>halfulp calc [^<]*<', '', open(path).read())
    if name.endswith(('.json', '.txt', '.gp', '.html', '.svg', '.png')):
        return None
    # A PDF says when it was made
    return hashlib.sha256(re.sub(rb'/CreationDate[^)]*', b'', open(path, 'rb').read())).hexdigest()


def observe(line):
    cwd = tempfile.mkdtemp(dir=home)
    code, out, err = run(line, cwd)
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(cwd) for f in names)
    seen = [(os.path.relpath(f, cwd), of_file(f)) for f in files]
    shutil.rmtree(cwd)
    try:
        out = untimed(json.loads(out))
    except ValueError:
        out = re.sub(r'\(\d+\.\d s\)|[\d.e+-]+ (?=ms a step)|, [\d.e+-]+ of them waiting for data', '', out)
        out = re.sub(r'^Energy: [^(]*', lambda m: re.sub(r'\d[\d.e+-]*', '#', m[0]), out, flags=re.M)
        if re.match(r'bench|compare|doctor|plan.* --device here', line):
            out = out.partition('\n')[0]     # of text with times in its columns, the head
    return (code, out, seen), (code, err.strip())


# --- files that lines use ---------------------------------------------------------------------------------------------
def npy(name, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += ' ' * (117 - len(head)) + '\n'
    with open(os.path.join(home, name), 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)


def idx(folder):
    os.mkdir(os.path.join(home, folder))
    for part, n in (('train', 40), ('t10k', 24)):
        with open(os.path.join(home, folder, part + '-images-idx3-ubyte'), 'wb') as f:
            f.write(struct.pack('>IIII', 0x803, n, 8, 8) + bytes((i * 37 + i // 64) % 256 for i in range(n * 64)))
        with open(os.path.join(home, folder, part + '-labels-idx1-ubyte'), 'wb') as f:
            f.write(struct.pack('>II', 0x801, n) + bytes(i % 10 for i in range(n)))


def prepare():
    os.makedirs(home + '/powercap/intel-rapl:0')
    for name, text in (('name', 'package-0'), ('max_energy_range_uj', '262143328850'), ('energy_uj', '1000')):
        open(home + '/powercap/intel-rapl:0/' + name, 'w').write(text + '\n')
    npy('a.npy', '<f4', (3, 4), struct.pack('<12f', *[0.1 * i - 0.53 for i in range(12)]))
    npy('b.npy', '<f4', (4, 2), struct.pack('<8f', *[0.37 * i + 0.11 for i in range(8)]))
    npy('codes.npy', '<u2', (3, 4), struct.pack('<12H', *[0x3c00 + 77 * i for i in range(12)]))
    npy('terms.npy', '<f4', (40,), struct.pack('<40f', *[0.1 * i for i in range(40)]))
    npy('a2.npy', '<f4', (3, 4), struct.pack('<12f', *[0.1 * i - 0.53 + 1e-5 * (i == 7) for i in range(12)]))
    for name, last in (('m.csv', 3), ('m2.csv', 4)):
        open(home + '/' + name, 'w').write('at,x\n1,2\n2,%d\n' % last)
    open(home + '/rules.txt', 'w').write('*: rel <= 1\n')
    onnxfile.write(home + '/m.onnx', onnxfile.graph([onnxfile.node('Relu', 'x', 'y')], [], [onnxfile.value('x')],
                                                    [onnxfile.value('y')]))
    onnxfile.write(home + '/v.onnx', onnxfile.graph([onnxfile.node('MatMul', 'x w', 'y', name='fc'),
                                                     onnxfile.node('Exp', 'y', 'e')],
                                                    [onnxfile.floats('w', [4, 3], [0.37 * i - 1.7 for i in range(12)])],
                                                    [onnxfile.value('x', ['n', 4])],
                                                    [onnxfile.value('y'), onnxfile.value('e')]))
    onnxfile.write(home + '/v2.onnx', onnxfile.graph([onnxfile.node('MatMul', 'x w', 'y', name='fc'),
                                                      onnxfile.node('Exp', 'y', 'e')],
                                                     [onnxfile.floats('w', [4, 3], [0.3 * i - 1.5 for i in range(12)])],
                                                     [onnxfile.value('x', ['n', 4])],
                                                     [onnxfile.value('y'), onnxfile.value('e')]))
    onnxfile.write(home + '/sums.onnx', onnxfile.graph([onnxfile.node('ReduceSum', 'x', 'y', name='sum')], [],
                                                       [onnxfile.value('x', ['n', 4])], [onnxfile.value('y')]))
    onnxfile.write(home + '/half.onnx', onnxfile.graph([onnxfile.node('Exp', 'x', 'y')], [],
                                                       [onnxfile.value('x', ['n', 4], onnxfile.FLOAT16)],
                                                       [onnxfile.value('y', ['n', 4], onnxfile.FLOAT16)]))
    npy('x.npy', '<f4', (3, 4), struct.pack('<12f', *[0.91 * i - 5.3 for i in range(12)]))
    npy('z34.npy', '<f4', (3, 4), bytes(48))
    npz(home + '/vx.npz', x=((3, 4), [0.91 * i - 5.3 for i in range(12)]))
    npz(home + '/vy.npz', x=((3, 4), [0.41 * i - 2.3 for i in range(12)]))
    npy('v33.npy', '<f4', (3, 3), bytes(36))
    npy('labels.npy', '<i8', (3,), struct.pack('<3q', 0, 1, 2))
    logits = [0.91 * i % 3 for i in range(12)]
    npz(home + '/la.npz', logits=((3, 4), logits), other=((3, 4), logits[::-1]))
    npz(home + '/lb.npz', logits=((3, 4), [x + 0.1 * (i == 7) for i, x in enumerate(logits)]), other=((3, 4), logits))
    with open(home + '/python', 'w') as f:
        f.write('#!/bin/sh\necho 2.5 3.5\n')
    os.chmod(home + '/python', 0o755)
    npz(home + '/labelled.npz', x=((2,), [0.1, 0.2]), y=((2,), [1, 0], '<i8'))
    idx('images')
    open(home + '/s.tsv', 'w').write('good film\t1\nbad film\t0\n' * 10)
    open(home + '/vocab.txt', 'w').write('[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\n')
    for name, more in (('run', ''), ('run2', '--seed 2'), ('ends', '--steps 2 --trace steps=0'),
                       ('weights', '--seed 5'),
                       ('four', '--seed 4'),
                       ('diverged', '--policy float16 --optimizer sgd:lr=1e4 --steps 4 --trace steps=0')):
        steps = STEPS if '--steps' not in more else ''
        traced = ' --trace steps=0,last' if '--trace steps=' not in more else ''
        code, _, err = run('train %s %s {h}/%s' % (TRAIN + steps + traced, more, name))
        if code:
            bail_out(err)
    code, _, err = run('train --model gpt:layers=1,hidden=16,heads=2,inner=32 --data eval=16 --batch 4 --quiet '
                       '--steps 1 --trace steps=0 {h}/words')
    code |= run('train --model gpt:layers=1,hidden=16,heads=2,inner=32,experts=8 --data eval=16 --batch 16 --quiet '
                '--steps 1 --trace steps=0 {h}/moe')[0]
    if code:
        bail_out(err)
    for name in ('run', 'run2', 'diverged'):
        run('analyze {h}/' + name)
    run('baseline {h}/run -o {h}/base.tsv --reason test')
    run('baseline {h}/run {h}/run2 {h}/weights {h}/four -o {h}/scores.tsv --reason test --score loss')
    for name in ('kept1', 'kept2'):
        os.makedirs(home + '/' + name)
        open(home + '/' + name + '/history.tsv', 'w').write('commit\tdate\tquantity\tvalue\n%s\t-\tx\t1\n' % name)
    for i, name in enumerate(('one', 'two'), 1):
        run('analyze {h}/run --only state --shard %d/2:part={h}/%s.part' % (i, name))
    for i, name in enumerate(('run', 'run2'), 1):
        shutil.copytree(home + '/' + name, '%s/run-%d' % (home, i))


# --- names that stand in the tables for lines, of which the first word is the command ---------------------------------
TRAIN = '--model mlp:width=0.05 --data size=8,train=48 --data eval=16 --batch 16 --quiet'
STEPS = ' --steps 3'
MODEL = '--model mlp:width=0.05 --data size=8'
T = 'train --model width=0.05 --data eval=16 --quiet --steps 3 --trace steps=none --data train=48 --batch 16 '
TS = T + '--data size=8 '
DYNAMIC = TS + '--policy mixed_float16 '
OVER = DYNAMIC + '--loss-scale init=2^100 '     # overflows
P = 'plan --model width=0.05 --data size=8 '
PP = P + '--program '
PM = 'plan --model width=0.05 --device measure=2 --device here '
BC = 'bench cast --sizes 1 --trials 1 --no-python --format fp16 --mode RNE --op round --backend simd=scalar --json '
BG = 'bench gemm --sizes 8 --trials 1 --format fp32 --json '
BT = 'bench train --model width=0.05 --data size=8 --batch 16 --steps 2 --steps warm=1 --meter none --json '
BD = BT + '--policy mixed_float16 '
BW = 'bench why --device v100 --batch 16 --policy float32 --model width=0.05 --json '
C = ('compare --model width=0.05 --data size=8,train=48 --data eval=16 --batch 16 --steps 2 '
     '--policy float32,mixed_float16 ')
CT = C.replace('--data size=8,train=48 --data eval=16 ', '')
TEXT = '--model bert:layers=1,hidden=4,heads=2 --data length=14 --batch 4 '
TB = 'bench train --steps 1 --steps warm=1 --meter none --policy float32 --json ' + TEXT
TC = 'compare --steps 1 --policy float32 --data train=8,eval=4 ' + TEXT
TP = 'plan ' + TEXT
TT = 'train --quiet --steps 1 --trace steps=none --data train=8,eval=4 ' + TEXT
GPT = TEXT.replace('bert', 'gpt')
GB = TB.replace(TEXT, GPT)
GC = TC.replace(TEXT, GPT)
GP = TP.replace(TEXT, GPT)
GT = TT.replace(TEXT, GPT)
NCF = '--model ncf:layers=1,hidden=2 --batch 4 '
NB = TB.replace(TEXT, NCF)
NC = TC.replace(TEXT, NCF)
NP = TP.replace(TEXT, NCF)
NT = TT.replace(TEXT, NCF)
A = 'analyze '                             # on a copy of a run: see copies()


def rows(table):
    """The rows of a table, each a list of its cells; a line that ends in a backslash goes on in the next."""
    text = open(SOURCES + '/t/cli/options/' + table).read().replace('\\\n', '')
    return [[x.strip() for x in line.split('|')] for line in text.splitlines() if line[:1] != '#']


def expand(text):
    """A name of the tables, with what is replaced in it, is the line that it stands for; of options given twice
    the last counts."""
    m = re.match(r"([A-Z]+)((?:\.replace\('[^']*', '[^']*'\))*)", text)
    if m and m.group(1) in globals():
        return eval(m.group(0)) + text[m.end():]  # the tables of this file, nothing else
    return text


copies = 0


def copied(line):
    """{run}: a copy of the run, so that the first of two lines leaves nothing to the second."""
    global copies
    if '{run}' not in line:
        return line, None
    copies += 1
    where = '%s/copy%d' % (home, copies)
    shutil.copytree(home + ('/run'), where)
    if not line.startswith('report') and os.path.isdir(where + '/analysis'):
        shutil.rmtree(where + '/analysis')
    return line.replace('{run}', where), where


def observed(line):
    line, where = copied(line)
    seen, how = observe(line)
    if where:
        files = sorted(os.path.join(d, n) for d, _, names in os.walk(where) for n in names)
        seen = (json.loads(json.dumps(seen).replace(where, 'RUN')),
                [(os.path.relpath(f, where), of_file(f)) for f in files])
        shutil.rmtree(where)
    return seen, how
