# SPDX-License-Identifier: Apache-2.0
"""A step like the one before writes its trace once, each copy to its place; its bytes are those of copies in memory,
and where the step differs, or the file system gives such a file no name, the copies are copied as ever."""
import os
import subprocess
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import TOP, record, torch  # noqa: E402
from halfulp_trace import arena, laid, rundir  # noqa: E402
from tap import finish, home, none, ok, skip  # noqa: E402

nn = torch.nn
os.chdir(home())
ROWS = 32, 32, 32, 16, 16                        # of each step
written, became = [0], []


def counted(call):
    def counting(*args, **kwargs):
        n = call(*args, **kwargs)
        written[0] += n
        return n
    return counting


os.pwrite, os.copy_file_range = counted(os.pwrite), counted(os.copy_file_range)
usual = laid.Laid.becomes


def becomes(self, path, head, layout):
    became.append(usual(self, path, head, layout))
    return became[-1]


laid.Laid.becomes = becomes


def recorded(run, memory):
    """Steps with so many bytes of copies in memory; the bytes that were written, and those of the traces."""
    torch.manual_seed(0)
    model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(64, 64), nn.GELU())], nn.Linear(64, 4))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    noise = [torch.randn(n, 8, 64) for n in ROWS]
    wrote = []

    def train(step):
        wrote.append(written[0])
        opt.zero_grad()
        y = model(noise[step].transpose(0, 1)).flatten(0, 1).float()
        nn.functional.cross_entropy(y, torch.arange(len(y)) % 4).backward()
        opt.step()
    before, arena.MEMORY = arena.MEMORY, memory
    became.clear()
    record(run, model, train, len(ROWS), optimizer=opt)
    arena.MEMORY = before
    wrote.append(written[0])
    traces = [open('%s/trace/step-%06d.safetensors' % (run, k), 'rb').read() for k in range(len(ROWS))]
    return [b - a for a, b in zip(wrote, wrote[1:])], traces


if not hasattr(os, 'O_TMPFILE') or not os.path.isdir('/proc/self/fd'):
    skip('traces in place', 'this system has no files without a name')
    finish()
    sys.exit()
_, wanted = recorded('memory', 1 << 40)
ok(not any(became), 'copies in memory are written as ever')
bytes_, got = recorded('file', 0)
ok(got == wanted, 'traces whose copies went to their places are those of copies in memory, %d bytes' % len(wanted[1]))
if not any(became):                              # O_TMPFILE is refused, or linking is
    skip('traces in place', 'this file system gives files without a name no name')
    finish()
    sys.exit()
# the second step is the first that has states of the optimizer
ok(became == [False, False, True, False, True], 'a step like the one before, and no other, is written in place',
   str(became))
sizes = [len(t) for t in wanted]
ok(all(b < 1.1 * n for b, n, yes in zip(bytes_, sizes, became) if yes)
   and bytes_[0] > 1.5 * sizes[0],
   'it writes each byte once: %s of traces of %s' % (bytes_, sizes))
names = {'step-%06d.safetensors' % k for k in range(len(ROWS))}
none(sorted(set(os.listdir('file/trace')) ^ names), 'no other file is left')
mask = os.umask(0)
os.umask(mask)
ok({os.stat('file/trace/' + n).st_mode & 0o777 for n in names} == {0o666 & ~mask}, 'all have the usual permissions')

# a file system that gives such files no name
link = os.link


def refused(*args, **kwargs):
    raise OSError(95, 'Operation not supported')


os.link = refused
_, got = recorded('refused', 0)
ok(not any(became) and got == wanted, 'where the file gets no name the traces are the same')
none(sorted(set(os.listdir('refused/trace')) ^ names), 'and no other file is left')
os.link = link

# copies of the same sizes that were made in another order
told = types.SimpleNamespace(tensors=[{'name': str(k)} for k in range(2)])
arena.MEMORY, before = 0, arena.MEMORY
first = arena.Arena('order')
a, b = (torch.randn(64, 64) for _ in range(2))
values = {0: first.copy(a, a.dtype), 1: first.copy(b, b.dtype)}
head, places = rundir.layout(values, told)
plan = first.plan([(at, values[i]) for at, i in places])
for turned in (False, True):
    second = arena.Arena('order', plan)
    pair = [second.copy(x, x.dtype) for x in ((b, a) if turned else (a, b))]
    values = dict(enumerate(pair[::-1] if turned else pair))
    head, places = rundir.layout(values, told)
    done = second.laid.becomes('order/x', head, [(at, values[i]) for at, i in places])
    if not done:
        rundir.write('order/x', rundir.safetensors(values, told, second))
    got = open('order/x', 'rb').read()
    ok(done != turned and got[len(head):] == a.numpy().tobytes() + b.numpy().tobytes(),
       'copies in %s order are written %s' % (('another', 'as ever') if turned else ('the same', 'in place')))
arena.MEMORY = before

# a step that is killed leaves no trace that looks whole
KILLED = '''
import os, torch, halfulp_trace
from halfulp_trace import arena
arena.MEMORY = 0
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
recorder = halfulp_trace.record(model, 'killed', strict=True)
for step in range(3):
    with recorder:
        model(torch.randn(64, 64)).square().mean().backward()
        if step == 2:
            assert arena.CURRENT[0].laid.placed
            os._exit(9)
'''
ran = subprocess.run([sys.executable, '-c', KILLED], capture_output=True, text=True,
                     env=dict(os.environ, PYTHONPATH=os.path.join(TOP, 'python'), OMP_NUM_THREADS='1'))
ok(ran.returncode == 9 and sorted(os.listdir('killed/trace')) == ['step-%06d.safetensors' % k for k in range(2)],
   'a step that is killed leaves nothing behind', ran.stderr[-300:])
finish()
