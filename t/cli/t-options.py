# SPDX-License-Identifier: Apache-2.0
# Every option of every command has an effect or is refused. A row an option: the line it is added to, and itself with a
# value; what the program prints and writes, without times and without the mere record of its settings, must change. An
# option of --help without a row fails, and so does a key of an option, whose row is named OPTION:KEY. A second table has lines on which an option has no effect: each is refused, exit
# 2, in one line that names the option.
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
from tap import HALFULP, bail_out, finish, home as own, ok, skip

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
    code, _, err = run('train --model gpt:layers=1,hidden=16,heads=2,inner=32 --data eval=16 --batch 4 --quiet --steps 1 '
                       '--trace steps=0 {h}/words')
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
        run('analyze {h}/run --only state --shard %d/2 --part {h}/%s.part' % (i, name))
    for i, name in enumerate(('run', 'run2'), 1):
        shutil.copytree(home + '/' + name, '%s/run-%d' % (home, i))


# --- the tables -------------------------------------------------------------------------------------------------------
TRAIN = '--model mlp:width=0.05 --data size=8,train=48 --data eval=16 --batch 16 --quiet'
STEPS = ' --steps 3'
MODEL = '--model mlp:width=0.05 --data size=8'
T = 'train --model width=0.05 --data eval=16 --quiet --steps 3 --trace steps=none --data train=48 --batch 16 '   # and what a row adds
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
C = 'compare --model width=0.05 --data size=8,train=48 --data eval=16 --batch 16 --steps 2 --policy float32,mixed_float16 '
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

