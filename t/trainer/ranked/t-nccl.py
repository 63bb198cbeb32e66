# SPDX-License-Identifier: Apache-2.0
"""--all-reduce nccl: NCCL, for which t/stub/nccl.c stands, adds what the ranks on the launch shim have. Each rank's
part, the sums, computed here from the traced tensors in the stand-in's order, their bounds, a sum that is wrong, an
overflow, the division behind the sum, a resumed run, what the manifest names, and what is refused."""

import json
import os
import shutil
import struct
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from mpi import apart, need_mpi, ranks, said  # noqa: E402
from tap import HALFULP, NO_SHIM, TOP, finish, halfulp, has_shim, home, ok, skip_all  # noqa: E402
from trained import Trainings, f32  # noqa: E402

need_mpi(or_stub=True)
if not has_shim():
    skip_all(NO_SHIM)
folder = home()
library = os.path.join(folder, 'nccl.so')
command = [*os.environ.get('CC', 'cc').split(), '-std=gnu11', '-O1', '-shared', '-fPIC', '-o', library]
p = subprocess.run([*command, os.path.join(TOP, 't/stub/nccl.c'), '-lm'], capture_output=True, text=True)
if p.returncode:
    skip_all("NCCL's stand-in cannot be compiled: " + p.stderr)
os.environ['HALFULP_NCCL_HOST'] = library
os.environ['TMPDIR'] = folder
for name in ('NCCL_ALGO', 'NCCL_PROTO'):
    os.environ.pop(name, None)

BASE = (
    '--model mlp --data size=8 --model width=0.03 --data train=48,eval=8 --quiet --steps 3 --batch 12 --batch'
    ' micro=6 '
)
MORE = BASE + '--trace steps=1 --backend shim --all-reduce nccl '
runs = Trainings()
at = runs.at


def train(n, words, run):
    p = ranks(n, 'train', *(MORE + words).split(), at(run))
    return p.returncode == 0 or not ok(False, '%d ranks: %s' % (n, words), p.stderr)


def f16(x):
    return struct.unpack('<e', struct.pack('<e', x))[0]


def bf16(x):
    bits = struct.unpack('<I', struct.pack('<f', x))[0]
    return struct.unpack('<f', struct.pack('<I', bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000))[0]


# --- every sum, by the traced tensors: rank r has operand R - 1 - r, and the stand-in begins with rank 0
for policy, n, to in (('float32', 3, f32), ('float16', 2, f16), ('bfloat16', 3, bf16), ('float64', 4, float)):
    run = policy
    if not train(n, '--policy %s --loss-scale none' % policy, run):
        continue
    t, program = runs.traced(run, 1), runs.program(run)
    name = [x['name'] for x in program['tensors']]
    calls = [c for c in program['calls'] if c['op'] == 'all_reduce']
    wrong, elements, between = [], 0, float if policy == 'float64' else f32
    for c in calls:
        terms = [t[name[i]] for i in reversed(c['in'])]
        for i, got in enumerate(t[name[c['out'][0]]]):
            total = 0.0
            for x in terms:
                total = between(total + x[i])
            wrong += [] if to(total) == got else [[name[c['out'][0]], i, to(total), got]]
            elements += 1
    ok(len(calls) == 6 and elements > 200 and not wrong, '%s, %d ranks: %d sums' % (policy, n, elements), wrong[:3])
    p = halfulp('analyze', '--only', 'replay', at(run))
    ok(
        p.returncode == 0 and '; 0 outside their call' in p.stdout,
        'which analyze judges: within their bounds',
        p.stdout,
    )
    told = [line.split('\t') for line in open(at(run, 'analysis/replay.tsv')) if '\tall_reduce\t' in line]
    ok(len(told) == 6 and all(row[8] == "a library's" for row in told), 'the table says whose order it was', told[:1])
    p = halfulp('verify', '--trace', at(run))
    ok(p.returncode == 0 and '0 differ; 6 calls were computed by a library' in p.stdout, 'verify --trace', p.stdout)
