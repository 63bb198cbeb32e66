# SPDX-License-Identifier: Apache-2.0
# validate and advise by shards and by ranks: what they print, reports, outputs and models are those of one process,
# byte for byte, for every number of them; parts of other files are refused, and what is missing is completed by
# --resume.
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import onnxfile  # noqa: E402
from mpi import need_mpi, ranks, said  # noqa: E402
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

need_mpi(or_stub=True)
os.chdir(home())
LONG = 'HALFULP_ALL_SHARES' in os.environ
N, WIDTH, CLASSES = 37, 8, 5
dice = random.Random(20261123)


def drawn(n):
    return [dice.gauss(0, 1) for _ in range(n)]


onnxfile.write(
    'm.onnx',
    onnxfile.graph(
        [
            onnxfile.node('MatMul', 'x w1', 'a', name='first'),
            onnxfile.node('Exp', 'a', 'b', name='grows'),
            onnxfile.node('MatMul', 'b w2', 'y', name='last'),
        ],
        [onnxfile.floats('w1', [WIDTH, 6], drawn(6 * WIDTH)), onnxfile.floats('w2', [6, CLASSES], drawn(6 * CLASSES))],
        [onnxfile.value('x', ['n', WIDTH])],
        [onnxfile.value('y')],
    ),
)
npz('x.npz', x=((N, WIDTH), drawn(N * WIDTH)[:-1] + [40]))  # exp of it leaves fp16
npz('other.npz', x=((N, WIDTH), drawn(N * WIDTH)))
WORK = ['m.onnx', '--data', 'x.npz', '--policy', 'float16,int8,e4m3', '--batch', '2', '--accumulate', 'fma,acc=fp16']
# The same work by other names of its files, and in another order
MOVED = [
    '--batch',
    '2',
    '--policy',
    'float16,int8,e4m3',
    '--accumulate',
    'fma,acc=fp16',
    '--data',
    './x.npz',
    os.path.abspath('m.onnx'),
]
TELL = ['--accept', 'flips<=1%', '--sensitivity', '--sensitivity-inputs', '4', '--exact', '2']
FILES = ['--report', 'runs/page', '--outputs', 'runs/out']
ADVISE = ['m.onnx', '--data', 'x.npz', '--format', 'int8,fp16', '--batch', '2', '--accept', 'flips<=20%']
ADVISE += ['--out', 'runs/out']


def files():
    found = {}
    for folder in 'runs/page', 'runs/out':
        for f in os.listdir(folder) if os.path.isdir(folder) else []:
            path = os.path.join(folder, f)
            if os.path.isfile(path):
                found[path] = open(path, 'rb').read()
    shutil.rmtree('runs', ignore_errors=True)
    return found


one = halfulp('validate', *WORK, *TELL, *FILES)
want = files()
ok(one.returncode == 1 and len(want) == 7 and 'inf' in one.stdout, 'one process', '%s %s' % (sorted(want), one.stderr))
for n in (1, 2, 3, 5) if LONG else (2,):
    p = ranks(n, 'validate', *WORK, *TELL, *FILES)
    got = files()
    ok(
        p.returncode == 1 and p.stdout == one.stdout and got == want,
        '%d ranks: what one process prints and writes, byte for byte' % n,
        [p.stderr[:300]] + [f for f in want if got.get(f) != want[f]],
    )
