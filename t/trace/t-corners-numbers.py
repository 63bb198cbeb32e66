# SPDX-License-Identifier: Apache-2.0
"""Operators that few trainings call by themselves: dropout's own kernel, sparse gradients times a number, decay of
Adagrad's learning rate. Each is judged whole: no output is outside its bound, and none is opaque."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import judged, net, record, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn = torch.nn
os.chdir(home())


# --- dropout by the kernel that draws and scales at once, and its gradient
class Dropped(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Linear(6, 8), nn.Linear(8, 2)

    def forward(self, x):
        y, self.kept = torch.native_dropout(self.before(x), 0.25, True)
        y.retain_grad()
        self.dropped = y
        return self.after(y)


for dtype in (torch.float32, torch.bfloat16):
    model = Dropped().to(dtype)

    def train(step):
        model.zero_grad()
        model(torch.randn(5, 6).to(dtype)).float().square().sum().backward()
    run = record('dropped-%s' % str(dtype)[6:], model, train, 2)
    judged(run, run.path)
    ok(0 < int(model.kept.sum()) < model.kept.numel() and bool((model.dropped[~model.kept] == 0).all()),
       'some elements are dropped, and these are 0', model.kept)
    ops = [c['op'] for c in run.calls]
    ok(ops.count('mask') == 2 and ops.count('scale') >= 2, 'forward and backward each mask and scale', ops)


# --- a sparse gradient times a number, as clipping and gradients that are averaged have it
for name, by in (('number', 0.3), ('tensor', torch.tensor(0.3)), ('quotient', None)):
    model = nn.Embedding(16, 4, sparse=True)

    def train(step):
        g, = torch.autograd.grad((model(torch.tensor([1, 5, 5, 9])) * 0.75).square().sum(), model.weight)
        with torch.no_grad():
            model.weight.add_(g / 3.0 if by is None else g * by, alpha=-0.1)
    run = record('sparse-' + name, model, train)
    judged(run, 'a sparse gradient by a ' + name)
    of = run.made_of(run.next(0, 'model.weight'))
    ok(not [n for n in of if n.startswith('input.x') and '@' not in n and len(run.tensors[n]['shape']) > 1],
       'no row came from outside', of)


# --- what adds, writes or limits nothing: an embedding whose every index is its padding, a view of no elements, an
# infinite limit
class Nothing(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(9, 6, padding_idx=1), nn.Linear(6, 2)

    def forward(self, x):
        y = self.table(x) + self.out.weight[0]
        z = y * 2
        z[..., 6:] = y[..., :0]
        z[..., 1::9] = y[..., 2::9]
        z[:0].mul_(3)
        z = z.clamp(-float('inf'), 2.5).clamp(-2.5, float('inf'))
        return self.out(z)


model = Nothing()
run = record('nothing', model, lambda step: model(torch.ones(3, 4, dtype=torch.long)).square().sum().backward())
judged(run, 'an embedding that learns nothing')
g = run.grad(0, 'table.weight')
ok(g is not None and not run.values(0)[g].any(), 'its gradient is zero', g)


# --- Adagrad, whose learning rate decays by the number of the step
for foreach in (False, True):
    model = net()
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1, lr_decay=0.5, foreach=foreach)

    def train(step):
        opt.zero_grad()
        model(torch.randn(4, model[0].in_features)).square().sum().backward()
        opt.step()
    judged(record('adagrad-%d' % foreach, model, train, 3, optimizer=opt), 'Adagrad with decay, foreach=%s' % foreach)
finish()