p = halfulp('verify', at('float32'))
ok(p.returncode == 4 and 'NCCL added the run' in p.stderr and p.stderr.count('\n') == 1, 'verify is refused', p.stderr)

# --- of two ranks there is one order alone
os.environ['STUB_NCCL_LEFT'] = os.path.join(folder, 'left')
if train(2, '--policy mixed_float16', 'two'):
    p = halfulp('train', *(BASE + '--trace steps=1 --policy mixed_float16 --all-reduce ring:2').split(), at('ring'))
    ok(p.returncode == 0 and runs.column('two', 'digest') == runs.column('ring', 'digest'), "two ranks: a ring's bits")
    ranked = json.load(open(at('two/manifest.json')))['ranks']
    told = {'library': 'NCCL 2.28.3', 'NCCL_ALGO': 'Ring', 'NCCL_PROTO': 'Simple'}
    ok(ranked['all_reduce'] == told, 'the manifest names library, algorithm and protocol', ranked)
    left = open(os.environ['STUB_NCCL_LEFT']).read().split() if os.path.exists(os.environ['STUB_NCCL_LEFT']) else []
    ok(sorted(left) == ['0', '1'], 'each rank leaves the library in the end, once', left)
del os.environ['STUB_NCCL_LEFT']

# --- a library that adds wrongly
os.environ.update(STUB_NCCL_WRONG='1', NCCL_ALGO='Tree')
if train(3, '--policy mixed_bfloat16', 'wrong'):
    p = halfulp('analyze', '--only', 'replay', at('wrong'))
    ok(p.returncode != 0 or '; 0 outside' not in p.stdout, 'a rank that is left out of the sums is seen', p.stdout)
    ranked = json.load(open(at('wrong/manifest.json')))['ranks']
    ok(ranked['all_reduce']['NCCL_ALGO'] == 'Tree', "the user's algorithm is asked for, and named", ranked)
del os.environ['STUB_NCCL_WRONG'], os.environ['NCCL_ALGO']

# --- an infinite sum on all ranks, the division behind it, a run that goes on
if train(3, '--policy float16 --optimizer sgd --loss-scale dynamic:init=2^24', 'over'):
    ok(runs.column('over', 'skipped') == ['1'] * 3, 'a sum that overflows skips the step on all ranks')
AFTER = '--policy float32 --optimizer sgd --all-reduce divide=after '
if train(2, AFTER + '--checkpoint-every 1', 'after') and train(2, AFTER.replace('after', 'before'), 'before'):
    ok(
        runs.column('after', 'digest') == runs.column('before', 'digest'),
        'divided before it or after it: by 2, the same',
    )
    p = halfulp('train', '--resume', '--quiet', at('after'))
    ok(p.returncode == 4 and 'start mpirun -n 2' in p.stderr, 'one process does not go on with it', p.stderr)
    manifest = json.load(open(at('after/manifest.json')))
    last = max(os.listdir(at('after/checkpoint')))
    os.remove(at('after/checkpoint', last))
    del manifest['files']['checkpoint/' + last]
    manifest.update(steps_done=1, finished=False)
    json.dump(manifest, open(at('after/manifest.json'), 'w'))
    p = ranks(2, 'train', '--resume', '--quiet', at('after'))
    same = p.returncode == 0 and runs.column('after', 'digest') == runs.column('before', 'digest')
    ok(same, 'as many ranks do, to the same bits', p.stderr)

