# SPDX-License-Identifier: Apache-2.0
"""A recorded step keeps no memory of the training alive that the step itself lets go, its copies go to disk as it runs,
and the trace is the same whether they did or stayed in memory."""
import gc
import os
import subprocess
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import TOP, halfulp_trace, record, torch  # noqa: E402
from halfulp_trace import arena, rundir  # noqa: E402
from tap import finish, home, none, ok, skip  # noqa: E402

nn = torch.nn
os.chdir(home())


class Watched:
    """Storages of a training, held weakly: how many of their bytes are alive at most, by what PyTorch has counted."""

    def __init__(self):
        self.refs, self.most = {}, 0

    def see(self, t):
        s = t.untyped_storage()
        if s._cdata not in self.refs:
            self.refs[s._cdata] = s._weak_ref(), s.nbytes()
        self.most = max(self.most, self.alive())

    def alive(self):
        total = 0
        for ref, size in self.refs.values():
            if torch.UntypedStorage._new_with_weak_ptr(ref) is not None:
                total += size
        return total


def deep(width=64, layers=12):
    torch.manual_seed(0)
    made = [m for _ in range(layers) for m in (nn.Linear(width, width), nn.GELU())]
    return nn.Sequential(*made, nn.Linear(width, 4))


def peak(recorder, checkpointed, rows=256):
    """The most bytes of activations and of their gradients that are alive at once in a step."""
    model, seen = deep(), Watched()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    if recorder:
        recorder = halfulp_trace.record(model, recorder, optimizer=opt, strict=True)

    def step():
        opt.zero_grad()
        h = torch.randn(rows, 64)
        for m in model:
            if checkpointed:
                h = torch.utils.checkpoint.checkpoint(m, h, use_reentrant=False)
            else:
                h = m(h)
            seen.see(h)
            h.register_hook(lambda g: seen.see(g))
        h.square().mean().backward()
        del h
        behind = seen.alive()
        opt.step()
        return behind
    gc.collect()
    gc.disable()                                 # what only a collection frees would not be free in a training
    try:
        if recorder:
            with recorder:
                behind = step()
        else:
            behind = step()
    finally:
        gc.enable()
    return seen.most, behind


for kind in (False, True):
    name = 'with checkpointing' if kind else 'plain'
    (plain, _), (recorded, behind) = peak(None, kind), peak('peak-%d' % kind, kind)
    ok(plain > 0 and recorded <= 1.2 * plain, '%s: %d bytes of activations are alive at most, %d without a recorder'
       % (name, recorded, plain))
    ok(behind == 0, '%s: none of them when the backward pass has ended' % name, str(behind))

# the same bytes from the file and from memory
runs = []
for limit in (arena.MEMORY, 0):
    arena.MEMORY, usual = limit, arena.MEMORY
    large = arena.LARGE
    arena.LARGE = 0 if limit == 0 else large
    model = deep().bfloat16()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    noise = [torch.randn(32, 64).bfloat16() for _ in range(2)]

    def train(step):
        opt.zero_grad()
        nn.functional.cross_entropy(model(noise[step]).float(), torch.arange(32) % 4).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    runs.append(record('limit-%d' % limit, model, train, 2, optimizer=opt))
    arena.MEMORY, arena.LARGE = usual, large
same = [open('%s/trace/step-%06d.safetensors' % (r.path, k), 'rb').read() for k in (0, 1) for r in runs]
ok(same[0] == same[1] and same[2] == same[3] and len(same[0]) > 100000,
   'traces of copies on disk are those of copies in memory, %d bytes' % len(same[0]))
none(sorted(set(os.listdir('limit-0/trace')) - {'step-000000.safetensors', 'step-000001.safetensors'}),
     'and leave no other file behind')
ok(runs[1].analyzed()[0] in (0, 1), 'which analyze takes')

# what several tensors of a trace share is there until the last of them is written
arena.MEMORY, usual = 0, arena.MEMORY
copies = arena.Arena('shared')
whole = copies.copy(torch.randn(64, 1024), torch.float32)
parts = {0: whole, 1: whole.reshape(1024, 64), 2: whole[32:], 3: copies.copy(torch.randn(4096), torch.float32)}
told = types.SimpleNamespace(tensors=[{'name': str(k)} for k in parts])
wanted = b''.join(t.numpy().tobytes() for t in parts.values())
rundir.write('shared.safetensors', rundir.safetensors(parts, told, copies))
ok(open('shared.safetensors', 'rb').read().endswith(wanted) and copies.where(whole[32:]) is not None,
   'tensors that share their memory are written whole')
arena.MEMORY = usual

# a disk that is full: the copies stay in memory
grow, calls = arena.Arena.grow, []


def full(self, size):
    calls.append(size)
    raise OSError(28, 'No space left on device')


arena.Arena.grow, usual, arena.MEMORY = full, arena.MEMORY, 0
model = deep()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
run = record('full', model, lambda step: (model(torch.randn(256, 64)).square().mean().backward(), opt.step()),
             optimizer=opt)
arena.Arena.grow, arena.MEMORY = grow, usual
ok(calls and len(run.values(0)) > 50, 'where the disk is full the step is recorded in memory')

# The memory of a step that is much larger than what may stay in memory, at each piece that goes to a file, and what its
# copies have on disk when its trace is written. Pages of mapped files are the system's, which has them as long as
# nobody else wants them: how many those are at most depends on what else the machine does.
GROWS = '''
import os, sys, torch, halfulp_trace
from halfulp_trace import arena
torch.set_num_threads(1)
def resident():
    return int([x for x in open('/proc/self/status') if x.startswith(sys.argv[2])][0].split()[1]) / 1024
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024, bias=False) for _ in range(16)])
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
def step():
    opt.zero_grad(); model(torch.randn(64, 1024)).square().mean().backward(); opt.step()
step(); step()
plain, most = resident(), [0]
def seen(call):
    def see(*a):
        most[0] = max(most[0], resident())
        return call(*a)
    return see
os.pwrite, os.copy_file_range, os.pread = seen(os.pwrite), seen(os.copy_file_range), seen(os.pread)
recorder = halfulp_trace.record(model, 'grows', optimizer=opt, strict=True)
replace, left = os.replace, [0]
def replaced(path, to):
    if 'safetensors' in path:
        left.append(os.fstat(arena.CURRENT[0].file.fileno()).st_blocks / 2048 if arena.REMOVE else 0)
    replace(path, to)
os.replace = replaced
with recorder:
    step()
size = os.path.getsize('grows/trace/step-000000.safetensors') / 2**20
print(plain, most[0], size, left[-1])
'''
if os.path.exists('/proc/self/status'):
    ran = subprocess.run([sys.executable, '-c', GROWS, 'run', 'RssAnon'], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=os.path.join(TOP, 'python'), OMP_NUM_THREADS='1'))
    plain, grown, size, rest = (float(x) for x in ran.stdout.split()) if ran.returncode == 0 else (1, 1e9, 0, 1e9)
    ok(size > 400 and grown - plain < 0.5 * size and grown - plain < 256,
       'a trace of %.0f MB: the process had %.0f MB of its own at most, %.0f before it' % (size, grown, plain),
       ran.stderr[-300:])
    ok(rest < arena.SEGMENT / 2**20 + 0.1 * size, 'its copies had %.0f MB on disk when it was written' % rest)
else:
    skip('no /proc')
finish()
