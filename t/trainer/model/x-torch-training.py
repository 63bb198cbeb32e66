# SPDX-License-Identifier: Apache-2.0
"""Training against PyTorch in float64, from the same weights on with the same batches: optimizers with gradient
accumulation and learning-rate schedules, moving averages, losses, and dropout with the masks that were drawn. Both
sum in orders of their own, so losses and weights of 12 steps agree to some hundred roundings."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import torch
    from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR, StepLR
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])

from torchnets import load  # noqa: E402

folder = home()
STEPS, BATCH, CLASSES, LR = 12, 12, 10, 0.05
SMALL = '--model mlp --data size=8 --model width=0.06 --data train=48,eval=12 --policy float64 --quiet '
SMALL += '--batch %d --steps %d --optimizer lr=%g ' % (BATCH, STEPS, LR)


def tensors(path):
    return {name: torch.from_numpy(a.copy()).double() for name, a in load(path).items()}


class Model(torch.nn.Module):
    """The mlp with the weights [in, out] of a traced step."""

    def __init__(self, t):
        super().__init__()
        for k in (1, 2, 3):
            setattr(self, 'w%d' % k, torch.nn.Parameter(t['dense%d.w' % k].clone()))
            setattr(self, 'b%d' % k, torch.nn.Parameter(t['dense%d.b' % k].clone()))

    def forward(self, x, masks):
        for k in (1, 2, 3):
            x = x @ getattr(self, 'w%d' % k) + getattr(self, 'b%d' % k)
            x = torch.relu(x) if k < 3 else x
            x = x * masks[k - 1] if masks and k < 3 else x
        return x


def entropy(z, y):
    return torch.nn.functional.cross_entropy(z, y)


def dice(z, y):
    p, hot = torch.softmax(z, 1), torch.nn.functional.one_hot(y, CLASSES).double()
    return (1 - (2 * (p * hot).sum(0) + 1e-5) / (p.sum(0) + hot.sum(0) + 1e-5)).mean()


def squares(z, y):
    return torch.nn.functional.mse_loss(torch.softmax(z, 1), torch.nn.functional.one_hot(y, CLASSES).double())


def ignoring(z, y):
    return torch.nn.functional.cross_entropy(z, y, ignore_index=3)


def smoothed(z, y):
    return torch.nn.functional.cross_entropy(z, y, label_smoothing=0.2)


def nt_xent(z, y):
    """SimCLR's loss at the temperature 0.2; neighbours are views of one sample. Labels count within a micro-batch."""
    u, n = torch.nn.functional.normalize(z), torch.arange(len(z))
    s = (u @ u.T / 0.2).masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
    return torch.nn.functional.cross_entropy(s, n + 1 - 2 * (n % 2))


def sgd(p):
    return torch.optim.SGD(p, LR, momentum=0.9, weight_decay=0.01)


def adamw(p):
    return torch.optim.AdamW(p, LR, (0.9, 0.999), 1e-7, 0.01)


def nesterov(p):
    return torch.optim.SGD(p, LR, momentum=0.9, nesterov=True)


class Lamb(torch.optim.Optimizer):
    """You and others, 2020, algorithm 2, with bias correction; PyTorch has none."""

    def __init__(self, p):
        super().__init__(p, {'lr': LR})
        self.t = 0

    @torch.no_grad()
    def step(self):
        self.t += 1
        for w in self.param_groups[0]['params']:
            s = self.state[w]
            for name in 'mv':
                s.setdefault(name, torch.zeros_like(w))
            s['m'] = 0.9 * s['m'] + 0.1 * w.grad
            s['v'] = 0.999 * s['v'] + 0.001 * w.grad**2
            u = s['m'] / (1 - 0.9**self.t) / ((s['v'] / (1 - 0.999**self.t)).sqrt() + 1e-7) + 0.01 * w
            trust = w.norm() / u.norm() if w.norm() > 0 and u.norm() > 0 else 1
            w -= self.param_groups[0]['lr'] * trust * u


def warm(o, then):
    return SequentialLR(o, [LinearLR(o, 1 / 4, 1, 3), then], [3])


