#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The commands of doc/gate.md, as they stand there, block by block under `bash -e`, behind the baseline of doc/ci.md:
# they end as the page says, and leave the files that it names. The program in their place trains on less; nothing else
# is changed.
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

LESS = '--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 2'
os.chdir(tap.home())
os.mkdir('bin')
with open('bin/halfulp', 'w') as f:
    f.write('#!/bin/bash\ncase $1 in\ntrain) exec "%s" train %s "${@:2}" ;;\ngate) exec "%s" "$@" %s ;;\nesac\n'
            'exec "%s" "$@"\n' % (tap.HALFULP, LESS, tap.HALFULP, LESS, tap.HALFULP))
os.chmod('bin/halfulp', 0o755)
environment = dict(os.environ, PATH=os.getcwd() + '/bin:' + os.environ['PATH'], GITHUB_SHA='0123abc',
                   GITHUB_STEP_SUMMARY='summary.md')
environment.pop('HALFULP_RESULTS', None)


def run(script):
    return subprocess.run(['bash', '-e', '-c', script], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)


def blocks(page):
    """The indented blocks of a page, outside of its fences, that are commands."""
    text = re.sub(r'^```.*?^```$', '', open(os.path.join(tap.TOP, page), encoding='utf-8').read(), flags=re.M | re.S)
    found = [re.sub('^    ', '', b, flags=re.M) for b in re.findall(r'\n\n((?:    .*\n)+)', text)]
    return [b for b in found if re.match('halfulp |for seed in ', b)]


first = next(b for b in blocks('doc/ci.md') if 'baseline runs/first' in b)
p = run(first + 'for f in old new; do cp "$(ls runs/first/checkpoint/*.safetensors | tail -n 1)" $f.safetensors; done\n'
        'halfulp train --policy mixed_float16 --seed 6 runs/ci1; halfulp analyze runs/ci1')
tap.ok(p.returncode == 0, "the baseline of doc/ci.md, a user's files and a candidate", p.stderr)
WANT = {  # a part of each block: what the last of its output says, and the files that are then there
    'gate --baseline baseline.tsv': ('', 'junit.xml summary.md runs/ci/metrics.tsv'),
    '--history numerics/': ('holds: all', 'numerics/history.tsv'),
    'report --history': ('the page of a history', 'numerics/index.html'),
    'new.safetensors': ('new.safetensors holds', ''),
    '--statistics': ('holds: all', 'statistics.tsv'),
    '--score': ('holds: eval_accuracy', 'score.tsv runs/ci-5/metrics.tsv'),
}
asked = blocks('doc/gate.md')
tap.ok(len(asked) == len(WANT), 'doc/gate.md has %d blocks of commands' % len(WANT), asked)
for block, (part, (says, files)) in zip(asked, WANT.items()):
    if part == 'report --history' and not shutil.which('gnuplot'):
        tap.skip(block, 'gnuplot is absent')
        continue
    p = run(block)
    last = p.stdout.rstrip().split('\n')[-1]
    lacks = [f for f in files.split() if not os.path.exists(f)]
    tap.ok(part in block and p.returncode == 0 and says in last and not lacks, block.split('\n')[0],
           [p.returncode, p.stdout[-500:], p.stderr[-500:], lacks])
tap.finish()
