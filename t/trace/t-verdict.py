# SPDX-License-Identifier: Apache-2.0
"""The verdict on PyTorch's steps says what it saw: changing learning rates hide no step, gradients that became 0 count
by the steps that their weights did not take, optimizers of every kind are judged or counted by the bits that weights
kept, what an unknown operator made gives no all-clear, and the first NaN is named. Weights are counted here besides."""
import json
import math
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

warnings.simplefilter('ignore')
torch.set_num_threads(1)
os.chdir(home())
nn, F = torch.nn, torch.nn.functional


def train(name, model, optimizer, loss, steps=1, rates=None):
    """Records steps; returns the summary, and of all steps how many weights had a gradient and how many kept bits."""
    record, pulled, kept = halfulp_trace.record(model, name, optimizer=optimizer), 0, 0
    for s in range(steps):
        for group in optimizer.param_groups if rates else []:
            group['lr'] = rates[s]
        before = [p.detach().clone() for p in model.parameters()]
        with record:
            optimizer.zero_grad()
            x = loss(s)
            x.backward()
            optimizer.step()
            record.loss(x)
        for old, p in zip(before, model.parameters()):
            some = (p.grad != 0) if p.grad is not None else torch.zeros_like(p, dtype=torch.bool)
            pulled += int(some.sum())
            kept += int((some & (old == p)).sum())
    ran = halfulp('analyze', name)
    if ran.returncode > 1:
        ok(False, '%s: %s' % (name, ran.stderr))
        return {}, pulled, kept
    return json.load(open(name + '/analysis/summary.json')), pulled, kept


def counted(name, summary, pulled, kept):
    seen = summary['coverage']
    ok((seen['weights_with_gradient'], seen['weights_kept']) == (pulled, kept),
       '%s: %d of %d weights with a gradient kept their bits' % (name, kept, pulled), seen)


torch.manual_seed(0)
# three steps whose rate is too small for bfloat16, and one that moves
model = nn.Linear(64, 64).bfloat16()
data = [torch.randn(16, 64).bfloat16() for _ in range(4)]
summary, pulled, kept = train('rates', model, torch.optim.SGD(model.parameters(), lr=1.0),
                              lambda s: model(data[s]).float().square().mean(), 4, [1e-6, 1.1e-6, 1.2e-6, 3.0])
counted('rates', summary, pulled, kept)
ok(summary['verdict_word'] == 'fatal' and kept > 12480, 'no rate hides the steps before it: ' + summary['verdict'][0])
ok([s['weights'] for s in summary['coverage']['steps']] == [2] * 4, 'each step has its own updates')

# gradients that become 0 in fp16, of weights that Adam would move as far as any
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
data = [(torch.randn(8, 16) * 1e-3, torch.randint(0, 4, (8,))) for _ in range(2)]


def scaled(s):
    with torch.autocast('cpu', dtype=torch.float16):
        out = model(data[s][0])
    return F.cross_entropy(out.float(), data[s][1]) * 1e-4


summary, pulled, kept = train('zeroed', model, torch.optim.AdamW(model.parameters(), lr=1e-3), scaled, 2)
ok(summary['verdict_word'] in ('costs', 'fatal') and summary['numbers']['weights_l2_share_lost'] > 0.1
   and summary['numbers']['gradient_l2_share_lost'] < 0.01, 'zeroed gradients count wholly: ' + summary['verdict'][0])

# every optimizer of a bf16 net whose updates are mostly too small for it
OPTIMIZERS = ('SGD', 'ASGD', 'Adagrad', 'Adam', 'AdamW', 'Adamax', 'NAdam', 'RAdam', 'RMSprop', 'Adadelta', 'Rprop',
              'Adafactor')  # fmt: skip
