# SPDX-License-Identifier: Apache-2.0
"""Trainings that keep what a rounding loses in a tensor of its own, which a later step reads, beside the same in
float64: the weight and what is kept for it are one value. Where the tensor is kept and nobody reads it, or it is read
with the wrong sign, the updates are as lost as ever."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Run, halfulp_trace, torch  # noqa: E402, which ends the test where there is no PyTorch
import twins  # noqa: E402
from recipes import RECIPES  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402
from tutorials import data, entropy, net  # noqa: E402

os.chdir(home())
RATE = 1e-3
KINDS = {'compensated': RECIPES['compensated']}


def kind(f):
    return KINDS.setdefault(f.__name__, f)


def by_hand(update, factor):
    """A training whose update of a parameter by a gradient keeps a tensor, `factor` times of which is part of the
    weight."""
    def of(dtype):
        model, rest = net(16, 32, 4).to(dtype), {}
        model.whole = lambda: [p.detach().double() + factor * rest[p].double() if p in rest else p.detach().double()
                               for p in model.parameters()]

        def step(k):
            model.zero_grad()
            x, y = data(k, dtype)
            entropy(model(x), y).backward()
            with torch.no_grad():
                for p in model.parameters():
                    update(p, p.grad, rest.setdefault(p, torch.zeros_like(p)))
        return model, step
    return of


def taken_off(p, g, c):
    """Kahan's own variant: what is kept is taken off the next step."""
    y = -RATE * g - c
    t = p + y
    c.copy_((t - p) - y)
    p.copy_(t)


def halves(p, g, c):
    """A float32 weight, stored in two halves."""
    wide = torch.promote_types(p.dtype, torch.float32)
    whole = p.to(wide) + c.to(wide)
    whole.sub_(g.to(wide), alpha=RATE)
    p.copy_(whole)
    c.copy_(whole - p.to(wide))


def feedback(p, g, e):
    """A gradient that is sent in fp8, whose rounding error is sent with the next one."""
    wanted = g + e
    sent = (wanted if p.dtype == torch.float64 else wanted.to(torch.float8_e5m2)).to(p.dtype)
    e.copy_(wanted - sent)
    p.sub_(sent, alpha=RATE)


def momentum(p, g, v):
    """What is kept is added, and is no rounding error."""
    v.mul_(0.9).add_(g)
    p.sub_(v, alpha=RATE)


def never_read(p, g, c):
    new = p - RATE * g
    c.copy_((p - new) - RATE * g)
    p.copy_(new)


def turned(p, g, c):
    y = -RATE * g + c
    t = p + y
    c.copy_((t - p) - y)
    p.copy_(t)


class Compensated(torch.optim.Optimizer):
    """AdamW with decoupled decay and a compensation, as optimizers for weights in bf16 have it."""

    def __init__(self, parameters):
        super().__init__(parameters, {'lr': RATE})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]['params']:
            s = self.state[p]
            if not s:
                s.update(k=0, m=torch.zeros_like(p), v=torch.zeros_like(p), rest=torch.zeros_like(p))
            s['k'] += 1
            s['m'].lerp_(p.grad, 0.1)
            s['v'].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
            p.mul_(1 - RATE * 0.01)
            s['rest'].addcdiv_(s['m'], s['v'].sqrt().add_(1e-3), value=-RATE / (1 - 0.9 ** s['k']))
            old = p.clone()
            p.add_(s['rest'])
            s['rest'].add_(old.sub_(p))


@kind
def adamw(dtype):
    model = net(16, 32, 4).to(dtype)
    opt = Compensated(model.parameters())
    model.whole = lambda: [p.detach().double() + (opt.state[p]['rest'].double() if opt.state[p] else 0)
                           for p in model.parameters()]

    def step(k):
        opt.zero_grad()
        x, y = data(k, dtype)
        entropy(model(x), y).backward()
        opt.step()
    return model, step


KINDS.update(taken_off=by_hand(taken_off, -1), halves=by_hand(halves, 1), feedback=by_hand(feedback, -RATE),
             momentum=by_hand(momentum, 0))
words = twins.hold(KINDS, few=True)
none(['%s, %s: %s' % (*k, w) for k, w in words.items()
      if w != 'harmless' and (k[0] not in ('feedback', 'momentum') or k[1] == 'autocast')], 'what is kept for the next step is not lost')
none(['%s: %s' % (f.__name__, word) for f in (never_read, turned) for word in [twins.judged(by_hand(f, 0), 'bf16')[0]]
      if word != 'fatal'], 'what nobody reads, or reads with the wrong sign, is lost')

# A state that the first recorded step made counts in that step's digest as it does in a file that is written anew.
model, step = KINDS['taken_off'](torch.bfloat16)
recorder = halfulp_trace.record(model, 'run', overwrite=True, strict=True)
for k in range(2):
    with recorder:
        step(k)
run = Run('run', recorder)
digests = {}
for k in range(2):
    values = {run.id(n): v for n, v in run.values(k).items()}
    own = [dict(t, next=run.steps[k]['next'].get(str(t['id']))) for t in run.tensors.values()]
    digests[k] = halfulp_trace.rundir.digest(type('p', (), {'tensors': own}), values, lambda: None)
lines = [line.split('\t') for line in open('run/metrics.tsv').read().splitlines()]
ok([r[lines[0].index('digest')] for r in lines[1:]] == [digests[0], digests[1]], 'the digests are those of the states',
   digests)
finish()