# command option | line without it | it
EFFECT = '''
bench all-reduce:wire | BT --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=bf16
bench all-reduce:scale | BT --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,scale=2^4
bench all-reduce:feedback | BT --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,feedback
compare all-reduce:wire | C --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=bf16
compare all-reduce:scale | C --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,scale=2^4
compare all-reduce:feedback | C --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,feedback
plan all-reduce:wire | PP --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=bf16
plan all-reduce:scale | PP --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,scale=2^4
plan all-reduce:feedback | PP --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce ring:4,wire=e4m3,feedback
train all-reduce:wire | TS --batch micro=4 --all-reduce ring:4,wire=e4m3 R | --all-reduce ring:4,wire=bf16
train all-reduce:scale | TS --batch micro=4 --all-reduce ring:4,wire=e4m3 R | --all-reduce ring:4,wire=e4m3,scale=2^4
train all-reduce:feedback | TS --batch micro=4 --all-reduce ring:4,wire=e4m3 R | --all-reduce ring:4,wire=e4m3,feedback
bench optimizer:update | BT --policy bfloat16 | --optimizer update=sr
bench optimizer:state | BT --policy bfloat16 | --optimizer state=e5m2
bench optimizer:constants | BT --policy bfloat16 --optimizer adam | --optimizer adam:constants=double
bench optimizer:iterate | BT --policy bfloat16 --optimizer muon | --optimizer muon:iterate=e5m2
compare optimizer:update | C --policy bfloat16 | --optimizer update=sr
compare optimizer:state | C --policy bfloat16 | --optimizer state=e5m2
compare optimizer:constants | C --policy bfloat16 --optimizer adam | --optimizer adam:constants=double
compare optimizer:iterate | C --policy bfloat16 --optimizer muon | --optimizer muon:iterate=e5m2
plan optimizer:update | PP --policy bfloat16 | --optimizer update=sr
plan optimizer:state | P --policy bfloat16 | --optimizer state=e5m2
plan optimizer:constants | PP --policy bfloat16 --optimizer adam | --optimizer adam:constants=double
plan optimizer:iterate | PP --policy bfloat16 --optimizer muon | --optimizer muon:iterate=e5m2
train optimizer:update | TS --policy bfloat16 R | --optimizer update=sr
train optimizer:state | TS --policy bfloat16 R | --optimizer state=e5m2
train optimizer:constants | TS --policy bfloat16 --optimizer adam R | --optimizer adam:constants=double
train optimizer:iterate | TS --policy bfloat16 --optimizer muon R | --optimizer muon:iterate=e5m2
accumulate terms | accumulate --n 10 | --terms ones
accumulate terms:times | accumulate --n 10 | --terms times=harmonic
accumulate terms:start | accumulate --n 10 | --terms start=3
accumulate n | accumulate --format fp16 | --n 20
accumulate format | accumulate --n 10 | --format fp16
accumulate sum | accumulate --n 10 | --sum kahan
accumulate seed | accumulate --n 10 --terms uniform:0,1 | --seed 9
accumulate seeds | accumulate --n 10 --terms uniform:0,1 | --seeds 3
accumulate table | accumulate --n 10 | --table
accumulate every | accumulate --n 10 --table | --every 3
accumulate json | accumulate --n 10 | --json
judge in | judge softmax --got {h}/a.npy --in x={h}/x.npy | --in x={h}/a.npy
judge data | judge {h}/v.onnx --data {h}/vx.npz --got e={h}/v33.npy | --data {h}/vy.npz
judge got | judge softmax --in x={h}/x.npy --got {h}/a.npy | --got y={h}/x.npy
judge given | judge 'h = exp(x); y = neg(h)' --in x={h}/x.npy --got {h}/a.npy | --given h={h}/a.npy
judge set | judge softmax --in x={h}/x.npy --got {h}/a.npy | --set out=bf16
judge bits | judge 'y = relu(x)' --in x={h}/x.npy --got {h}/codes.npy --set out=fp16 | --bits
judge confidence | judge softmax --in x={h}/x.npy --got {h}/a.npy --json | --confidence 0.9
judge fail-if | judge 'h = store(x, to=bf16); y = scale(h, k=1)' --in x={h}/x.npy --got {h}/x.npy | --fail-if undeclared
judge make | judge softmax --make m | --make n
judge with | judge rmsnorm --make m | --with w
judge sample | judge softmax --in x={h}/x.npy --got {h}/a.npy | --sample 2
judge seed | judge softmax --make m | --seed 3
judge no-culprit | judge softmax --in x={h}/x.npy --got {h}/z34.npy | --no-culprit
judge sum | judge softmax --in x={h}/x.npy --got {h}/a.npy | --sum all
judge exact | judge softmax --in x={h}/x.npy --got {h}/a.npy | --exact e.npy
judge bound | judge softmax --in x={h}/x.npy --got {h}/a.npy | --bound e.npy
judge json | judge softmax --in x={h}/x.npy --got {h}/a.npy | --json
allreduce ranks | allreduce {h}/terms.npy | --ranks 8
allreduce all-reduce | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=bf16 | --all-reduce halving
allreduce all-reduce:wire | allreduce {h}/terms.npy --ranks 64 | --all-reduce wire=e4m3
allreduce all-reduce:acc | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=bf16 | --all-reduce acc=fp16
allreduce all-reduce:divide | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=fp16 | --all-reduce divide=before
allreduce all-reduce:scale | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=fp16 | --all-reduce scale=2^20
allreduce ranks:from | allreduce {h}/a.npy {h}/x.npy --ranks 64 --all-reduce wire=bf16 | --ranks from=normal
allreduce sample | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=bf16 | --sample 3
allreduce seed | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=bf16 --sample 3 | --seed 7
allreduce tolerance | allreduce {h}/terms.npy --ranks 64 --all-reduce wire=e4m3 | --tolerance 0
allreduce steps | allreduce {h}/terms.npy --ranks 64 | --steps 3
allreduce all-reduce:feedback | allreduce {h}/terms.npy --ranks 64 --steps 3 | --all-reduce feedback
allreduce threads | allreduce {h}/terms.npy --ranks 64 | --threads -1
allreduce table | allreduce {h}/terms.npy --ranks 64 | --table
allreduce json | allreduce {h}/terms.npy --ranks 64 | --json
analyze only | analyze {run} | --only replay
analyze accumulate | analyze {run} --only accumulate-what-if | --accumulate chunk:2
analyze sample | analyze {run} --only replay | --sample 2
analyze seed | analyze {run} --only replay --sample 2 | --seed 7
analyze steps | analyze {run} --only replay | --steps 0
analyze engine | analyze {run} --only replay --json --no-propagate | --engine none-such
analyze lost | analyze {run} --only loss-scale | --lost 0.5
analyze no-propagate | analyze {run} --only replay | --no-propagate
analyze elements | analyze {run} --only replay | --elements e.tsv
analyze out | analyze {run}/program-train.json {run}/trace/step-000000.safetensors --only replay --out one | --out two
analyze shard | analyze {run} --only replay --json | --shard 1/2
analyze part | analyze {run} --only replay --shard 1/2 --json | --part one.part
analyze resume | analyze {run} --only replay --shard 1/2 --part {run}/metrics.tsv --json | --resume
analyze threads | analyze {run} --only replay | --threads -1
analyze json | analyze {run} | --json
bench format | bench cast --sizes 1 --trials 1 --no-python --op round --backend simd=scalar --mode RNE --json \
| --format bf16
bench mode | bench cast --sizes 1 --trials 1 --no-python --op round --backend simd=scalar --format fp16 --json \
| --mode RZ
bench op | bench cast --sizes 1 --trials 1 --no-python --mode RNE --backend simd=scalar --format fp16 --json \
| --op pack
bench backend:simd | bench train --model width=0.05 --data size=8 --batch 16 --steps 2 --steps warm=1 --meter none --policy float32 --json \
| --backend simd=none-such
bench trials | bench cast --sizes 1 --no-python --mode RNE --backend simd=scalar --format fp16 --op round --json \
| --trials 0
bench threads | BC | --threads -1
bench no-python | bench cast --sizes 1 --trials 1 --mode RNE --backend simd=scalar --format fp16 --op round --json \
| --no-python
bench sizes | bench gemm --trials 1 --format fp32 --json --sum fma | --sizes 8
bench sum | BG | --sum chunk:4
bench backend | BG | --backend shim
bench backend:gemm | BG --backend shim | --backend gemm=simt
bench policy | BT | --policy float32
bench seeds | BT | --seeds 5
bench backend:fuse | BT --backend shim | --backend fuse=maybe
bench backend:graph | BT --backend shim | --backend graph=maybe
bench steps | bench train --model width=0.05 --data size=8 --batch 16 --meter none --json | --steps 3
bench steps:warm | BT.replace('--steps warm=1 ', '') | --steps warm=4
bench memory | BT | --memory 10
bench meter | BT.replace('--meter none ', '') | --meter nvml
bench by | BW | --by call
bench device | bench why --batch 16 --model width=0.05 --policy float32 --json | --device a100
bench published | bench train --json | --published
bench shard | BW | --shard 1/2
bench part | BW --shard 1/2 | --part one.part
bench resume | BW --shard 1/2 --part {run}/metrics.tsv | --resume
bench model | BT | --model convnet
bench model:width | BT | --model width=0.1
bench model:preset | BT | --model preset=resnet18
bench model:depth | BT --model resnet | --model depth=10
bench model:stem | BT --model resnet:depth=10 | --model stem=imagenet
bench model:levels | BT --model unet | --model levels=1
bench model:dropout | BT | --model dropout=0.5
bench loss:ignore_index | BT | --loss ignore_index=3
bench loss | BT | --loss dice
bench loss:temperature | BT --loss nt-xent | --loss temperature=2
bench loss:label_smoothing | BT | --loss label_smoothing=0.2
bench data:classes | BT --data scenes | --data classes=11
bench model:preset | TB | --model preset=bert-tiny,vocabulary=100
bench model:layers | TB | --model layers=2
bench model:hidden | TB | --model hidden=8
bench model:heads | TB | --model heads=4
bench model:flash | GB | --model flash=4
bench model:experts | GB | --model experts=3
bench model:top_k | GB --model experts=3 | --model top_k=1
bench model:inner | TB | --model inner=6
bench model:vocabulary | TB | --model vocabulary=70
bench model:positions | TB | --model positions=20
bench data:length | TB | --data length=15
bench data:word_pieces | TB --data tsv:{h}/s.tsv | --data word_pieces={h}/vocab.txt
bench data:users | NB | --data users=5
bench data:items | NB | --data items=130
bench data | BT.replace('--data size=8 ', '') | --data idx:{h}/images
bench data:size | BT | --data size=9
bench data:channels | BT | --data channels=2
bench data:train | BT | --data train=40
bench data:eval | BT --seeds 1 | --data eval=9
bench data:seed | BT | --data seed=4
bench data:split | BT.replace('--data size=8 ', '--data idx:{h}/images ') | --data split=20
bench batch | BT | --batch 8
bench optimizer | BT | --optimizer sgd
bench optimizer:lr | BT | --optimizer lr=0.5
bench schedule | BT | --schedule cosine
bench schedule:warmup | BT | --schedule warmup=2
bench schedule:steps | BT --schedule cosine | --schedule steps=2
bench schedule:rate | BT --schedule step:steps=1 | --schedule rate=0.5
bench schedule:end | BT --schedule linear | --schedule end=0.5
bench optimizer:momentum | BT --optimizer sgd | --optimizer momentum=0.5
bench optimizer:weight_decay | BT | --optimizer weight_decay=0.5
bench optimizer:beta1 | BT | --optimizer beta1=0.5
bench optimizer:beta2 | BT | --optimizer beta2=0.5
bench optimizer:eps | BT | --optimizer eps=0.5
bench optimizer:clip_norm | BT | --optimizer clip_norm=0.01
bench batch:micro | BT | --batch micro=4
bench all-reduce | BT --batch micro=4 | --all-reduce ring:4,wire=e4m3
bench all-reduce:divide | BT --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce divide=after
bench optimizer:ema | BT | --optimizer ema=0.5
bench optimizer:clip_value | BT | --optimizer clip_value=0.001
bench optimizer:no_decay | BT --optimizer weight_decay=0.5 | --optimizer no_decay=*
bench loss-scale | BD | --loss-scale static:8
bench loss-scale:init | BD | --loss-scale init=2^60
bench loss-scale:growth | BD --loss-scale interval=1 | --loss-scale growth=8
bench loss-scale:backoff | BD --loss-scale init=2^100 | --loss-scale backoff=0.25
bench loss-scale:interval | BD | --loss-scale interval=1
bench loss-scale:floor | BD --loss-scale init=2^100 | --loss-scale floor=2^100
bench loss-scale:cap | BD | --loss-scale cap=2
bench loss-scale:hysteresis | BD --loss-scale deepspeed:init=2^100 | --loss-scale hysteresis=1
bench loss:weight | BD | --loss weight=3
bench accumulate | BT | --accumulate fma,acc=fp16
bench reductions | BT | --reductions sequential,acc=bf16
bench out | BG | -o t.tsv
bench json | BG.replace('--json', '') | --json
calc format | calc 1/3 | --format e4m3
calc sum | calc 'sum(1, 2^-11, 2^-11, 2^-11)' --format fp16 | --sum pairwise
calc mode | calc 1/3 | --mode RU
calc seed | calc 'sum(0.101, 0.203, 0.307, 0.33, 0.37, 0.71)' --mode SR --format e4m3 | --seed 4
calc mode:random_bits | calc 0.101 0.203 0.307 0.33 0.37 0.71 0.81 --mode SR --format e4m3 | --mode random_bits=1
calc bits | calc 0x3c00 --format fp16 | --bits
calc mode:saturate | calc 70000*2 --format fp16 | --mode saturate
calc mode:ftz | calc 2^-20*3 --format fp16 | --mode ftz
calc mode:daz | calc 2^-20*3 --format fp16 | --mode daz
calc vary | calc 1+x --json | --vary x=1..2:3
calc explain | calc 1+2^-11 | --explain
calc out | calc 1+2^-11 | -o s.svg
calc step | calc 1+2^-11 -o s.svg | --step
calc style | calc 1+2^-11 -o s.svg | --style talk
calc json | calc 1+2 | --json
baseline out | baseline {h}/a.npy -o b.npy | --out c.npy
baseline reason | baseline {h}/run -o b.tsv | --reason x
baseline ulps | baseline {h}/run -o b.tsv --reason x | --ulps 3
baseline allow-nonfinite | baseline {h}/diverged -o b.tsv --reason x | --allow-nonfinite
baseline statistics | baseline {h}/run -o b.tsv --reason x | --statistics
baseline score | baseline {h}/run {h}/run2 {h}/weights -o b.tsv --reason x | --score loss
gate baseline | gate {h}/run | --baseline {h}/base.tsv
gate format | gate --baseline {h}/base.tsv {h}/run | --format junit
gate out | gate --baseline {h}/base.tsv {h}/run | -o junit=j.txt
gate out | gate --baseline {h}/base.tsv {h}/run | -o tap=t.txt
gate out | gate --baseline {h}/base.tsv {h}/run | -o sarif=q.sarif
gate out | gate --baseline {h}/base.tsv {h}/run | -o gitlab=q.json
gate out | gate --baseline {h}/base.tsv {h}/run | -o summary=s.txt
gate runs | gate --baseline {h}/scores.tsv {h}/run | --runs 2
gate history | gate --baseline {h}/base.tsv {h}/run | --history h
gate quiet | gate --baseline {h}/base.tsv {h}/run | --quiet
check baseline | check {h}/run | --baseline {h}/base.tsv
check format | check {h}/run --baseline {h}/base.tsv | --format junit
check history | check {h}/run --baseline {h}/base.tsv | --history h
check json | check {h}/run --baseline {h}/base.tsv | --json
check tap | check {h}/run --baseline {h}/base.tsv | --tap
check olympic | check {h}/run {h}/run2 {h}/weights {h}/four --baseline {h}/scores.tsv | --olympic
check rule | check {h}/a2.npy --baseline {h}/a.npy | --rule 'arr*: rel <= 1'
check step | check {h}/m2.csv --baseline {h}/m.csv | --step at
compare policy | C.replace('--policy float32,mixed_float16 ', '') | --policy float32
compare seeds | C | --seeds 2
compare analyze | C | --analyze
compare model | C | --model convnet
compare model:width | C | --model width=0.1
compare model:preset | C | --model preset=resnet18
compare model:depth | C --model resnet | --model depth=10
compare model:stem | C --model resnet:depth=10 | --model stem=imagenet
compare model:levels | C --model unet | --model levels=1
compare model:dropout | C | --model dropout=0.5
compare loss:ignore_index | C | --loss ignore_index=3
compare loss | C | --loss dice
compare loss:temperature | C --loss nt-xent --augment noise | --loss temperature=2
compare loss:label_smoothing | C | --loss label_smoothing=0.2
compare data:classes | C --data scenes | --data classes=11
compare model:preset | TC | --model preset=bert-tiny,vocabulary=100
compare model:layers | TC | --model layers=2
compare model:hidden | TC | --model hidden=8
compare model:heads | TC | --model heads=4
compare model:flash | GC | --model flash=4
compare model:experts | GC | --model experts=3
compare model:top_k | GC --model experts=3 | --model top_k=1
compare model:inner | TC | --model inner=6
compare model:vocabulary | TC | --model vocabulary=70
compare model:positions | TC | --model positions=20
compare data:length | TC | --data length=15
compare data:word_pieces | TC.replace('--data train=8,eval=4 ', '') --data tsv:{h}/s.tsv | --data word_pieces={h}/vocab.txt
compare data:users | NC | --data users=5
compare data:items | NC | --data items=130
compare data | CT | --data idx:{h}/images
compare data:size | C | --data size=9
compare data:channels | C | --data channels=2
compare data:train | C.replace('--data train=48 ', '') | --data train=32
compare data:eval | C.replace('--data eval=16 ', '') | --data eval=24
compare data:seed | C | --data seed=4
compare data:split | CT --data idx:{h}/images | --data split=20
compare batch | C | --batch 8
compare optimizer | C | --optimizer sgd
compare optimizer:lr | C | --optimizer lr=0.5
compare schedule | C | --schedule cosine
compare schedule:warmup | C | --schedule warmup=2
compare schedule:steps | C --schedule cosine | --schedule steps=1
compare schedule:rate | C --schedule step:steps=1 | --schedule rate=0.5
compare schedule:end | C --schedule linear | --schedule end=0.5
compare optimizer:momentum | C --optimizer sgd | --optimizer momentum=0.5
compare optimizer:weight_decay | C | --optimizer weight_decay=0.5
compare optimizer:beta1 | C | --optimizer beta1=0.5
compare optimizer:beta2 | C | --optimizer beta2=0.5
compare optimizer:eps | C | --optimizer eps=0.5
compare optimizer:clip_norm | C | --optimizer clip_norm=0.01
compare batch:micro | C | --batch micro=4
compare all-reduce | C --batch micro=4 | --all-reduce ring:4,wire=e4m3
compare all-reduce:divide | C --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce divide=after
compare optimizer:ema | C | --optimizer ema=0.5
compare optimizer:clip_value | C | --optimizer clip_value=0.001
compare optimizer:no_decay | C --optimizer weight_decay=0.5 | --optimizer no_decay=*
compare loss-scale | C | --loss-scale static:2^60
compare loss-scale:init | C | --loss-scale init=2^60
compare loss-scale:growth | C --loss-scale interval=1 | --loss-scale growth=2^40
compare loss-scale:backoff | C --loss-scale init=2^100 | --loss-scale backoff=2^-50
compare loss-scale:interval | C | --loss-scale interval=1
compare loss-scale:floor | C --loss-scale init=2^100 | --loss-scale floor=2^100
compare loss-scale:cap | C | --loss-scale cap=2
compare loss-scale:hysteresis | C --loss-scale deepspeed:init=2^100 | --loss-scale hysteresis=1
compare loss:weight | C | --loss weight=3
compare accumulate | C | --accumulate fma,acc=fp16
compare reductions | C | --reductions sequential,acc=bf16
compare epochs | C.replace('--steps 2 ', '') | --epochs 1
compare steps | C | --steps 3
compare augment | C | --augment noise:0.3
compare init | C | --init {h}/weights/checkpoint/step-000003.safetensors
compare backend | C | --backend shim
compare backend:gemm | C --backend shim | --backend gemm=simt
compare backend:fuse | C --backend shim | --backend fuse=off
compare backend:graph | C --backend shim | --backend graph=maybe
compare trace:steps | C | --trace steps=0
compare trace | C --trace steps=0 | --trace dense1.w
compare trace:cap | C --trace steps=0 | --trace cap=10
compare count | C | --count *
compare checkpoint-every | C | --checkpoint-every 1
compare threads | C | --threads 3
compare backend:simd | C | --backend simd=scalar
compare json | C | --json
compare shard | C.replace('--policy float32,mixed_float16 ', '--policy float32') c --json | --shard 1/2
compare part | C.replace('--policy float32,mixed_float16 ', '--policy float32') --shard 1/2 c --json \
| --part one.part
compare resume \
| C.replace('--policy float32,mixed_float16 ', '--policy float32') --shard 1/2 --part {h}/compare.part c --json \
| --resume
diff all | diff {h}/run {h}/run2 | --all
diff step | diff {h}/m.csv {h}/m2.csv | --step at
diff json | diff {h}/run {h}/run2 | --json
doctor json | doctor | --json
figures list | figures | --list
figures out | figures swamped-addend | --out there
figures style | figures swamped-addend --out there | --style none-such
figures format | figures swamped-addend --out there | --format svg
figures width | figures swamped-addend --out there | --width none-such
figures lean | figures swamped-addend --out there | --lean
figures json | figures swamped-addend --list | --json
formats mode | formats pi | --mode RU
formats table | formats | --table tsv
formats json | formats | --json
inspect to | inspect {h}/a.npy | --to e5m2
inspect out | inspect {h}/a.npy | -o t.tsv
inspect json | inspect {h}/a.npy | --json
inspect axis | inspect {h}/a.npy --to mxfp4 | --axis 0
inspect tensors | inspect {h}/run/trace/step-000000.safetensors | --tensors dense1.*
inspect best-scale | inspect {h}/a.npy | --best-scale
inspect totals | inspect {h}/a.npy | --totals
inspect show | inspect {h}/a.npy | --show elements<0
inspect sort | inspect {h}/a.npy | --sort sqnr_db
inspect sort:reverse | inspect {h}/a.npy --sort sqnr_db | --sort reverse
inspect fail-if | inspect {h}/a.npy | --fail-if elements>0
inspect tap | inspect {h}/a.npy --fail-if elements>0 | --tap
inspect threads | inspect {h}/a.npy | --threads -1
merge list | merge {h}/one.part {h}/two.part | --list
merge json | merge --list {h}/one.part {h}/two.part | --json
op in | op relu | --in a={h}/a.npy
op set | op relu --in a={h}/a.npy | --set in=e4m3
op sum | op matmul --in a={h}/a.npy --in b={h}/b.npy | --sum fma,acc=fp16
op as | op matmul --in a={h}/a.npy --in b={h}/b.npy | --as bound
op as:gemm | op matmul --in a={h}/a.npy --in b={h}/b.npy --as shim | --as gemm=mma
op result | op maxpool --in a={h}/a.npy | --result 1
op out | op relu --in a={h}/a.npy | --out d.npy
op packed | op relu --in a={h}/a.npy --out d.npy --set out=bf16 | --packed
op got | op relu --in a={h}/a.npy | --got {h}/a.npy
op bits | op relu --in a={h}/codes.npy --set in=fp16 | --bits
op seed | op matmul --in a={h}/a.npy --in b={h}/b.npy --sum fma,acc=e4m3,mode=SR | --seed 1
op confidence | op matmul --in a={h}/a.npy --in b={h}/b.npy --as bound | --confidence 0.5
op json | op relu --in a={h}/a.npy | --json
plan model | P | --model convnet
plan model:width | P | --model width=0.1
plan model:preset | P | --model preset=resnet18
plan model:depth | P --model resnet | --model depth=10
plan model:stem | P --model resnet:depth=10 | --model stem=imagenet
plan model:levels | P --model unet | --model levels=1
plan model:dropout | PP | --model dropout=0.5
plan loss:ignore_index | PP | --loss ignore_index=3
plan loss | PP | --loss dice
plan loss:temperature | PP --loss nt-xent | --loss temperature=2
plan loss:label_smoothing | PP | --loss label_smoothing=0.2
plan data:classes | P --data scenes | --data classes=11
plan model:preset | TP | --model preset=bert-tiny,vocabulary=100
plan model:layers | TP | --model layers=2
plan model:hidden | TP | --model hidden=8
plan model:heads | TP | --model heads=4
plan model:flash | GP | --model flash=4
plan model:experts | GP | --model experts=3
plan model:top_k | GP --model experts=3 | --model top_k=1
plan model:inner | TP | --model inner=6
plan model:vocabulary | TP | --model vocabulary=70
plan model:positions | TP | --model positions=20
plan data:length | TP | --data length=15
plan data:word_pieces | TP --data tsv:{h}/s.tsv | --data word_pieces={h}/vocab.txt
plan data:users | NP | --data users=5
plan data:items | NP | --data items=130
plan data | P.replace('--data size=8 ', '') | --data idx:{h}/images
plan data:size | P | --data size=9
plan data:channels | P | --data channels=2
plan data:train | PM | --data train=3
plan data:eval | PM | --data eval=0
plan data:seed | PM | --data seed=-1
plan data:split | PM --batch 8 --data idx:{h}/images | --data split=100000
plan batch | P | --batch 8
plan optimizer | P | --optimizer sgd
plan optimizer:lr | PP | --optimizer lr=0.5
plan schedule | PP | --schedule cosine
plan schedule:warmup | PP | --schedule warmup=2
plan schedule:steps | PP --schedule cosine | --schedule steps=2
plan schedule:rate | PP --schedule step:steps=1 | --schedule rate=0.5
plan schedule:end | PP --schedule linear | --schedule end=0.5
plan optimizer:momentum | P --optimizer sgd | --optimizer momentum=0.5
plan optimizer:weight_decay | PP | --optimizer weight_decay=0.5
plan optimizer:beta1 | PP | --optimizer beta1=0.5
plan optimizer:beta2 | PP | --optimizer beta2=0.5
plan optimizer:eps | PP | --optimizer eps=0.5
plan optimizer:clip_norm | P | --optimizer clip_norm=0.01
plan batch:micro | PP | --batch micro=4
plan all-reduce | PP --batch micro=4 | --all-reduce ring:4,wire=e4m3
plan all-reduce:divide | PP --batch micro=4 --all-reduce ring:4,wire=e4m3 | --all-reduce divide=after
plan optimizer:ema | P | --optimizer ema=0.5
plan optimizer:clip_value | P | --optimizer clip_value=0.001
plan optimizer:no_decay | PP | --optimizer no_decay=*
plan loss-scale | P | --loss-scale dynamic
plan loss-scale:init | PM --policy mixed_float16 | --loss-scale init=0
plan loss-scale:growth | PP --policy mixed_float16 | --loss-scale growth=8
plan loss-scale:backoff | PP --policy mixed_float16 | --loss-scale backoff=0.25
plan loss-scale:interval | PP --policy mixed_float16 | --loss-scale interval=1
plan loss-scale:floor | PP --policy mixed_float16 | --loss-scale floor=2
plan loss-scale:cap | PP --policy mixed_float16 | --loss-scale cap=2^20
plan loss-scale:hysteresis | PP --policy mixed_float16 --loss-scale deepspeed | --loss-scale hysteresis=1
plan loss:weight | PP | --loss weight=3
plan accumulate | P | --accumulate fma,acc=fp16
plan reductions | P | --reductions sequential,acc=bf16
plan policy | P | --policy mixed_float16
plan list | P.replace(' --model width=0.05 --data size=8', '') | --policy
plan by | P | --by call
plan device | P | --device v100
plan device:measure | P --device here | --device measure=0
plan memory | P | --memory 1MB
plan ranks | P | --ranks 8
plan ranks:wire | P --ranks 8 | --ranks wire=bf16
plan ranks:network | P --ranks 8 | --ranks network=eth10
plan ranks:measured | P --ranks 8 | --ranks measured={h}/run
plan program | P | --program
plan json | P | --json
probe model | probe | --model tc:volta
probe backend | probe --model tc:ampere,in=bf16 | --backend shim
probe sample | probe --model tc:ampere,in=bf16 --backend shim | --sample 5
probe seed | probe --model tc:ampere,in=bf16 --backend shim --sample 5 | --seed -1
probe out | probe --model tc:ampere,in=bf16 --backend shim | -o t.tsv
probe json | probe | --json
report out | report {run} | --out there
report format | report {run} --json | --format svg
report width | report {run} --json --format tex | --width column
report history | report --json --history {h}/kept1 | --history {h}/kept2
report json | report {run} | --json
round format | round 0.1 | --format bf16
round mode | round 0.1 | --mode RU
round seed | round 0.1 0.2 0.3 --format e4m3 --mode SR | --seed 4
round mode:random_bits | round 0.101 0.203 0.307 0.33 0.37 0.71 0.81 --format e4m3 --mode SR | --mode random_bits=1
round bits | round 0x3c00 | --bits
round mode:saturate | round 70000 | --mode saturate
round mode:ftz | round 1e-7 | --mode ftz
round mode:daz | round 1e-7 | --mode daz
round json | round 0.1 | --json
train model | TS R | --model convnet
train model:width | TS R | --model width=0.1
train model:preset | TS R | --model preset=resnet18
train model:depth | TS --model resnet R | --model depth=10
train model:stem | TS --model resnet:depth=10 R | --model stem=imagenet
train model:levels | TS --model unet R | --model levels=1
train model:dropout | TS R | --model dropout=0.5
train loss:ignore_index | TS R | --loss ignore_index=3
train loss | TS R | --loss dice
train loss:temperature | TS R --loss nt-xent --augment noise | --loss temperature=2
train loss:label_smoothing | TS R | --loss label_smoothing=0.2
train data:classes | TS --data scenes R | --data classes=11
train model:preset | TT R | --model preset=bert-tiny,vocabulary=100
train model:layers | TT R | --model layers=2
train model:hidden | TT R | --model hidden=8
train model:heads | TT R | --model heads=4
train model:flash | GT R | --model flash=4
train model:experts | GT R | --model experts=3
train model:top_k | GT R --model experts=3 | --model top_k=1
train model:inner | TT R | --model inner=6
train model:vocabulary | TT R | --model vocabulary=70
train model:positions | TT R | --model positions=20
train data:length | TT R | --data length=15
train data:word_pieces | TT.replace('--data train=8,eval=4 ', '') --data tsv:{h}/s.tsv R | --data word_pieces={h}/vocab.txt
train data:users | NT R | --data users=5
train data:items | NT R | --data items=130
train data | T.replace('--data train=48 ', '').replace('--data eval=16 ', '') R | --data idx:{h}/images
train data:size | T R | --data size=9
train data:channels | TS R | --data channels=2
train data:train | TS R | --data train=32
train data:eval | TS.replace('--steps 3', '--epochs 1') R | --data eval=24
train data:seed | TS R | --data seed=4
train data:split | T.replace('--data train=48 ', '').replace('--data eval=16 ', '') --data idx:{h}/images R | --data split=20
train batch | TS R | --batch 8
train optimizer | TS R | --optimizer sgd
train optimizer:lr | TS R | --optimizer lr=0.5
train schedule | TS R | --schedule cosine
train schedule:warmup | TS R | --schedule warmup=2
train schedule:steps | TS --schedule cosine R | --schedule steps=2
train schedule:rate | TS --schedule step:steps=1 R | --schedule rate=0.5
train schedule:end | TS --schedule linear R | --schedule end=0.5
train optimizer:momentum | TS --optimizer sgd R | --optimizer momentum=0.5
train optimizer:weight_decay | TS R | --optimizer weight_decay=0.5
train optimizer:beta1 | TS R | --optimizer beta1=0.5
train optimizer:beta2 | TS R | --optimizer beta2=0.5
train optimizer:eps | TS R | --optimizer eps=0.5
train optimizer:clip_norm | TS R | --optimizer clip_norm=0.01
train batch:micro | TS R | --batch micro=4
train all-reduce | TS --batch micro=4 R | --all-reduce ring:4,wire=e4m3
train all-reduce:divide | TS --batch micro=4 --all-reduce ring:4,wire=e4m3 R | --all-reduce divide=after
train optimizer:ema | TS R | --optimizer ema=0.5
train optimizer:clip_value | TS R | --optimizer clip_value=0.001
train optimizer:no_decay | TS --optimizer weight_decay=0.5 R | --optimizer no_decay=*
train loss-scale | TS R | --loss-scale static:8
train loss-scale:init | DYNAMIC R | --loss-scale init=2^60
train loss-scale:growth | DYNAMIC --loss-scale interval=1 R | --loss-scale growth=8
train loss-scale:backoff | OVER R | --loss-scale backoff=0.25
train loss-scale:interval | DYNAMIC R | --loss-scale interval=1
train loss-scale:floor | OVER R | --loss-scale floor=2^100
train loss-scale:cap | DYNAMIC R | --loss-scale cap=2
train loss-scale:hysteresis | OVER --loss-scale deepspeed R | --loss-scale hysteresis=1
train loss:weight | DYNAMIC R | --loss weight=3
train accumulate | TS R | --accumulate fma,acc=fp16
train reductions | TS R | --reductions sequential,acc=bf16
train policy | TS R | --policy mixed_float16
train augment | TS R | --augment scale,noise
train epochs | TS.replace('--steps 3', '') R | --epochs 1
train steps | TS R | --steps 2
train seed | TS R | --seed 2
train init | TS R | --init {h}/weights/checkpoint/step-000003.safetensors
train backend | TS R | --backend shim
train backend:gemm | TS --backend shim R | --backend gemm=simt
train backend:fuse | TS --backend shim R | --backend fuse=off
train backend:graph | TS --backend shim R | --backend graph=maybe
train trace:steps | TS.replace('--trace steps=none ', '') R | --trace steps=1
train trace | TS.replace('--trace steps=none ', '') R | --trace dense1.w
train trace:cap | TS.replace('--trace steps=none ', '') R | --trace cap=10
train count | TS R | --count *
train checkpoint-every | TS R | --checkpoint-every 1
train resume | train {run} | --resume
train exercise | DYNAMIC R | --exercise
train threads | TS R | --threads 3
train backend:simd | TS R | --backend simd=scalar
train meter | TS R | --meter none
train meter:grid | TS --meter rapl R | --meter grid=100
train quiet | TS.replace('--quiet ', '') R | --quiet
train json | TS.replace('--quiet ', '') R | --json
tree n | tree --backend cpu --op matmul --sum chunk:4 | --n 8
tree backend | tree --n 8 --op matmul --sum fma | --backend cpu
tree sum | tree --backend cpu --op matmul --n 8 | --sum chunk:4
tree in | tree --backend cpu --op matmul --sum fma --n 8 | --in bf16
tree op | tree --backend cpu --n 8 | --op matmul
tree part | tree --backend cpu --op matmul --sum fma --n 8 | --part 4
tree dot | tree --backend cpu --op matmul --sum fma --n 8 | --dot t.dot
tree full | tree --backend cpu --op matmul --sum fma --n 8 | --full
tree library | tree --n 8 | --library ./none.so
tree json | tree --backend cpu --op matmul --sum fma --n 8 | --json
engines tokens | engines {h}/la.npz {h}/lb.npz | --tokens {h}/labels.npy
engines output | engines {h}/la.npz {h}/lb.npz | --output other
engines tau | engines {h}/la.npz {h}/lb.npz | --tau 1.01
engines policy | engines {h}/run --sum pairwise | --policy mixed_bfloat16
engines sum | engines {h}/run --policy mixed_bfloat16 | --sum pairwise
engines reductions | engines {h}/words --sum pairwise | --reductions sequential,acc=fp16
engines split | engines {h}/run --sum pairwise | --split 4
engines step | engines {h}/run {h}/run2 | --step 2
engines replay-routers | engines {h}/moe --sum sequential,acc=bf16 | --replay-routers
engines json | engines {h}/la.npz {h}/lb.npz | --json
advise data | advise {h}/v.onnx --accept 'sqnr>=1' | --data {h}/x.npy
advise labels | advise {h}/v.onnx --data {h}/x.npy --accept 'accuracy>=0' | --labels {h}/labels.npy
advise accept | advise {h}/v.onnx --data {h}/x.npy | --accept 'sqnr>=1'
advise format | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --format bf16
advise by | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --device t4 | --by time
advise device | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --by time | --device t4
advise out | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --out advised
advise calibrate | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --json | --calibrate {h}/x.npy
advise calibrate-inputs | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --json | --calibrate-inputs 1
advise shape | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --shape m=3
advise batch | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --batch 1
advise batch-axis | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --batch-axis y=1
advise decision | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --decision axis=7
advise output | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --output z
advise top-k | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --top-k -1
advise shard | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --json | --shard 1/2
advise part | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --shard 1/2 --json | --part one.part
advise resume | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' --shard 1/2 --part {run}/metrics.tsv --json \
| --resume
advise json | advise {h}/v.onnx --data {h}/x.npy --accept 'sqnr>=1' | --json
validate data | validate {h}/v.onnx | --data {h}/x.npy
validate labels | validate {h}/v.onnx --data {h}/x.npy | --labels {h}/labels.npy
validate policy | validate {h}/v.onnx --data {h}/x.npy | --policy fp16
validate until | validate {h}/v.onnx --data {h}/x.npy | --until e
validate calibrate | validate {h}/v.onnx --data {h}/x.npy --policy int8 | --calibrate {h}/x.npy
validate calibrate-inputs | validate {h}/v.onnx --data {h}/x.npy --policy int8 --batch 1 | --calibrate-inputs 1
validate against | validate {h}/v.onnx --data {h}/x.npy | --against {h}/v2.onnx
validate runtime | validate {h}/half.onnx --data {h}/x.npy | --runtime ort-cpu
validate accept | validate {h}/v.onnx --data {h}/x.npy | --accept 'sqnr>=200'
validate accumulate | validate {h}/v.onnx --data {h}/x.npy | --accumulate sequential,acc=fp16
validate shape | validate {h}/v.onnx --data {h}/x.npy | --shape m=3
validate batch | validate {h}/v.onnx --data {h}/x.npy | --batch 2
validate batch-axis | validate {h}/v.onnx --data {h}/x.npy | --batch-axis y=1
validate decision | validate {h}/v.onnx --data {h}/x.npy | --decision none
validate output | validate {h}/v.onnx --data {h}/x.npy | --output e
validate top-k | validate {h}/v.onnx --data {h}/x.npy --json | --top-k 1
validate sensitivity | validate {h}/v.onnx --data {h}/x.npy --policy int4 | --sensitivity
validate sensitivity-inputs | validate {h}/v.onnx --data {h}/x.npy --policy int4 --sensitivity \
| --sensitivity-inputs 1
validate exact | validate {h}/v.onnx --data {h}/x.npy | --exact 0
validate outputs | validate {h}/v.onnx --data {h}/x.npy | --outputs answers
validate report | validate {h}/v.onnx --data {h}/x.npy | --report there
validate shard | validate {h}/v.onnx --data {h}/x.npy --json | --shard 1/2
validate part | validate {h}/v.onnx --data {h}/x.npy --shard 1/2 --json | --part one.part
validate resume | validate {h}/v.onnx --data {h}/x.npy --shard 1/2 --part {run}/metrics.tsv --json | --resume
validate tap | validate {h}/v.onnx --data {h}/x.npy | --tap
validate list | validate {h}/m.onnx | --list
validate json | validate {h}/m.onnx --list | --json
verify trace | verify {h}/run | --trace
verify threads | verify {h}/run | --threads -1
verify backend | verify {h}/run | --backend none-such
verify backend:gemm | verify {h}/run --backend shim | --backend gemm=none-such
verify backend:simd | verify {h}/run | --backend simd=none-such
verify steps | verify {h}/run | --steps 2
verify quiet | verify {h}/run | --quiet
verify json | verify {h}/run | --json
'''