for optimizer in OPTIMIZERS:
    make = getattr(torch.optim, optimizer, None)
    if make is None:
        skip('%s is not in this PyTorch' % optimizer)
        continue
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 8)).bfloat16()
    x, y = torch.randn(16, 32).bfloat16(), torch.randint(0, 8, (16,))
    opt = make(model.parameters(), lr=1e-5)
    name = 'bf16-' + optimizer
    summary, pulled, kept = train(name, model, opt, lambda s: F.cross_entropy(model(x).float(), y), 2)
    if not summary:
        continue
    counted(name, summary, pulled, kept)
    share = kept / pulled
    ok(share < 0.5 or summary['verdict_word'] in ('costs', 'fatal'),
       '%s: %.3f kept their bits: %s' % (name, share, summary['verdict'][0]))
    if optimizer in ('AdamW', 'RMSprop'):
        ok(('fused=True rounds once' in summary['verdict'][0]) == (optimizer == 'AdamW'),
           '%s: that it is not fused is said where it could be' % optimizer)
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 8)).bfloat16()
try:
    opt = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    summary, pulled, kept = train('fused', model, opt, lambda s: F.cross_entropy(model(x).float(), y), 2)
    counted('fused', summary, pulled, kept)
    ok('fused=True' not in summary['verdict'][0], 'and fused it is not: ' + summary['verdict'][0])
except RuntimeError as why:
    skip('no fused AdamW here: %s' % str(why).splitlines()[0])


# a twin in float64 confirms each all-clear
def twin(optimizer, rate, steps=1):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 4))
    x, y = torch.randn(32, 16), torch.randint(0, 4, (32,))
    other = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 4)).double()
    other.load_state_dict(model.state_dict())
    make = getattr(torch.optim, optimizer)
    old = [p.detach().clone().double() for p in model.parameters()]

    def cast(s):
        with torch.autocast('cpu', dtype=torch.bfloat16):
            out = model(x)
        return F.cross_entropy(out.float(), y)

    summary, _, _ = train('twin-%s-%g' % (optimizer, rate), model, make(model.parameters(), lr=rate), cast)
    F.cross_entropy(other(x.double()), y).backward()
    make(other.parameters(), lr=rate).step()
    a = torch.cat([(p.double() - q).flatten() for p, q in zip(model.parameters(), old)])
    b = torch.cat([(p - q).flatten() for p, q in zip(other.parameters(), old)])
    return summary, float(a @ b / (a.norm() * b.norm()))


for optimizer, rate in (('SGD', 0.1), ('SGD', 1e-7), ('AdamW', 1e-3), ('RMSprop', 1e-3), ('Adagrad', 1e-2)):
    summary, cosine = twin(optimizer, rate)
    if not summary:
        continue
    there = summary['numbers']['weights_cosine']
    ok(summary['verdict_word'] != 'harmless' or cosine >= 0.999,
       '%s at %g: the twin has a cosine of %.6f, the word is %s' % (optimizer, rate, cosine, summary['verdict_word']))
    ok(there is None or abs(there - cosine) < 1e-3, 'the exact step has %s of it' % there)


# an operator that nobody knows lies between the loss and the weights
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.special.bessel_j0(x)

    @staticmethod
    def backward(ctx, d):
        return torch.special.bessel_j1(d) * 2


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4))
x, y = torch.randn(4, 8), torch.randint(0, 4, (4,))
summary, pulled, kept = train('unknown', model, torch.optim.SGD(model.parameters(), lr=0.1),
                              lambda s: F.cross_entropy(model[1](Twice.apply(model[0](x))), y))
names = [o['operator'] for o in summary['coverage']['not_judged']]
ok(summary['verdict_word'] == 'unknown' and any('bessel' in n for n in names)
   and any(n in summary['verdict'][0] for n in names), 'an unknown operator gives no all-clear: '
       + summary['verdict'][0])
ok(summary['coverage']['update_l2_share_judged'] < 0.99,
    'of the update %s was judged' % summary['coverage']['update_l2_share_judged'])


# where NaN came from
def half(kind):
    torch.manual_seed(0)
    a, b = nn.Linear(8, 8).half(), nn.Linear(8, 4).half()
    model = nn.ModuleList([a, b])
    x, y = torch.randn(4, 8).half(), torch.randint(0, 4, (4,))

    def loss(s):
        h = a(x)
        if kind == 'division_by_zero':
            h = h / (h - h)
        if kind == 'out_of_range':
            h = torch.log(h - 100)
        if kind == 'overflow':
            h = h * 60000 * 60000
        return F.cross_entropy(b(h).float(), y)

    return train('nan-' + kind, model, torch.optim.SGD(model.parameters(), lr=1e-3), loss)[0]