def run(name, words, optimizer, loss=entropy, parts=1, schedule=None, decay=None, p_drop=0):
    steps = ','.join(map(str, range(STEPS)))
    out = os.path.join(folder, name)
    p = halfulp('train', *(SMALL + words).split(), '--trace', 'steps=' + steps, out)
    if not ok(p.returncode == 0, words, p.stderr):
        return
    model = Model(tensors(out + '/trace/step-000000.safetensors'))
    o, far = optimizer(model.parameters()), 0.0
    s = schedule(o) if schedule else None
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay)) if decay else None
    if average:
        average.n_averaged.fill_(1)  # the average begins with the first weights, where torch's begins after a step
    for step in range(STEPS):
        t, total = tensors('%s/trace/step-%06d.safetensors' % (out, step)), 0.0
        x, y = t['input.x'].flatten(1), t['input.labels'].long()
        rows = len(x) // parts
        masks = [(t['relu%d.drop' % k] != 0) | (t['relu%d.y' % k] == 0) for k in (1, 2)] if p_drop else None
        masks = [m.double() / (1 - p_drop) for m in masks] if masks else None
        o.zero_grad()
        for k in range(parts):
            z = model(x[k * rows : (k + 1) * rows], masks)
            part = loss(z, y[k * rows : (k + 1) * rows]) / parts
            part.backward()
            total += part.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e300).item()
        far = max(far, abs(t['loss.y'].item() / total - 1), abs(t['optim.grad_norm'].item() / norm - 1))
        o.step()
        if s:
            s.step()
        if average:
            average.update_parameters(model)
        for which, end in ((model, '_next'), (average.module if average else None, '_ema_next')):
            for k in (1, 2, 3) if which else ():
                for role in 'wb':
                    mine, theirs = t['dense%d.%s%s' % (k, role, end)], getattr(which, role + str(k)).detach()
                    far = max(far, ((mine - theirs).norm() / (theirs.norm() + 1e-3)).item())
    ok(far < 1e-11, '%s: losses, norms and weights of %d steps are PyTorch\'s, to %.1g' % (name, STEPS, far), far)


SGD, ADAMW = '--optimizer sgd:momentum=0.9,weight_decay=0.01 ', '--optimizer adamw:eps=1e-7,weight_decay=0.01 '
run('sgd', SGD, sgd)
run('accumulated', SGD + '--batch micro=4', sgd, parts=4)
run('accumulated-adamw', ADAMW + '--batch micro=3 --loss weight=8', adamw, parts=3)
run('step', SGD + '--schedule step:steps=5,rate=0.5', sgd, schedule=lambda o: StepLR(o, 5, 0.5))
run(
    'cosine', '--optimizer nesterov --schedule cosine:warmup=3,end=0.001 --batch micro=2', nesterov, parts=2,
    schedule=lambda o: warm(o, CosineAnnealingLR(o, STEPS - 3, 0.001))
)
run('linear', ADAMW + '--schedule linear:steps=6,end=0.01', adamw, schedule=lambda o: LinearLR(o, 1, 0.2, 6))
run('lamb', '--optimizer lamb:eps=1e-7,weight_decay=0.01', Lamb)
run('averages', ADAMW + '--optimizer ema=0.9', adamw, decay=0.9)
run('dice', SGD + '--loss dice', sgd, loss=dice)
run('squares', SGD + '--loss squares --batch micro=3', sgd, loss=squares, parts=3)
run('ignoring', SGD + '--loss ignore_index=3', sgd, loss=ignoring)
run('smoothed', SGD + '--loss label_smoothing=0.2 --batch micro=2', sgd, loss=smoothed, parts=2)
CONTRAST = '--loss nt-xent:temperature=0.2 --augment shift,noise '
run('contrast', SGD + CONTRAST, sgd, loss=nt_xent)
run('contrast-accumulated', ADAMW + CONTRAST + '--batch micro=3', adamw, loss=nt_xent, parts=3)
run('dropout', ADAMW + '--model dropout=0.25', adamw, p_drop=0.25)
finish()
