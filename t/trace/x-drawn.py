# SPDX-License-Identifier: Apache-2.0
"""Wrong all-clears: none. Small nets are drawn (layers, formats, optimizers, rates that change, clipping, loss scales,
operators that halfulp does not have), trained for a few steps, recorded and judged. Each step has a twin in float64
that starts from the same weights and the same state of the optimizer. Where the word is harmless, the twin's update and
the real one have a cosine of 0.999 or more in every step, and lengths within a tenth. What a step stores is read by
the next one: one step more is taken in float64 from what was stored and from what float64 would have stored, with the
same gradient of another batch, and where the word is harmless these two have a cosine of 0.99 or more and lengths
within a tenth.

    x-drawn.py [FIRST COUNT]"""
import copy
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Run, halfulp_trace, torch  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402

nn, F = torch.nn, torch.nn.functional
FIRST, COUNT = (int(a) for a in (sys.argv[1:] + ['0', '200'][len(sys.argv) - 1:]))
LEAST, LEAST_NEXT = 0.999, 0.99
WIDTHS = (4, 8, 16, 32)
POLICIES = ('float32', 'bfloat16', 'float16', 'autocast-bfloat16', 'autocast-float16', 'scaler')
os.chdir(home())


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-4, weight_decay=0.0):
        super().__init__(parameters, {'lr': lr, 'weight_decay': weight_decay})

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g['params']:
                if p.grad is None:
                    continue
                m = self.state[p].setdefault('m', torch.zeros_like(p))
                p.mul_(1 - g['lr'] * g['weight_decay'])
                p.add_(torch.sign(m * 0.9 + p.grad * 0.1), alpha=-g['lr'])
                m.mul_(0.99).add_(p.grad, alpha=0.01)


class Numpy(torch.optim.Optimizer):
    """Plain descent behind PyTorch's back, in float32."""

    def __init__(self, parameters, lr=1e-2, weight_decay=0.0):
        super().__init__(parameters, {'lr': lr})

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g['params']:
                new = p.double().numpy() - g['lr'] * p.grad.double().numpy()
                p.view(torch.uint8).numpy()[...] = torch.from_numpy(new).to(p.dtype).view(torch.uint8).numpy()


