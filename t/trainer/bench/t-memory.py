# SPDX-License-Identifier: Apache-2.0
# Memory of training: what bench train measures is never above what was computed before, and the computed number stays
# within a stated multiple of it, over models, policies, batch sizes and sums; the measure itself sees what is there;
# plan --memory and blank cells rest on the computed number.
import json
import os
import platform
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, ok, skip  # noqa: E402

PROCESS, THREAD = 2 * 2**20, 2**19  # trainer/run/need.h


def bench(*options, env=None):
    done = subprocess.run([HALFULP, 'bench', 'train', '--steps', '2', '--steps', 'warm=0', '--meter', 'none',
                           '--json', *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, env=env)
    if done.returncode:
        print('# %s: %s' % (' '.join(options), done.stderr.strip()))
        return []
    return [r for r in json.loads(done.stdout) if r.get('source') is None]


def plan(*options):
    return json.loads(subprocess.run([HALFULP, 'plan', '--json', *options], check=True, stdout=subprocess.PIPE).stdout)


def name(r):
    return '%s %s, %s, batch %d' % (r['model'], r['image'], r['policy'], r['batch'])


def judge(rows, cells, most, allowance, what):
    """peak <= computed <= most * peak + allowance in every row."""
    bad = ['%s: %.2f MB measured, %.2f computed' % (name(r), r['peak_mb'], r['computed_mb']) for r in rows
           if not r['peak_mb'] <= r['computed_mb'] <= most * r['peak_mb'] + 1e-6 * allowance]
    ratios = sorted(r['computed_mb'] / r['peak_mb'] for r in rows)
    ok(len(rows) == cells and not bad, '%s: computed is never below the measured peak, at most %g times it%s (%s)'
       % (what, most, ' and %.1f MB' % (1e-6 * allowance) if allowance else '', '%d cells, %.2f to %.2f times'
          % (len(rows), ratios[0], ratios[-1]) if ratios else 'none'), bad)


threads = min(len(os.sched_getaffinity(0)), 64)
allowance = PROCESS + threads * THREAD
makefile = os.path.join(os.environ.get('top_builddir', '.'), 'Makefile')
sanitized = os.path.exists(makefile) and re.search(r'^ASAN_CFLAGS = .*-fsanitize', open(makefile).read(), re.M)
first = bench('--policy', 'float32', '--batch', '64')
if sanitized:
    ok(bool(first), 'steps on the CPU # SKIP sanitizers keep memory of their own beside every allocation')
elif first and first[0]['peak_mb'] is None:
    ok(True, 'steps on the CPU # SKIP resident memory cannot be measured here')
else:
    policies = 'float32,mixed_float16,float16,mixed_bfloat16,mixed_e4m3,float64,autocast_float16'
    judge(bench('--policy', policies, '--batch', '8,512', '--seeds', '1', '--data', 'train=512,eval=512'), 14, 2,
          allowance, 'mlp on the CPU')
    judge(bench('--model', 'convnet:width=0.25', '--data', 'size=32', '--policy', policies, '--batch', '4,48'), 14, 2,
          allowance, 'convnet on the CPU')
    judge(bench('--model', 'convnet:width=0.5', '--data', 'size=64,channels=3', '--policy', 'float32,mixed_float16',
                '--batch', '16'), 2, 2, allowance, 'convnet of 64x64x3')
    sets = bench('--model', 'mlp:width=6', '--policy', 'float32,float64', '--batch', '16', '--backend', 'simd=all')
    judge(sets, len(sets), 1.5, allowance, 'wide layers, every instruction set')
    # A thread has a stack and a heap of its own, which the computed number knows
    tiny = ['--model', 'mlp:width=0.0625', '--data', 'size=8', '--policy', 'float32', '--batch', '4', '--data',
            'train=8,eval=8']
    by = [1e6 * bench(*tiny, env=dict(os.environ, OMP_NUM_THREADS=str(n)))[0]['computed_mb'] for n in (1, 2, 3)]
    ok(all(b - a > 0.999 * THREAD for a, b in zip(by, by[1:])), 'each thread more is computed with %d kB at least: %s'
       % (THREAD // 1024, by))
    # What a process did before leaves nothing in the measure: of one thread all blocks come from one heap
    alone = dict(os.environ, OMP_NUM_THREADS='1')
    wide = ['--model', 'mlp:width=6', '--batch', '16', '--policy']
    rows = bench(*wide, 'float32,float64', '--backend', 'simd=all', env=alone)
    judge(rows, len(sets), 1.5, allowance, 'wide layers, one thread')
    fresh = {p: bench(*wide, p, env=alone)[0]['peak_mb'] for p in ('float64', 'float32')}
    ok(
        all(abs(r['peak_mb'] - fresh[r['policy']]) < 2e-6 * PROCESS for r in rows),
        'a cell takes the same memory in a process of its own: %s' % fresh,
        ['%s: %.2f MB' % (name(r), r['peak_mb']) for r in rows],
    )
    judge(bench('--model', 'convnet', '--data', 'size=16', '--policy', 'float32,mixed_float16', '--batch', '4'), 2,
          1.5, allowance, 'convnet as published, on 16x16')
    for accumulate in ('fma,acc=fp16', 'kahan', 'pairwise', 'tc:hopper', 'dot2,acc=fp64', 'fma,acc=fp16,mode=sr'):
        judge(bench('--model', 'mlp:width=2', '--policy', 'mixed_float16', '--batch', '16', '--accumulate',
                    accumulate), 1, 2, allowance, 'sums ' + accumulate)
    # The measure sees what is there: four times the images, and the activations with them
    rows = bench('--model', 'convnet:width=0.25', '--data', 'size=32', '--policy', 'float32', '--batch', '32,128')
    memory = [plan('--model', 'convnet:width=0.25', '--data', 'size=32', '--batch', str(b))[0]['memory_bytes']
              for b in (32, 128)]
    grown = 1e6 * (rows[1]['peak_mb'] - rows[0]['peak_mb']) if len(rows) == 2 else 0
    want = sum(memory[1][k] - memory[0][k] for k in ('activations', 'gradients'))
    ok(grown >= 0.9 * want,
       'four times the batch: the measured peak grows by what activations and gradients do, %.1f of %.1f MB'
       % (grown / 1e6, want / 1e6))

# Steps are timed as they are in a long training, whose freed memory stays: they touch no page anew
def touched(steps):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    bench('--model', 'mlp', '--policy', 'float32', '--batch', '16', '--steps', '%d:warm=2' % steps)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before


faults = (touched(220) - touched(20)) / 200
if platform.libc_ver()[0] == 'glibc':  # whose malloc can be told to keep it
    ok(faults < 20, 'a timed step of mlp touches %.1f pages anew; where memory is measured all the while 200' % faults)
else:
    skip('pages that a step touches', 'this is not glibc')

# A device: its own allocator's mark
shim = bench('--backend', 'shim', '--model', 'mlp:width=0.0625', '--data', 'size=8', '--policy',
             'float32,mixed_float16,mixed_e4m3,float64', '--batch', '4,16', '--seeds', '1', '--data',
             'train=64,eval=16')
if shim:
    shim += bench('--backend', 'shim', '--model', 'convnet:width=0.0625', '--data', 'size=12', '--policy',
                  'float32,mixed_float16', '--batch', '2,4')
    judge(shim, 12, 1, 0, 'the launch shim')
    ok(all(r['peak_mb'] > 0 for r in shim), 'and its allocator was asked')
    small = ['--model', 'mlp:width=0.0625', '--data', 'size=8']
    need = {
        p['policy']: p['device_bytes']
        for p in plan(*small, '--policy', 'float32', '--policy', 'mixed_float16', '--batch', '16')
    }
    peak = {r['policy']: 1e6 * r['peak_mb'] for r in shim if r['model'] == 'mlp' and r['batch'] == 16}
    ok(all(abs(need[p] - peak[p]) < 1 for p in need), 'plan says what that device allocates: %s' % need, [str(peak)])
    for p in need:
        fits = plan(*small, '--policy', p, '--memory', str(need[p]))[0]['largest_batch']
        less = plan(*small, '--policy', p, '--memory', str(need[p] - 1))[0]['largest_batch']
        ok(
            fits >= 16 > less,
            '%s: --memory of these bytes fits a batch of 16 (%d), one byte less does not (%d)' % (p, fits, less),
        )
        rows = bench('--backend', 'shim', *small, '--policy', p, '--batch', '16', '--memory', str(need[p])) + bench(
            '--backend', 'shim', *small, '--policy', p, '--batch', '16', '--memory', str(need[p] - 1)
        )
        ok(len(rows) == 2 and rows[0]['ms'] and rows[1].get('ms') is None and 'need' in rows[1]['note'],
           '%s: and so for the blank cells of bench' % p, [str(rows)])
else:
    print('# the launch shim is not in this build')
finish()
