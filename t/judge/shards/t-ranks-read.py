# SPDX-License-Identifier: Apache-2.0
# What ranks read of a run, each of a copy of its own: a change that a rank would read is refused in one line, and one
# in a file that another rank compares is not noticed; by the kernel's account of the pages that were read, of large
# files each rank, as each shard, reads the tensors that it judges.
import ctypes
import json
import mmap
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import SMALL, tables, trained  # noqa: E402
from mpi import apart, need_mpi, said  # noqa: E402
from tap import HALFULP, bail_out, finish, halfulp, home, none, ok, skip  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

need_mpi(or_stub=True)
os.chdir(home())
dice = random.Random(int(os.environ.get('HALFULP_SEED', '20261128')))
NARROW = ['--no-propagate', '--sample', '12']


def ranges(path):
    """Where a file's tensors are, and where the first of them begins."""
    t = Tensors(path)
    begin = os.path.getsize(path) - len(t.body)
    return {k: [begin + x for x in v['data_offsets']] for k, v in t.head.items() if k != '__metadata__'}, begin


def copies(run, n):
    for k in range(n):
        shutil.rmtree('of-%d' % k, ignore_errors=True)
        shutil.copytree(run, 'of-%d' % k)


def flip(path, first, last):
    with open(path, 'r+b') as f:
        k = dice.randrange(first, last)
        f.seek(k)
        old = f.read(1)[0]
        f.seek(k)
        f.write(bytes([old ^ dice.randrange(1, 256)]))


def analyzed(n, *options):
    return apart(*[[HALFULP, 'analyze', *options, 'of-%d' % k] for k in range(n)])


trained('run', '--steps', '4', '--trace', 'steps=0,1,2', '--checkpoint-every', '2', '--policy', 'mixed_float16')
files = json.load(open('run/manifest.json'))['files']
copies('run', 1)
halfulp('analyze', *NARROW, '--steps', '0,2', 'of-0')
want = tables('of-0')