class Table(nn.Module):
    """A table that is added by an index, as relative positions are: its gradient sums many rows."""

    def __init__(self, n):
        super().__init__()
        self.table = nn.Parameter(torch.randn(2, n))

    def forward(self, x):
        return x + self.table[(torch.arange(x.shape[0]) >= x.shape[0] // 8).long()]


class Call(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)


class Conv(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x):
        return self.conv(x[:, None])[:, 0]


def written(x):
    """A row is written by NumPy, which no operator tells."""
    y = x * 1
    y.detach()[0].zero_()
    return y


FUNCTIONS = {
    'lgamma': lambda x: torch.lgamma(x.square() + 1.5), 'i0': lambda x: torch.special.i0(x * 0.5), 'cumsum':
    lambda x: x.cumsum(0) / x.shape[0], 'softmax': lambda x: x.softmax(-1) * x, 'flip': lambda x: x.flip(1) + x,
    'topk': lambda x: x + x.topk(2)[0].sum(1, keepdim=True), 'norm': lambda x: x / (x.norm(dim=1, keepdim=True) + 1),
    'fft': lambda x: x + torch.fft.irfft(torch.fft.rfft(x.float()), x.shape[1]).to(x.dtype), 'written': written,
    'integers': lambda x: x * (1 + (x.detach() * 64).round().to(torch.int32).to(x.dtype) / 64), 'exp':
    lambda x: torch.exp(-x.square()), 'logsumexp': lambda x: x - x.logsumexp(1, keepdim=True),
    'clamp': lambda x: x.clamp(-0.5, 0.5) + 0.1 * x, 'cancel': lambda x: (x * 64 + 1000) - 1000 + x}


def layer(draw, n):
    """A layer from n columns, and how many it makes."""
    kind = draw.choice(('linear', 'linear', 'linear', 'activation', 'activation', 'norm', 'function', 'table', 'conv'))
    if kind == 'linear':
        to = draw.choice(WIDTHS)
        return nn.Linear(n, to, bias=draw.random() < 0.7), to
    if kind == 'activation':
        return draw.choice((nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.ELU, nn.Hardswish))(), n
    if kind == 'norm':
        return draw.choice((nn.LayerNorm(n), nn.RMSNorm(n, eps=1e-6), nn.BatchNorm1d(n), nn.GroupNorm(1, n))), n
    if kind == 'table':
        return Table(n), n
    return (Conv(n) if kind == 'conv' else Call(FUNCTIONS[draw.choice(sorted(FUNCTIONS))])), n


class Drawn:
    """A training, drawn by its number."""

    def __init__(self, number):
        draw = random.Random(number)
        torch.manual_seed(number)
        self.policy, self.rows = draw.choice(POLICIES), draw.choice((4, 16, 64, 512))
        self.columns, layers = draw.choice(WIDTHS), []
        n = self.columns
        for _ in range(draw.randint(1, 5)):
            made, n = layer(draw, n)
            layers.append(made)
        layers.append(nn.Linear(n, 4))
        self.model = nn.Sequential(*layers)
        self.dtype = getattr(torch, self.policy) if self.policy in POLICIES[:3] else torch.float32
        usual = torch.float16 if self.policy in POLICIES[4:] else None
        self.low = torch.bfloat16 if self.policy == 'autocast-bfloat16' else usual
        self.model.to(self.dtype)
        self.sums, self.size = draw.random() < 0.3, 10 ** draw.uniform(-2, 1)
        self.factor = 10 ** draw.choice((0, 0, 0, draw.uniform(-6, 1)))
        self.entropy, self.clip = draw.random() < 0.5, draw.choice((None, None, 1.0, 0.01))
        self.steps, self.growth = draw.randint(1, 3), draw.choice((1.0, 1.0, 0.5, 3.0))
        self.optimizers(draw)
        self.size *= draw.choice((1, 1, 1, 1e-3))
        self.sample = draw.choice(([], ['--sample', '64']))

    def optimizers(self, draw):
        names = ['ASGD', 'Adadelta', 'Adafactor', 'Adagrad', 'Adam', 'AdamW', 'AdamW', 'AdamW', 'Adamax', 'NAdam',
                 'RAdam', 'RMSprop', 'Rprop', 'SGD', 'SGD', 'SGD', 'Lion', 'Numpy']
        self.name, self.rate = draw.choice(names), 10 ** draw.uniform(-6, 0)
        how = {}
        if self.name in ('Lion', 'Numpy'):
            make = globals()[self.name]
        else:
            make = getattr(torch.optim, self.name)
            if self.name in ('Adam', 'AdamW', 'SGD', 'Adagrad'):
                how = draw.choice(({}, {'foreach': True}, {'fused': True}))
            if self.name == 'SGD':
                how = dict(how, momentum=draw.choice((0.0, 0.9)))
            if self.name == 'Adafactor':         # whose usual eps is the format's
                how = {'eps': (torch.finfo(self.dtype).eps, 1e-3)}
            if self.name != 'Rprop' and draw.random() < 0.3:
                how = dict(how, weight_decay=10 ** draw.uniform(-4, -1))
        parts = [list(self.model.parameters())]
        if draw.random() < 0.2 and len(parts[0]) > 1:
            parts = [parts[0][::2], parts[0][1::2]]
        self.made = [make(p, lr=self.rate, **how) for p in parts]
        self.scaler = torch.amp.GradScaler('cpu', init_scale=2.0 ** draw.choice((4, 10, 16)),
                                           enabled=self.policy == 'scaler')

    def loss(self, model, x, y, low):
        with torch.autocast('cpu', dtype=low or torch.bfloat16, enabled=low is not None):
            out = model(x)
        if self.entropy:
            loss = F.cross_entropy(out.to(torch.promote_types(out.dtype, torch.float32)), y,
                                   reduction='sum' if self.sums else 'mean')
        else:
            loss = out.square().sum() if self.sums else out.square().mean()
        return loss * self.factor

    def update(self, model, optimizers, scaler, x, y, low, step):
        for o in optimizers:
            o.zero_grad()
            for g in o.param_groups:
                g['lr'] = self.rate * self.growth ** step
        scaler.scale(self.loss(model, x, y, low)).backward()
        if self.clip is not None:
            for o in optimizers:
                scaler.unscale_(o)
            nn.utils.clip_grad_norm_(model.parameters(), self.clip)
        for o in optimizers:
            scaler.step(o)
        scaler.update()

    def finer(self):
        """The model in float64, with optimizers that have the real one's states."""
        model = copy.deepcopy(self.model).double()
        same, optimizers = dict(zip(self.model.parameters(), model.parameters())), []
        for o in self.made:
            groups = [dict(g, params=[same[p] for p in g['params']]) for g in o.param_groups]
            for g in groups:
                if 'fused' in g:
                    g.update(fused=False, foreach=False)
            twin = type(o)(groups, **{'lr': self.rate})
            for p, held in o.state.items():
                twin.state[same[p]] = {k: (v.double() if k != 'step' else v.clone().double()) if isinstance(
                    v, torch.Tensor) else v for k, v in held.items()}
            optimizers.append(twin)
        return model, optimizers

    def twin(self, x, y, step):
        """The update of this step in float64, from the weights and states as they are."""
        model, optimizers = self.finer()
        before = [p.detach().clone() for p in model.parameters()]
        self.update(model, optimizers, torch.amp.GradScaler('cpu', enabled=False), x.double(), y, None, step)
        return torch.cat([(p.detach() - b).flatten() for p, b in zip(model.parameters(), before)])

    def stepped(self, model, optimizers, growths=0):
        """Takes a step in float64 with the real gradients. Returns what it adds to the weights."""
        before = [p.detach().clone() for p in model.parameters()]
        for p, real in zip(model.parameters(), self.model.parameters()):
            p.grad = None if real.grad is None else real.grad.double()
        for o in optimizers:
            for g in o.param_groups:
                g['lr'] = self.rate * self.growth ** growths
            o.step()
        return torch.cat([(p.detach() - b).flatten() for p, b in zip(model.parameters(), before)])

    def behind(self, model, optimizers):
        """What the step behind the last one adds to the weights, by the states that float64 would have stored of the
        last one (model and optimizers are as they were before it) and by those that were stored."""
        self.stepped(model, optimizers, self.steps - 1)
        stored = self.finer()
        with torch.no_grad():
            for p, real in zip(model.parameters(), self.model.parameters()):
                p.copy_(real)
        x, y = self.batch(self.steps)
        for o in self.made:
            o.zero_grad()
        self.loss(self.model, x, y, self.low).backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        return self.stepped(model, optimizers), self.stepped(*stored)

    def batch(self, step):
        torch.manual_seed(1000 + step)
        x = (torch.randn(self.rows, self.columns) * self.size).to(self.dtype)
        return x, torch.randint(0, 4, (self.rows,))

    def train(self, recorder):
        """Trains. Returns of each step the update in float64, the real one, and whether the scaler skipped it; and the
        two steps behind the last one."""
        seen = []
        for step in range(self.steps):
            x, y = self.batch(step)
            before_it = self.finer()
            exact = self.twin(x, y, step)
            before = [p.detach().double() for p in self.model.parameters()]
            scale = self.scaler.get_scale()
            with recorder:
                self.update(self.model, self.made, self.scaler, x, y, self.low, step)
            real = torch.cat([(p.detach().double() - b).flatten() for p, b in zip(self.model.parameters(), before)])
            seen.append((exact, real, self.scaler.is_enabled() and self.scaler.get_scale() < scale))
        # beside a loss scale the weights and states have float32
        return seen, None if self.scaler.is_enabled() else self.behind(*before_it)

    def describe(self):
        names = {f: k for k, f in FUNCTIONS.items()}
        layers = '-'.join(names[m.f] if isinstance(m, Call) else type(m).__name__ for m in self.model)
        return '%s %s lr %.2g rows %d clip %s factor %.2g %s' % (
            self.policy, self.name, self.rate, self.rows, self.clip, self.factor, layers)


def cosine(a, b):
    """That of two updates; 1 where both are 0, NaN where one is not finite."""
    if not (a.isfinite().all() and b.isfinite().all()):
        return math.nan
    big = max(a.abs().max(), b.abs().max())
    if big == 0:
        return 1.0
    a, b = a / big, b / big
    return float((a @ b) / (a.norm() * b.norm())) if a.norm() > 0 and b.norm() > 0 else 0.0


def longer(a, b):
    """How many times as long the longer one of two updates is."""
    a, b = sorted((float(a.norm()), float(b.norm())))
    return b / a if a > 0 else 1.0 if b == 0 else math.inf


def judge(number):
    """A drawn training's word, the least cosine of its updates, cosine and lengths of the step behind them, and what it
    was."""
    drawn = Drawn(number)
    recorder = halfulp_trace.record(drawn.model, 'run', drawn.made, overwrite=True, strict=True)
    seen, behind = drawn.train(recorder)
    run = Run('run', recorder)
    code, text, outside = run.analyzed(*drawn.sample)
    if code not in (0, 1):
        return 'failed', 0.0, (1.0, 1.0), '%s: %s' % (drawn.describe(), text)
    with open('run/analysis/summary.json') as f:
        summary = json.load(f)
    least = min(1.0 if skipped else cosine(exact, real) for exact, real, skipped in seen)
    longest = max(1.0 if skipped else longer(exact, real) for exact, real, skipped in seen)
    word = summary['verdict_word']
    after = (1.0, 1.0) if behind is None else (cosine(*behind), longer(*behind))
    least = least if longest <= 1.1 else min(least, 1 / longest)
    return word, least, after, '%s; %s outside; %s' % (drawn.describe(), outside, ' '.join(run.opaque()) or '-')


words, wrong, later, failed, beyond = {}, [], [], [], []
for number in range(FIRST, FIRST + COUNT):
    try:
        word, least, after, what = judge(number)
    except Exception as why:
        word, least, after, what = 'failed', 0.0, (0.0, 1.0), '%s: %s' % (type(why).__name__, str(why)[:300])
    print('# %d %s %.6f next %.6f x %.4f %s' % (number, word, least, *after, what), flush=True)
    words[word] = words.get(word, 0) + 1
    if word == 'failed':
        failed.append('%d: %s' % (number, what))
    if word == 'harmless' and not least >= LEAST:
        wrong.append('%d: cosine %.6f: %s' % (number, least, what))
    if word == 'harmless' and not (after[0] >= LEAST_NEXT and after[1] <= 1.1):
        later.append('%d: cosine %.6f, %.3f times as long: %s' % (number, *after, what))
    if '; 0 outside' not in what:
        beyond.append('%d: %s' % (number, what))
print('# ' + ', '.join('%s %d' % x for x in sorted(words.items())))
none(failed, 'each of %d drawn trainings is recorded and judged' % COUNT)
none(wrong, 'none of %d trainings that are harmless has an update that float64 turns' % words.get('harmless', 0))
none(later, 'and none of them stores what turns the step behind it, or makes it longer')
ok(COUNT < 100 or words.get('harmless', 0) >= COUNT / 8 and COUNT - words.get('harmless', 0) >= COUNT / 8,
   'both kinds are among them', str(words))
finish()