for n in (1, 4, 7) if LONG else (4,):
    said_by = [
        halfulp('validate', '--shard', '%d/%d' % (i, n), *(WORK if i == 1 else MOVED), *TELL, *FILES)
        for i in range(1, n + 1)
    ]
    taken = [open('runs/page/parts/%d-of-%d.part' % (i, n)).read().count('.nodes.') for i in range(1, n + 1)]
    ok(sum(t > 0 for t in taken) == n, '%d shards share the nodes' % n, taken)
    codes = [x.returncode for x in said_by]
    ok(not any(codes), '%d shards of what breaks its budget: each exits with 0' % n, codes)
    if n < 7:  # the array a second time: what follows from all parts
        shares = [x.stdout for x in said_by]
        again = [
            halfulp('validate', '--shard', '%d/%d' % (i, n), '--resume', *WORK, *TELL, *FILES)
            for i in range(1, n + 1)
        ]
        taken = [open('runs/page/parts/%d-of-%d.part' % (i, n)).read().count('\nexact.') for i in range(1, n + 1)]
        ok(
            sum(taken) == 2 and (n == 1 or any('units follow from those of all' in x for x in shares))
            and not any('follow from' in x.stdout for x in again),
            '%d shards once more: the exact network on each of its two inputs' % n,
            [taken, shares],
        )
    p = halfulp('merge', 'runs/page')
    got = files()
    ok(
        p.returncode == 1 and p.stdout == one.stdout and got == want and all('shard' in x.stdout for x in said_by),
        '%d shards and merge: the same' % n,
        [p.stderr[:300]] + [f for f in want if got.get(f) != want[f]],
    )

advice = halfulp('advise', *ADVISE)
want = files()
ok(advice.returncode == 0 and 'runs/out/model.onnx' in want, 'advise by one process', advice.stderr)
for n in (1, 2, 3, 5) if LONG else (2,):
    p = ranks(n, 'advise', *ADVISE)
    got = files()
    ok(p.stdout == advice.stdout and got == want, '%d ranks: what one process advises and writes' % n, p.stderr[:300])
for n in (1, 4, 7) if LONG else (3,):
    for i in range(1, n + 1):
        halfulp('advise', '--shard', '%d/%d' % (i, n), *ADVISE)
    p = halfulp('merge', 'runs/out')
    got = files()
    ok(p.stdout == advice.stdout and got == want, '%d shards and merge: the same' % n, p.stderr[:300])

halfulp('validate', '--shard', '1/2', *WORK)
folder = 'runs/validate-m'
p = halfulp('merge', folder)
ok(p.returncode == 3 and 'there are no parts of the shards 2/2' in p.stderr, 'a shard is missing', p.stderr)
p = halfulp('merge', folder + '/parts')
ok(p.returncode == 3 and p.stderr.count('\n') == 1, 'and so it is where the folder of parts is named', p.stderr)
os.mkdir('apart')
p = halfulp('merge', '../' + folder, cwd='apart')
ok(
    p.returncode == 3 and p.stderr == 'halfulp merge: m.onnx: cannot be opened: No such file or directory\n',
    'merge in another folder looks for the model there, and says so',
    p.stderr,
)
taken = open(folder + '/parts/1-of-2.part').read()
p = halfulp('validate', '--resume', *WORK, *TELL)
ok(p.returncode == 1 and p.stdout == one.stdout, '--resume computes what no part has', p.stderr)
open(folder + '/parts/1-of-2.part', 'w').write(taken.replace('\t0 -1 f', '\t0 -1 d', 1))
p = halfulp('validate', '--resume', *WORK, *TELL)
ok(p.returncode == 3 and p.stderr.count('\n') == 1 and 'was changed' in p.stderr, 'a part that was changed', p.stderr)
os.remove(folder + '/parts/1-of-2.part')
halfulp('validate', '--shard', '1/2', *WORK)
shutil.copy('other.npz', 'x.npz')
halfulp('validate', '--shard', '2/2', *WORK)
p = halfulp('merge', folder)
ok(
    p.returncode == 3 and p.stderr.count('\n') == 1 and 'work' in p.stderr,
    'shards that saw other data: one line',
    p.stderr,
)
p = ranks(2, 'validate', *WORK, last=['--batch', '3'])
ok(
    p.returncode == 3 and len(said(p)) == 1 and not p.stdout,
    'ranks with other options: exit 3, one line',
    p.stderr[:300],
)
named = [halfulp('validate', '--shard', '1/2:part=named.part', *more, *WORK) for more in ([], ['--resume'])]
ok(not any(x.returncode for x in named), 'a part that --shard names goes on with --resume', named[1].stderr[:300])
p = halfulp('validate', 'm.onnx', '--list', '--shard', '1/2')
ok(p.returncode == 2 and '--shard has no effect' in p.stderr, '--shard has no effect with --list', p.stderr)
finish()