# option | line on which it has no effect
IDLE = '''
schedule steps= | train --steps 2 --schedule steps=2 x
optimizer no_decay= | train --steps 2 --optimizer weight_decay=0,no_decay=* x
optimizer no_decay= | TS --optimizer no_decay=typo R
optimizer no_decay= | TS --optimizer no_decay=*.b,typo R
optimizer no_decay= | TS --optimizer no_decay=dense1.y R
optimizer no_decay= | PP --optimizer no_decay=typo
optimizer no_decay= | BT --optimizer no_decay=typo
optimizer no_decay= | BW --optimizer no_decay=typo
optimizer no_decay= | C --optimizer no_decay=typo c
trace | C --trace steps=0 --trace *@fp16,typo c
trace | C --analyze --trace typo c
count | C --count dense1.w@fp16,typo c
trace | TS.replace('--trace steps=none ', '') --trace nosuch R
trace | TS.replace('--trace steps=none ', '') --trace dense1.w,nosuch R
count | TS --count nosuch R
trace | TS.replace('--trace steps=none ', '') --trace *@fp16 R
count | TS --count dense1.w@fp16 R
count | TS --count dense1.w,nosuch R
schedule end= | train --schedule step:end=0.1 x
schedule rate= | plan --schedule cosine:rate=0.5
all-reduce feedback= | allreduce {h}/terms.npy --all-reduce feedback
json | merge {h}/one.part {h}/two.part --json
seed | allreduce {h}/terms.npy --sample all --seed 2
ranks wire= | plan --ranks wire=bf16
ranks network= | plan --ranks network=eth10
ranks measured= | plan --ranks measured={h}/run
ranks | plan --program --ranks 8
seed | accumulate --seed 2
seed | accumulate --terms harmonic --sum kahan --seed 2
lost | analyze {h}/run --only replay --lost 0.1
lost | analyze {h}/run --no-propagate --lost 0.1
sample | analyze {h}/run --only state --sample 3
elements | analyze {h}/run --only underflow --elements e.tsv
no-propagate | analyze {h}/run --only swamping --no-propagate
steps | analyze {h}/run --only summary --steps 0
optimizer lr= | bench cast --optimizer lr=1
op | bench gemm --op pack
backend gemm= | bench gemm --backend gemm=auto
backend simd= | bench gemm --backend cuda:simd=scalar
backend fuse= | BT --backend fuse=off
backend graph= | bench why --backend graph=off
optimizer beta1= | bench why --device v100 --batch 16 --policy float32 --model width=0.05 --json --optimizer beta1=0.5
data seed= | bench why --device v100 --batch 16 --policy float32 --model width=0.05 --json --data seed=3
loss-scale init= | bench why --device v100 --batch 16 --policy float32 --model width=0.05 --json --loss-scale init=8
backend gemm= | bench why --device v100 --batch 16 --policy float32 --model width=0.05 --json --backend gemm=mma
backend gemm= | BT --backend gemm=simt
optimizer beta1= | BT --optimizer sgd:beta1=0.5
loss-scale init= | BT --policy float32 --loss-scale init=8
data split= | BT --data split=8
batch | bench train --published --batch 8
optimizer lr= | BW --optimizer lr=1
steps | BW --steps 3
seed | calc 1/3 --seed 3
every | accumulate --every 3
seeds | accumulate --seeds 3
step | calc 1+1 --step
style | calc 1+1 --style talk
style | figures --list --style dark
mode random_bits= | calc 1/3 --mode random_bits=3
mode random_bits= | calc 1/3 --mode SRE:random_bits=3
sum | calc 1/3 --sum fma
bits | calc 1/3 --bits
format | check {h}/run --baseline {h}/base.tsv --json --format tap
format | check {h}/run --baseline {h}/base.tsv --tap --format junit
format | gate --baseline {h}/base.tsv --quiet --format junit {h}/run
exercise | TS --policy float32 --exercise
reason | baseline {h}/a.npy -o b.npy --reason x
statistics | baseline {h}/a.npy -o b.npy --statistics
score | baseline {h}/run -o b.tsv --reason x --statistics --score loss
ulps | baseline {h}/run -o b.tsv --reason x --score loss --ulps 2
allow-nonfinite | baseline {h}/a.npy -o b.npy --allow-nonfinite
history | check {h}/a2.npy --baseline {h}/a.npy --history h
ulps | baseline {h}/run -o b.tsv --reason x --statistics --ulps 2
olympic | check {h}/run --baseline {h}/base.tsv --olympic
rule | check {h}/run --baseline {h}/base.tsv --rule '*: exact'
step | check {h}/a2.npy --baseline {h}/a.npy --step at
step | diff {h}/run {h}/run2 --step at
optimizer beta2= | C --optimizer sgd:beta2=0.5
loss-scale hysteresis= | C --loss-scale hysteresis=2
loss-scale init= | C --policy float32,mixed_bfloat16 --loss-scale init=8
trace | C --trace dense1.w
backend fuse= | C --backend fuse=off
epochs | C --epochs 2
mode | formats fp16 --mode RU
mode | formats --table tsv --mode RU
sum | op relu --in a={h}/a.npy --sum kahan
sum | op matmul --in a={h}/a.npy --in b={h}/b.npy --as reference --sum kahan
sum | op matmul --in a={h}/a.npy --in b={h}/b.npy --as reference --sum fma,acc=fp16 --out r.npy
sum | op dot --in a={h}/a.npy --in b={h}/x.npy --as reference --sum kahan
sum | op dot --in a={h}/a.npy --in b={h}/x.npy --as reference --set out=fp16 --sum fma,acc=bf16
set | op matmul --in a={h}/a.npy --in b={h}/b.npy --as reference --set compute=fp16
set | op matmul --in a={h}/a.npy --in b={h}/b.npy --as reference --set mode=SR
set | op relu --in a={h}/a.npy --as reference --set mode=SR --out r.npy
set | op clip --in a={h}/a.npy --as reference --set low=0 --set high=1 --set compute=fp16
set | op maxpool --in a={h}/a.npy --as reference --set compute=fp16 --result 0
set | op matmul --in a={h}/a.npy --in b={h}/b.npy --set compute=fp16
set | op reduce_max --in a={h}/a.npy --set compute=fp16 --as bound
set | op causal --in a={h}/a.npy --set compute=fp16 --got {h}/a.npy
as gemm= | op matmul --in a={h}/a.npy --in b={h}/b.npy --as gemm=simt
packed | op relu --in a={h}/a.npy --packed
packed | op matmul --in a={h}/a.npy --in b={h}/b.npy --as bound --out d.npy --packed
bits | op relu --in a={h}/a.npy --bits
seed | op relu --in a={h}/a.npy --seed 2
seed | op relu --in a={h}/a.npy --set mode=SR --as reference --seed 2
seed | op relu --in a={h}/a.npy --set mode=SR --as bound --seed 2
set | op list --set in=fp16
set | judge list --set in=fp16
got | judge softmax --make m --got {h}/a.npy
seed | judge softmax --in x={h}/x.npy --got {h}/a.npy --seed 3
with | judge softmax --in x={h}/x.npy --got {h}/a.npy --with w
confidence | op matmul --in a={h}/a.npy --in b={h}/b.npy --confidence 0.5
confidence | op relu --in a={h}/a.npy --got {h}/a.npy --confidence 0.9
confidence | op relu --in a={h}/a.npy --as bound --confidence 0.9
confidence | op matmul --in a={h}/a.npy --in b={h}/b.npy --sum kahan --as bound --confidence 0.9
optimizer lr= | P --optimizer lr=2
data train= | P --data train=32
loss-scale init= | PP --policy mixed_float16 --loss-scale init=2
loss-scale growth= | PP --loss-scale growth=8
optimizer beta1= | PP --optimizer sgd:beta1=0.5
model | plan --list --model mlp
by | PP --by call
memory | PP --memory 1GB
json | PP --json
sample | probe --sample 5
seed | probe --model tc:ampere,in=bf16 --backend shim --seed 4
out | analyze {h}/run --out there
part | analyze {h}/run --part one.part
part | compare --part one.part c
part | validate {h}/v.onnx --data {h}/x.npy --part one.part
width | report {h}/run --out there --width column
json | report {h}/run -o - --json
sort reverse= | inspect {h}/a.npy --sort reverse
tap | inspect {h}/a.npy --tap
axis | inspect {h}/a.npy --axis 0
axis | inspect {h}/a.npy --to fp16,int8 --axis 0
axis | inspect {h}/a.npy --to mxfp4 --axis 2
axis | inspect {h}/a.npy --to mxfp4 --axis -3
axis | inspect {h}/run/trace/step-000000.safetensors --to mxfp4 --tensors *.b --axis 1
tensors | inspect {h}/labelled.npz --tensors y
tensors | inspect {h}/labelled.npz --tensors x,y --fail-if sqnr<300
tensors | inspect {h}/labels.npy --tensors * --fail-if sqnr<300
fail-if | inspect {h}/labels.npy --fail-if sqnr<300
tensors | inspect {h}/a.npy --tensors typo
tensors | inspect {h}/a.npy --tensors typo --fail-if sqnr<300
tensors | inspect {h}/a.npy --tensors typo --fail-if sqnr<300 --tap
tensors | inspect {h}/run/trace/step-000000.safetensors --tensors dense1.*,typo
json | inspect {h}/a.npy --fail-if elements>0 --tap --json
seed | round 0.1 --seed 4
mode random_bits= | round 0.1 --mode RU:random_bits=4
bits | round 0.1 --bits
optimizer beta1= | TS --optimizer sgd:beta1=0.5 R
optimizer beta2= | TS --optimizer sgd:beta2=0.5 R
optimizer eps= | TS --optimizer sgd:eps=0.5 R
optimizer momentum= | TS --optimizer momentum=0 R
optimizer weight_decay= | TS --optimizer adam:weight_decay=0 R
optimizer momentum= | TS --optimizer adam:momentum=0.5 R
loss-scale growth= | DYNAMIC --loss-scale none:growth=2 R
loss-scale backoff= | DYNAMIC --loss-scale none:backoff=0.5 R
loss-scale interval= | DYNAMIC --loss-scale none:interval=2 R
loss-scale floor= | DYNAMIC --loss-scale none:floor=2 R
loss-scale cap= | DYNAMIC --loss-scale static:8,cap=2 R
loss-scale init= | DYNAMIC --loss-scale static:8,init=2 R
loss-scale hysteresis= | DYNAMIC --loss-scale hysteresis=2 R
loss-scale hysteresis= | DYNAMIC --loss-scale keras:hysteresis=2 R
loss-scale init= | TS --loss-scale init=2 R
loss-scale init= | TS --policy mixed_bfloat16 --loss-scale init=2 R
backend fuse= | TS --backend fuse=on R
backend graph= | TS --backend graph=off R
backend gemm= | TS --backend gemm=auto R
meter grid= | TS --meter none --meter grid=100 R
data split= | TS --data split=8 R
model layers= | TS --model layers=3 R
model width= | TT --model width=2 R
data length= | TS --data length=20 R
data users= | TT --data users=5 R
data size= | T --data idx:{h}/images,size=8 R
trace | TS --trace dense1.w R
trace cap= | TS --trace cap=2^30 R
epochs | TS --epochs 2 R
quiet | TS --json R
sum | tree --op bias_db --sum fma
part | tree --backend blas --part 4
backend | verify {h}/run --trace --backend shim
steps | verify {h}/run --trace --steps 1
backend gemm= | verify {h}/run --backend gemm=auto
json | verify {h}/run --quiet --json
'''


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