# --- what is refused, by one line and without a run
WORDS = '--policy float32 --backend shim --all-reduce '
for n, words, code, why in (
    (2, '--policy float32 --all-reduce nccl', 4, 'NCCL adds on GPUs: say --backend cuda, or --all-reduce ring:2'),
    (2, WORDS + 'nccl:3', 4, 'what 3 processes have, and here are 2: start mpirun -n 3'),
    (1, WORDS + 'nccl:3', 4, 'and here is 1'),
    (1, WORDS + 'nccl', 2, 'here is one; start them, or say nccl:N'),
    (1, WORDS + 'nccl:1', 2, 'two or more'),
    (1, WORDS + 'nccl:2,wire=bf16', 2, "the gradient's own format"),
    (1, WORDS + 'nccl:7', 2, 'of 6 micro-batches 7 ranks cannot have one each'),
    (1, WORDS + 'nccl2', 2, 'ncc'),
):
    words = (BASE + words).split()
    p = ranks(n, 'train', *words, at('x')) if n > 1 else halfulp('train', *words, at('x'))
    ok(p.returncode == code and why in p.stderr and len(said(p)) == 1, ' '.join(words[17:]), p.stderr)
open(os.path.join(folder, 'other.c'), 'w').close()
subprocess.run([*command[:-1], os.path.join(folder, 'other.so'), os.path.join(folder, 'other.c')], check=True)
for variable, value, code, why in (
    ('HALFULP_NCCL_HOST', '/nowhere', 4, 'the shim has no NCCL'),
    ('HALFULP_NCCL_HOST', os.path.join(folder, 'other.so'), 4, 'is not NCCL: a function is missing'),
    ('STUB_NCCL_FAIL', '1', 4, 'ncclCommInitRank failed: invalid usage (each rank needs a GPU of its own'),
):
    before = os.environ.get(variable)
    os.environ[variable] = value
    p = ranks(2, 'train', *(BASE + WORDS + 'nccl').split(), at('x'))
    ok(p.returncode == code and why in p.stderr and len(said(p)) == 1, '%s=%s: %s' % (variable, value, why), p.stderr)
    del os.environ[variable]
    if before:
        os.environ[variable] = before
# --- a link that is lost without a process that ends: NCCL says so, or the sum is not there in time
os.environ['STUB_NCCL_LOST'] = '1'
for variable, value, code, why in (
    (
        'STUB_NCCL_SEEN',
        '1',
        4,
        'a sum over the ranks failed: remote process error: a rank, or the link to one, is lost',
    ),
    (
        'HALFULP_NCCL_TIMEOUT',
        '0.5',
        4,
        'a sum over the ranks is not there after 0.5 s: a rank, or the link to one, is lost',
    ),
    ('HALFULP_NCCL_TIMEOUT', 'soon', 2, 'HALFULP_NCCL_TIMEOUT=soon: a number of seconds above 0 is needed'),
    ('HALFULP_NCCL_TIMEOUT', '0', 2, 'HALFULP_NCCL_TIMEOUT=0: a number of seconds above 0 is needed'),
):
    os.environ[variable] = value
    begun = time.time()
    p = ranks(2, 'train', *(BASE + WORDS + 'nccl').split(), at('lost'))
    took = time.time() - begun
    shutil.rmtree(at('lost'), ignore_errors=True)
    reasons = [line for line in said(p) if 'a signal ended it' not in line]  # which rank 0 adds, unless it was first
    one = p.returncode == code and len(reasons) == 1 and why in reasons[0] and len(said(p)) <= 2 and took < 60
    ok(one, '%s=%s, a lost link: %s' % (variable, value, why), '%.3g s, %s' % (took, p.stderr))
    del os.environ[variable]
del os.environ['STUB_NCCL_LOST']
os.environ.update(STUB_NCCL_SLOW='1')
if train(2, '--policy mixed_float16', 'slow'):
    ok(runs.column('slow', 'digest') == runs.column('two', 'digest'), 'sums that take a while are waited for')
del os.environ['STUB_NCCL_SLOW']

words = [HALFULP, 'train', *(BASE + WORDS + 'nccl').split(), at('x')]
p = apart(words, ['env', 'STUB_NCCL_VERSION=22907', *words])
ok(p.returncode == 3 and "NCCL's version" in p.stderr and len(said(p)) == 1, 'ranks with two versions of it', p.stderr)
ok(not os.path.exists(at('x')), 'none of these left a run')
finish()