for kind, op in (('division_by_zero', 'div'), ('out_of_range', 'log'), ('overflow', '')):
    summary = half(kind)
    first = summary.get('nonfinite') or {}
    ok(first.get('cause') == kind and first.get('op', '').startswith(op) and first.get('step') == 0
       and not math.isfinite(float(first['value'])), '%s: %s' % (kind, summary['verdict'][0]))
    ok(any(r['cause'] == kind for r in summary['remedies']), 'and a remedy stands beside it')
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).half()
x, y = torch.randn(4, 8).half() * 1e-3, torch.randint(0, 4, (4,))
summary, _, _ = train('epsilon', model, torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-8),
                      lambda s: F.cross_entropy(model(x).float(), y), 2)
first = summary.get('nonfinite') or {}
ok(first.get('cause') == 'zero_constant' and first.get('constant') == '1e-08',
    'an epsilon of 0: %s' % summary['verdict'][0])


# a kernel that computes the step before it rounds the moments goes on with those that it did not round
torch.manual_seed(2)
model = nn.Linear(32, 32, bias=False).half()
x = (torch.randn(64, 32, generator=torch.Generator().manual_seed(3)) * 10.0 ** torch.linspace(-2, 1, 32)).half()
before = model.weight.detach().double()
try:
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    summary, _, _ = train('stored', model, opt, lambda s: model(x).float().square().mean(), 1)
    g, state = model.weight.grad.double(), opt.state[model.weight]
    real, exact = model.weight.detach().double() - before * (1 - 1e-4), -1e-2 * g / (g.abs() + 1e-8)
    ok(float((real * exact).sum() / real.norm() / exact.norm()) > 0.999,
            'fused AdamW in fp16 takes its step before the moments are rounded')
    zero = (state['exp_avg_sq'] == 0) & (g != 0)
    stored, v = state['exp_avg_sq'].double(), 0.001 * g * g

    def direction(k, g2):
        m = 0.09 * g + 0.1 * g2
        return m / (1 - 0.9 ** 2) / (torch.sqrt((0.999 * k + 0.001 * g2 * g2) / (1 - 0.999 ** 2)) + 1e-8)

    def turn(g2):
        a, b = direction(stored, g2), direction(v, g2)
        return float((a * b).sum() / a.norm() / b.norm())
    want, numbers = [turn(g.roll(16, 0)), turn(0 * g)], summary['numbers']
    got = [numbers['second_moment_step_cosine'], numbers['second_moment_idle_step_cosine']]
    ok(all(abs(a - b) < 1e-4 for a, b in zip(got, want)) and int(zero.sum()) > 200,
            'the moments that it stored are judged by the next step: cosines of %s, %s in float64' % (got, want))
    opt.zero_grad()
    other = torch.randn(x.shape, generator=torch.Generator().manual_seed(4)).half()
    model(x * other).float().square().mean().backward()
    truth = turn(model.weight.grad.double())
    said = ' '.join(summary['verdict'])
    ok(truth <= 0.9 and summary['verdict_word'] == 'fatal',
            'the step with the gradient of another batch has a cosine of %.4f, and this is fatal' % truth, said)
    ok('epsilon' not in said and 'the next one starts from zero' in said, 'and the sentence says so: ' + said)
except RuntimeError as why:
    skip('no fused AdamW here: %s' % str(why).splitlines()[0])


class Gain(nn.Module):
    """Parameters of a single element, with an axis and without."""

    def __init__(self):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(()))
        self.w = nn.Parameter(torch.full((4,), 2.0**-9))

    def forward(self, x):
        return self.gain * (self.shift + x * self.w)


model = Gain().bfloat16()
x = torch.randn(8, 4, generator=torch.Generator().manual_seed(5)).bfloat16()
summary, pulled, kept = train('gain', model, torch.optim.SGD(model.parameters(), lr=1e-3),
                              lambda s: model(x).float().mean(), 3)
seen = [(c['weights'], c['gradients'], c['kept']) for c in summary['coverage']['steps']]
ok([w for w, _, _ in seen] == [3] * 3, 'parameters of one element are among the weights: %s' % seen)
ok((sum(g for _, g, _ in seen), sum(k for _, _, k in seen)) == (pulled, kept) and kept >= 6,
    'and those of them that kept their bits are counted: %s' % summary['verdict'][0])
finish()
