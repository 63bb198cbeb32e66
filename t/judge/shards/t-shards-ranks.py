# SPDX-License-Identifier: Apache-2.0
# analyze on several ranks: the bytes of one process for every number of them; ranks that do different work are refused
# in one line. Ranks are killed in x-shards-kill.py.
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import CUT, CUT_MORE, CUT_OPS, cut_ops, forget, tables, trained  # noqa: E402
from mpi import apart, need_mpi, of_version, ranks, said  # noqa: E402
from tap import HALFULP, finish, halfulp, home, ok  # noqa: E402

need_mpi(or_stub=True)
folder = home()
os.chdir(folder)
run = folder + '/run'
ROWS = folder + '/each.rows*'
OPTIONS = ['--sample', '12', '--elements', 'each.rows']


trained(run, '--steps', '4', '--trace', 'steps=0,3', '--policy', 'mixed_float16')
halfulp('analyze', *OPTIONS, 'run')
want = tables(run, ROWS)
for n in (1, 2, 3, 5):
    forget(run, ROWS)
    p = ranks(n, 'analyze', *OPTIONS, 'run')
    got = tables(run, ROWS)
    wrong = sorted(k for k in set(want) | set(got) if want.get(k) != got.get(k))
    ok(p.returncode == 0 and len(want) >= 12 and not wrong and p.stdout.count('replay ') == 1,
       '%d ranks make the %d files of one process, byte for byte' % (n, len(want)), wrong + [p.stderr[:300]])

# Calls that are cut into tiles


def cut_alike(name, ops, numbers):
    words = ['--sample', 'all', '--no-propagate', name]
    halfulp('analyze', '--shard', '1/1', *words)
    some = cut_ops(name, name + '/analysis/parts/1-of-1.part')
    ok(ops <= some, '%s: calls of %s have tiles' % (name, ', '.join(sorted(ops))), str(some))
    halfulp('merge', name)
    whole = tables(name)
    for n in numbers:
        forget(name)
        p = ranks(n, 'analyze', *words)
        got = tables(name)
        ok(
            p.returncode == 0 and got == whole and len(whole) > 6,
            '%d ranks share these tiles, to the bytes of one process' % n,
            sorted(k for k in set(whole) | set(got) if whole.get(k) != got.get(k)) + [p.stderr[:300]],
        )


trained('kinds', *CUT)
cut_alike('kinds', CUT_OPS, (2, 3, 5))
for name, (words, ops) in CUT_MORE.items():
    trained(name, *words)
    cut_alike(name, ops, (2, 3))

# An exact step that is more than a rank's share, and products of enough rows for two ranks
wide = ['--model', 'mlp:width=0.0625', '--data', 'size=10,train=128,eval=8', '--quiet']
wide += ['--batch', '128']
trained('wide', *wide, '--steps', '1', '--trace', 'steps=0', '--policy', 'mixed_float16')
for engine in 'auto', 'mpfr':
    only = ['--engine', engine, '--only', 'replay', '--sample', '2', 'wide']
    each = []
    for start in (lambda *words: halfulp(*words)), (lambda *words: ranks(2, *words)):
        p = start('analyze', *only)
        each.append(tables('wide'))
        forget('wide')
    ok(each[0] == each[1] and len(each[0]) > 1,
       '--engine %s: two ranks compute the exact step together, to the same bytes' % engine)

forget(run, ROWS)
p = ranks(2, 'analyze', 'run', last=['--seed', '2'])
ok(p.returncode == 3 and len(said(p)) == 1 and 'give all ranks the same options and files' in said(p)[0]
   and 'seed 1' in said(p)[0] and 'seed 2' in said(p)[0] and not os.path.exists(run + '/analysis/replay.tsv'),
   'ranks that do not do the same work: exit 3, one line, no table', 'exit %d: %s' % (p.returncode, p.stderr[:500]))
many = ['analyze', '--only', 'accumulate-what-if']
for k in range(12):
    many += ['--accumulate', 'chunk:%d,acc=fp16' % 2 ** k]
p = ranks(2, *many, '--accumulate', 'fma,acc=fp16', 'run', last=['--accumulate', 'fma,acc=bf16'])
ok(p.returncode == 3 and len(said(p)) == 1 and 'fma,acc=bf16' in said(p)[0] and not tables(run, ROWS),
   'ranks of which one has one summation model more than the other, at the end of a long line: exit 3, no table',
   'exit %d: %s' % (p.returncode, p.stderr[:500]))
forget(run, ROWS)
p = apart([HALFULP, 'analyze', *OPTIONS, 'run'], [HALFULP, 'analyze', *OPTIONS, run])
ok(p.returncode == 0 and tables(run, ROWS) == want, 'ranks that call the run by two names do the same work',
   p.stderr[:300])
forget(run, ROWS)
os.mkdir('elsewhere')
trained('elsewhere/run', *wide, '--steps', '1', '--trace', 'steps=0', '--policy', 'bfloat16')
other = of_version('9.9.9')
NEW = ['train', *wide, '--steps', '1', '--batch', 'micro=2']
for what, lines, words in (
    ('another run', ([HALFULP, 'analyze', 'wide'], [HALFULP, 'analyze', 'elsewhere/run']), 'analyze'),
    ('another version', ([HALFULP, 'analyze', 'run'], [other, 'analyze', 'run']), 'version 9.9.9|halfulp 9.9.9'),
    ('another version, of train', ([HALFULP, *NEW, 'new'], [other, *NEW, 'new']), 'its version is 9.9.9'),
):
    p = apart(*lines)
    ok(p.returncode == 3 and len(said(p)) == 1 and re.search(words, said(p)[0]) and 'rank 1 of 2' in said(p)[0]
       and not os.path.exists('run/analysis/replay.tsv') and not os.path.exists('new/metrics.tsv'),
       'rank 1 sees %s: exit 3, one line of rank 0, no table' % what, 'exit %d: %s' % (p.returncode, p.stderr[:500]))
p = ranks(2, 'analyze', '--shard', '1/2', 'run')
ok(p.returncode == 2 and len(said(p)) == 1 and '--shard' in said(p)[0],
   '--shard is refused where mpirun starts several processes', p.stderr[:300])
finish()