# Files that nobody judges: of those with tensors rank 0 compares the first, rank 1 the second; rank 0 all tables
taken = ['trace/step-%06d.safetensors' % s for s in (0, 2)]
dealt = [f for f in sorted(files) if f.endswith('.safetensors') and f not in taken]
wrong, refusals = [], 0
for file in dealt + ['metrics.tsv', 'grads.tsv']:
    who = dealt.index(file) % 2 if file in dealt else 0
    for bad in (0, 1):
        copies('run', 2)
        size = os.path.getsize('run/' + file)
        flip('of-%d/%s' % (bad, file), size // 2, size)
        p = analyzed(2, *NARROW, '--steps', '0,2')
        if bad == who:
            refusals += 1
            fine = p.returncode == 3 and len(said(p)) == 1 and 'of-%d/%s' % (bad, file) in said(p)[0]
            fine = fine and not tables('of-0')
        else:
            fine = p.returncode == 0 and tables('of-0') == want
        wrong += ['%s of rank %d: exit %d: %s' % (file, bad, p.returncode, p.stderr[:300])] * (not fine)
text = 'a byte of %d files that nobody judges: refused %d times by the rank that compares the file'
none(wrong, text % (len(dealt) + 2, refusals))
ok(len(dealt) >= 3 and any('checkpoint' in f for f in dealt), 'steps and checkpoints among them', dealt)

# What is judged: whoever it is, one line says which tensor
wrong = []
at, begin = ranges('run/trace/step-000002.safetensors')
for t, first, last in (('dense2.xw', *at['dense2.xw']), ('dense1.w_next', *at['dense1.w_next']), ('header', 0, begin)):
    for options in (NARROW, ['--sample', '12']):
        copies('run', 1)
        flip('of-0/trace/step-000002.safetensors', first, last)
        shutil.copytree('of-0', 'of-1', dirs_exist_ok=True)
        p = analyzed(2, *options)
        # two where both ranks find it at the same moment, or where the other is ended before it does
        lines = [x for x in said(p) if 'as it ends all ranks' not in x]
        fine = p.returncode == 3 and len(lines) in (1, 2) and all(t in x and 'was changed' in x for x in lines)
        if not fine or tables('of-0'):
            wrong.append('%s, %s: exit %d: %s' % (t, options[0], p.returncode, p.stderr[:300]))
none(wrong, 'a byte of a tensor or of the header: exit 3, a line that says so, no table')

# An exact step that ranks execute together, of which each reads all
JOINT = ['--model', 'mlp:width=0.0625', '--data', 'size=10,train=128,eval=8', '--quiet']
JOINT += ['--batch', '128']
trained('joint', *JOINT, '--steps', '1', '--trace', 'steps=0', '--policy', 'mixed_float16')
wrong = []
at, _ = ranges('joint/trace/step-000000.safetensors')
for t in ('input.x', 'dense1.xw', 'dense3.dw'):
    for bad in ((1,), (0, 1, 2, 3)):
        copies('joint', 4)
        for k in bad:
            flip('of-%d/trace/step-000000.safetensors' % k, *at[t])
        p = analyzed(4, '--only', 'replay', '--sample', '2')
        who = 'rank 1 of 4, on' if bad[0] else 'of-0/trace'
        if p.returncode != 3 or len(said(p)) != 1 or who not in said(p)[0] or 'tensor %s,' % t not in said(p)[0]:
            wrong.append('%s, ranks %s: exit %d: %s' % (t, bad, p.returncode, p.stderr[:300]))
none(wrong, 'a byte of a tensor of an exact step that ranks execute together: exit 3, one line of rank 0')

# A training that goes on: every rank reads the newest checkpoint, and only rank 0 all of the run
trained('cut', *SMALL, '--batch', 'micro=2', '--steps', '4', '--trace', 'steps=0', '--checkpoint-every', '1')
m = json.load(open('cut/manifest.json'))
m.update(finished=False, steps_done=3)
last = 'checkpoint/step-000004.safetensors'
os.remove('cut/' + last)
m['files'] = {k: v for k, v in m['files'].items() if k != last and not k.endswith('.tsv')}
json.dump(m, open('cut/manifest.json', 'w'))
wrong = []
for file, rank, code in (
    ('trace/step-000000.safetensors', 0, 3),
    ('trace/step-000000.safetensors', 1, 0),
    ('checkpoint/step-000003.safetensors', 1, 3),
):
    copies('cut', 2)
    at, _ = ranges('cut/' + file)
    flip('of-%d/%s' % (rank, file), *at['dense2.w'])
    p = apart(*[[HALFULP, 'train', '--resume', '--quiet', 'of-%d' % k] for k in range(2)])
    if p.returncode != code or len(said(p)) != (code > 0) or (code and 'tensor dense2.w' not in said(p)[0]):
        wrong.append('%s of rank %d: exit %d: %s' % (file, rank, p.returncode, p.stderr[:300]))
none(wrong, 'train --resume: rank 1 refuses a changed checkpoint, and rank 0 alone a changed trace')

# Pages of large files that were read, as the kernel has them
libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE
EDGE, LARGE = 1 << 19, 3 << 19  # the kernel reads that far beyond what is asked for; tensors with something within


def evict(path):
    fd = os.open(path, os.O_RDWR)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def resident(path):
    """For each page of the file whether memory holds it."""
    fd = os.open(path, os.O_RDONLY)
    size = os.path.getsize(path)
    with mmap.mmap(fd, size, access=mmap.ACCESS_COPY) as m:
        flags = (ctypes.c_ubyte * ((size + PAGE - 1) // PAGE))()
        first = ctypes.c_char.from_buffer(m)
        failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), flags)
        del first
    os.close(fd)
    return None if failed else [x & 1 for x in flags]


def inside(r, edge=EDGE):
    """The pages of a range of bytes that are more than EDGE within it."""
    return slice((r[0] + edge + PAGE - 1) // PAGE, (r[1] - edge) // PAGE)


WIDE = ['--model', 'mlp:width=1', '--data', 'size=28,train=4096,eval=8', '--quiet']
WIDE += ['--batch', '4096']
trained('wide', *WIDE, '--steps', '3', '--trace', 'steps=0,1,2', '--policy', 'mixed_float16')
TRACES = ['trace/step-%06d.safetensors' % step for step in range(3)]
at, _ = ranges('wide/' + TRACES[0])
large = [(step, t) for step in (0, 1) for t, r in at.items() if r[1] - r[0] >= LARGE]
program = json.load(open('wide/program-train.json'))
name = {t['id']: t['name'] for t in program['tensors']}
made = {t for c in program['calls'] for t in c['out']}
copies('wide', 3)


def evict_of(k):
    for f in TRACES:
        evict('of-%d/%s' % (k, f))


def forget_pages():
    for k in range(3):
        evict_of(k)


def pages_read(k, f):
    pages = resident('of-%d/%s' % (k, f))
    if pages is None:
        bail_out('mincore: ' + os.strerror(ctypes.get_errno()))
    return pages


forget_pages()
pages = resident('of-0/' + TRACES[0])
if not pages or sum(pages) > len(pages) // 100:
    skip('what was read of large files', 'this file system does not let go of its pages')
    finish()
def of_shard(k):
    """What shard K + 1 of 3 read that it does not judge, or the reverse, and the share of all bytes that it read."""
    evict_of(k)
    p = halfulp('analyze', '--shard', '%d/3:part=%d.part' % (k + 1, k), '--steps', '0,1', *NARROW, 'of-%d' % k)
    if p.returncode:
        bail_out(p.stderr)
    units = [line.split('\t')[0].split('.') for line in open('%d.part' % k) if line[0] not in '#u']
    mine, wrong = set(), []
    for step, c, *_ in units:
        call = program['calls'][int(c)] if c != 'all' else None
        mine |= {(int(step), name[t]) for t in (call['in'] + call['out'] if call else set(name) - made)}
    pages = [pages_read(k, f) for f in TRACES]
    for step, t in large:
        there = (step, t) in mine
        read = pages[step][inside(at[t], 0 if there else EDGE)]
        if any(x != there for x in read):
            wrong.append('shard %d: %d of %d pages of step %d, %s were read' % (k + 1, sum(read), len(read), step, t))
    wrong += ['shard %d: another step was read' % (k + 1)] * any(pages[2])
    return wrong, sum(map(sum, pages)) / sum(map(len, pages[:2]))


wrong, shares = [], []
for k in range(3):
    for _ in range(4):  # a kernel that is short of memory takes pages back before they are looked at
        found, share = of_shard(k)
        if not found:
            break
        os.remove('%d.part' % k)
    wrong += found
    shares.append(share)
text = 'of %d large tensors each of 3 shards reads those that it judges, to the last page, and no page within others'
none(wrong, text % len(large))
ok(
    len(large) >= 12 and sum(shares) < 2.5,
    'of %.0f MB they read %s'
    % (2 * os.path.getsize('wide/' + TRACES[0]) / 1e6, ', '.join('%.0f %%' % (100 * x) for x in shares)),
)

forget_pages()
p = analyzed(3, '--steps', '0,1', *NARROW)
read = [{(s, t) for s, t in large if any(pages_read(k, TRACES[s])[inside(at[t])])} for k in range(3)]
units = {t: (t[1] in {name[k] for k in set(name) - made}) for t in large}  # of the step's own unit
for c in program['calls']:
    for t in {(s, name[k]) for s in (0, 1) for k in c['in'] + c['out']} & set(large):
        units[t] += 1
often = [t for t in large if sum(t in x for x in read) > units[t]]  # a unit is one rank's
ok(
    p.returncode == 0 and set.union(*read) == set(large) and not often and min(units.values()) < 3,
    'three ranks read %s of the %d large tensors, and all of them together'
    % (', '.join(str(len(x)) for x in read), len(large)),
    [p.stderr[:300], often],
)
other = [sum(pages_read(k, TRACES[2])) > 0 for k in range(3)]
ok(sum(other) == 1, 'and one of them a step that is not analyzed', other)
finish()
