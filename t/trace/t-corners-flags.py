# SPDX-License-Identifier: Apache-2.0
"""What a recording says beside values: phases of an optimizer's closure, calls that are recomputed, the clock of Adam,
numbers that somebody read by address, warnings, optimizers that are None, and parameters of no format."""
import array
import ctypes
import math
import os
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import halfulp_trace, judged, loss, net, record, torch, trained  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn = torch.nn
os.chdir(home())


# --- an optimizer that calls a closure: what runs there is forward and backward, not the update
model = net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def by_closure(step):
    def closure():
        opt.zero_grad()
        value = loss(model)
        value.backward()
        return value
    opt.step(closure)


run = record('closure', model, by_closure, 2, optimizer=opt)
judged(run, 'a closure')
phases = [(c['op'], c['phase']) for c in run.calls if c['op'] in ('matmul', 'relu', 'relu_dx', 'axpby')]
ok(phases == [('matmul', 'forward'), ('relu', 'forward'), ('matmul', 'forward')] + [('matmul', 'backward')] * 2
   + [('relu_dx', 'backward'), ('matmul', 'backward')] + [('axpby', 'update')] * 4,
   'its calls have their phases', phases)
ok(all(run.next(0, n) and run.grad(0, n) for n in run.names[:4]), 'and its weights have gradients and updates')

# the same where no module runs, so that nothing but the closure tells a new forward pass
model = net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def without_modules(step):
    def closure():
        opt.zero_grad()
        value = torch.nn.functional.linear(torch.randn(4, 8), model[0].weight, model[0].bias).square().mean()
        value.backward()
        return value
    opt.step(closure)


run = record('closure-bare', model, without_modules, 2, optimizer=opt)
judged(run, 'a closure without modules')
phases = [c['phase'] for c in run.calls if c['op'] == 'matmul']
ok(phases == ['forward', 'backward'], 'its products have their phases', phases)

# --- only what is computed twice says so
ok(not [c for c in run.calls if 'recomputed' in c], 'without checkpoints no call is recomputed')
model = net()


def again(step):
    torch.utils.checkpoint.checkpoint(model, torch.randn(4, 8), use_reentrant=False).square().mean().backward()


run = record('again', model, again)
judged(run, 'a checkpoint')
twice = [c['op'] for c in run.calls if c.get('recomputed')]
ok(twice and set(twice) <= {'matmul', 'relu', 'move', 'concat'} and not
   [c for c in run.calls if c.get('recomputed') and c['phase'] == 'update'], 'calls of a checkpoint are', twice)


# --- Adam's clock: one for all weights of one age, one for each pair of factors
def clocks(run):
    return [n for n in run.names if n.startswith('optim.clock')]


for betas, wanted in (((0.9, 0.99), 1), ((0.8, 0.99), 2)):
    model = net()
    opt = torch.optim.Adam([dict(params=model[0].parameters()), dict(params=model[2].parameters(), betas=betas)],
            betas=(0.9, 0.99), foreach=False)
    run = trained('clock-%d' % wanted, model, opt)
    judged(run, 'Adam with %d pairs of factors' % wanted)
    ok(len(clocks(run)) == wanted, '%d clocks' % wanted, clocks(run))
    for step in range(2):
        times = sorted(run.values(step)[n].tolist() for n in clocks(run))
        ok(times == sorted([step + 1, b[0] ** (step + 1), b[1] ** (step + 1)] for b in {(0.9, 0.99), betas}),
           'step %d: its number and the powers of the factors' % (step + 1), times)

# --- what somebody reads by the address of a tensor's memory, and what PyTorch does
class Strange(nn.Module):
    def __init__(self, stranger):
        super().__init__()
        self.before, self.after, self.stranger = nn.Linear(6, 6), nn.Linear(6, 2), stranger

    def forward(self, x):
        h = self.before(x)
        with torch.no_grad():
            if self.stranger:
                b = ctypes.string_at(h.data_ptr(), h.numel() * h.element_size())
                numbers = array.array('f', [math.sin(v) for v in array.array('f', b)])
                self.factor = torch.frombuffer(numbers, dtype=h.dtype).reshape(h.shape)
            else:
                self.factor = torch.tensor([0.5, 0.25, 1.0, 2.0, 0.125, 1.5])
        return self.after(h * self.factor)


for stranger in (False, True):
    model = Strange(stranger)
    run = record('address-%d' % stranger, model, lambda step: model(torch.randn(3, 6)).square().mean().backward())
    code, text, outside = run.analyzed('--sample', 'all')
    ok(outside == 0 and bool(run.judged_by(run.grad(0, 'after.weight'))) == stranger,
       'numbers %s' % ('read by address are not judged' if stranger else 'of a list are known'),
       (run.judged_by(run.grad(0, 'after.weight')), text))

# --- a summary has the parameters that a format holds, and no others
model = net()
model.codes = nn.Parameter(torch.arange(5, dtype=torch.int32), requires_grad=False)
model.empty = nn.Parameter(torch.zeros(0))
with halfulp_trace.summary(model, 'summary'):
    loss(model).backward()
with open('summary/tensors.tsv') as f:
    names = {line.split('\t')[1] for line in f}
ok({'0.weight', '2.bias'} <= names and not {'codes', 'empty'} & names, 'parameters of a summary', names)


# --- a summary has what runs behind an update, and nothing of the update itself
def activations(passes, run):
    model = net()
    opt = torch.optim.Adam(model.parameters(), 0.1)
    with halfulp_trace.summary(model, run, optimizer=opt):
        for _ in range(passes):
            opt.zero_grad()
            loss(model).backward()
            opt.step()
    with open(run + '/tensors.tsv') as f:
        rows = [line.split('\t') for line in f]
    return sum(r[rows[0].index('kind')] == 'activation' for r in rows)


one, two = activations(1, 'one-pass'), activations(2, 'two-passes')
ok(two == 2 * one > 0, 'a second pass behind an update has as many activations as the first', (one, two))


# --- warnings of the gradient of a product: only where there is one
for on, wanted in ((True, 1), (False, 0)):
    model = nn.Linear(4, 3)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter('always')
        with halfulp_trace.record(model, 'product-%d' % on, strict=True):
            with torch.set_grad_enabled(on):
                y = (model.weight if on else model.weight.detach()).prod(1).sum()
            if on:
                y.backward()
    said = [str(w.message) for w in heard if 'gradient of a product' in str(w.message)]
    ok(len(said) == wanted, 'a product %s a gradient: %d warnings' % ('with' if on else 'without', wanted), said)

# --- optimizers that are absent
for name, opts in (('none', None), ('nones', [None, None]), ('some', [None, torch.optim.SGD(net().parameters(), 0.1)])):
    model = net()
    if name == 'some':
        opts[1] = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(step):
        model.zero_grad()
        loss(model).backward()
        for o in opts or []:
            if o is not None:
                o.step()
    run = record('opt-' + name, model, train, optimizer=opts)
    ok(len(run.recorder.optimizers) == (name == 'some'), 'optimizers that are None are none: ' + name)
    ok((run.next(0, '0.weight') is not None) == (name == 'some'),
       'the weights %s' % ('move' if name == 'some' else 'stay'))
finish()