def options_of(command):
    """The options of its help, and the keys of each as OPTION:KEY."""
    found, option = [], None
    for name, key in re.findall(r'^(?:  --([a-z0-9-]+)|    ([a-z0-9_]+)[= ])', run(command + ' --help')[1], re.M):
        option = name or option
        found.append(name or option + ':' + key)
    return found


def lacks(err):
    return re.search(r'no C\+\+ compiler|cuBLAS has not', err)


# Options of every command with a picture, which t/reports/t-pictures.py tries
PICTURE = ('style', 'width')
# Options of every command, of which t/cli/t-memory.py tries the second
EVERYWHERE = ('help', 'max-memory')
# Options of every command with --json, which t/reports/t-tables.py tries
TABLE = ('out', 'columns', 'where', 'digits')
# How many names the options of all commands have, and train's; keys are not counted. The numbers may only fall.
NAMES, TRAIN_NAMES = 122, 30


def main():
    drawn = re.findall(r'^VIEW\("([^"]+)"', open(SOURCES + '/reports/pictures/pictures.def').read(), re.M)
    commands = re.findall(r'^COMMAND\((\w+)\)', open(SOURCES + '/commands.def').read(), re.M)
    rows = [[x.strip() for x in line.split('|')] for line in EFFECT.strip().splitlines()]
    named = [tuple(r[0].split()) for r in rows]
    asked = sys.argv[1:] or commands  # arguments: these commands alone
    rows = [r for r in rows if r[0].split()[0] in asked]
    for c in asked:
        missing = [o for o in options_of(c) if o not in EVERYWHERE and o not in TABLE and (c, o) not in named
                and (c not in drawn or o not in PICTURE)]
        ok(not missing, '%s: every option of --help has a row here' % c, 'no row: ' + ', '.join(missing))
        surplus = [o for k, o in named if k == c and o not in options_of(c)]
        ok(not surplus, '%s: and every row an option' % c, 'no option: ' + ', '.join(surplus))
    if not sys.argv[1:]:
        names = {c: [o for o in options_of(c) if ':' not in o and o not in EVERYWHERE] for c in commands}
        every = len({o for of in names.values() for o in of})
        ok(every <= NAMES and len(names['train']) <= TRAIN_NAMES, '%d names of options, %d of train' % (every, len(names['train'])),
           '%d and %d may be' % (NAMES, TRAIN_NAMES))
    prepare()
    known = {}
    for name, base, option in rows:
        base = expand(base)
        if base not in known:
            known[base] = observed(base)
        before, how = known[base]
        line = base[:-1] + option if base.endswith(' R') else base + ' ' + option
        after, said = observed('%s %s' % (line, 'R' if base.endswith(' R') else ''))
        if lacks(how[1]) or lacks(said[1]):
            skip('%s --%s' % tuple(name.split()), 'the kernels are not compiled for the host')
            continue
        ok(before != after and 'has no effect' not in said[1], '%s %s changes what is seen' % (name.split()[0], option),
           '%s\nwithout: %s\nwith: %s' % (base, how, said))
    for line, (before, how) in known.items():
        again, _ = observed(line)
        ok(before == again, 'the same line, the same picture: %s' % line.replace(home, ''), '%s\n%s' % (before, again))
    for option, line in ([x.strip() for x in r.split('|')] for r in IDLE.strip().splitlines()):
        line = expand(line)
        if line.split()[0] not in asked:
            continue
        seen, (code, err) = observe(line)
        ok(code == 2 and err.count('\n') == 0 and '--%s has no effect' % option in err and not seen[2],
           'refused: %s' % line.replace(home, ''), '%d: %s' % (code, err))
    finish()


main()
