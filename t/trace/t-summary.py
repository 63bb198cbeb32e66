# SPDX-License-Identifier: Apache-2.0
"""The summary mode of the recorder: each count of tensors.tsv is what PyTorch's own tensors have, of parameters, their
gradients, activations and casts, in the steps that were asked for; it changes no bit of the training, takes few bytes
and the time of a few passes, keeps no memory alive, and stands on the page of the report."""
import html
import math
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import halfulp_trace, torch  # noqa: E402
from recipes_memory import MEMORY  # noqa: E402
from tap import finish, halfulp, home, none, ok, skip  # noqa: E402

nn, F = torch.nn, torch.nn.functional
os.chdir(home())
COLUMNS = 'step tensor layer kind format elements amax zeros subnormals became_zero nonfinite gradients kept'
LEAST = {torch.float32: 2.0 ** -126, torch.float16: 2.0 ** -14, torch.bfloat16: 2.0 ** -126}


def counts(t):
    """Amax, zeros, subnormals and elements that are not finite, element by element."""
    x = [float(v) for v in t.detach().double().reshape(-1).tolist()]
    fine = [abs(v) for v in x if math.isfinite(v)]
    low = LEAST[t.dtype]
    return max(fine, default=0.0), x.count(0.0), sum(0 < v < low for v in fine), len(x) - len(fine)


def read(run):
    with open(run + '/tensors.tsv') as f:
        lines = [line.rstrip('\n').split('\t') for line in f]
    ok(lines[0] == COLUMNS.split(), '%s: its columns' % run)
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def same(row, t):
    return (float(row['amax']), int(row['zeros']), int(row['subnormals']), int(row['nonfinite'])) == counts(t) and int(
        row['elements']) == t.numel()


def net(dtype=torch.float32):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 4)).to(dtype)


def train(model, opt, k, autocast=None, scale=1.0):
    torch.manual_seed(10 + k)
    opt.zero_grad()
    x, y = torch.randn(8, 16), torch.randint(0, 4, (8,))
    if autocast is None:
        out = model(x.to(model[0].weight.dtype))
    else:
        with torch.autocast('cpu', dtype=autocast):
            out = model(x)
    (F.cross_entropy(out.float(), y) * scale).backward()
    opt.step()


CASES = {
    'bf16': (torch.bfloat16, torch.optim.SGD, {'lr': 1e-3}, None, 1.0),
    'autocast fp16': (torch.float32, torch.optim.SGD, {'lr': 1e-9}, torch.float16, 1e-4),
    'fp16 overflows': (torch.float16, torch.optim.SGD, {'lr': 1e-3}, None, 1e6),
    'hand': (torch.bfloat16, None, {}, None, 1.0),
}


class Hand:
    """An update that is no optimizer's."""

    def __init__(self, parameters):
        self.p = list(parameters)

    def zero_grad(self):
        for p in self.p:
            p.grad = None

    def step(self):
        with torch.no_grad():
            for p in self.p:
                p -= 1e-3 * p.grad


for name, (dtype, kind, how, autocast, scale) in CASES.items():
    ends, wrong, seen = [], [], {}
    for run in (None, name.replace(' ', '-')):
        model = net(dtype)
        with torch.no_grad():
            model[0].weight[0, :3] = torch.tensor([1e-9, 1e-30, 1e-7]).to(dtype)   # zero and subnormal in fp16
        opt = kind(model.parameters(), **how) if kind else Hand(model.parameters())
        recorder = halfulp_trace.summary(model, run, optimizer=opt if kind else None, strict=True, steps='1-2') if (
            run) else None
        for k in range(4):
            before = [p.detach().clone() for p in model.parameters()]
            hooks = [m.register_forward_hook(lambda m, x, y, n=n: seen.update({(k, n): y.detach().clone()}))
                     for n, m in model.named_modules() if n == '1'] if run else []
            if run:
                with recorder:
                    train(model, opt, k, autocast, scale)
                    recorder.loss(float(k))
            else:
                train(model, opt, k, autocast, scale)
            for h in hooks:
                h.remove()
            for (n, p), old in zip(model.named_parameters(), before):
                seen[k, n] = p.detach().clone(), old, p.grad.detach().clone()
        ends.append([p.detach().clone() for p in model.parameters()])
    ok(all(torch.equal(a, b) or not torch.isfinite(a).all() for a, b in zip(*ends)),
       '%s: the training is the same' % name)
    rows = read(name.replace(' ', '-'))
    ok(sorted({r['step'] for r in rows}) == ['1', '2'], '%s: the steps that were asked for' % name)
    kept = 0
    for r in rows:
        k, n = int(r['step']), r['tensor']
        if r['kind'] == 'parameter':
            p, old, g = seen[k, n]
            own = int((g != 0).sum()), int(((g != 0) & (p == old)).sum())
            kept += own[1]
            if not same(r, p) or (int(r['gradients']), int(r['kept'])) != own:
                wrong.append('%s: %s, kept %s' % (r, counts(p), own))
        elif r['kind'] == 'wgrad' and not same(r, seen[k, n.rpartition('.grad')[0]][2]):
            wrong.append('%s: %s' % (r, counts(seen[k, n.rpartition('.grad')[0]][2])))
        elif r['layer'] == '1' and r['kind'] == 'activation' and not same(r, seen[k, '1']):
            wrong.append('%s: %s' % (r, counts(seen[k, '1'])))
    none(wrong, '%s: %d rows of parameters, gradients and an activation are PyTorch\'s; %d elements kept their bits'
         % (name, len(rows), kept))
    of = [r['kind'] for r in rows]
    ok(of.count('parameter') == of.count('wgrad') == 8 and of.count('activation') > 4 and of.count('gradient') > 4,
       '%s: four parameters and their gradients, activations and gradients: %d rows' % (name, len(rows)))
    if autocast:
        cast = [r for r in rows if r['kind'] == 'cast' and r['layer'] == '0' and r['elements'] == '384']
        lost = {k: int(((seen[k, '0.weight'][1] != 0) & (seen[k, '0.weight'][1].half() == 0)).sum()) for k in (1, 2)}
        ok(len(cast) == 2 and lost[1] == 2 and all(int(r['became_zero']) == lost[int(r['step'])] for r in cast),
           '%s: the cast of the weights zeroes %s of their elements' % (name, lost), str(cast))
        ok(all(r['became_zero'] == '-' for r in rows if r['kind'] != 'cast'), '%s: what is no cast zeroes none' % name)
    if 'overflows' in name:
        ok(any(int(r['nonfinite']) for r in rows if r['kind'] in ('gradient', 'wgrad')), '%s: it is seen' % name)

# layers, a long run in few bytes, no memory that stays
model = net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
recorder = halfulp_trace.summary(model, 'long', optimizer=opt, strict=True, layers='^2$')
alive = []
for k in range(200):
    with recorder:
        opt.zero_grad()
        h = model[1](model[0](torch.randn(8, 16)))
        ref = h.untyped_storage()._weak_ref()
        model[2](h).square().mean().backward()
        del h
        alive.append(torch.UntypedStorage._new_with_weak_ptr(ref) is not None)
        opt.step()
rows = read('long')
ok({r['layer'] for r in rows} == {'2'} and len({r['step'] for r in rows}) == 200 and os.path.getsize('long/tensors.tsv')
   < 150000, 'one layer of 200 steps takes %d bytes' % os.path.getsize('long/tensors.tsv'))
ok(not any(alive), 'no activation outlives the backward pass')

# a thread that starts in the step
import threading  # noqa: E402

model = net()
recorder = halfulp_trace.summary(model, 'thread', strict=True)
with recorder:
    thread = threading.Thread(target=lambda: model(torch.randn(8, 16)).square().mean().backward())
    thread.start()
    thread.join()
rows = read('thread')
ok({r['kind'] for r in rows} == {'activation', 'gradient', 'wgrad', 'parameter'} and {r['layer'] for r in rows} >= {
   '0', '1', '2'}, 'what a thread runs is summed up: %d rows' % len(rows))

# the page
gnuplot = shutil.which(os.environ.get('GNUPLOT') or 'gnuplot')
p = halfulp('report', 'fp16-overflows', '--format', 'svg') if gnuplot else None
if p is None:
    skip('gnuplot is absent')
else:
    page = open('fp16-overflows/report/index.html', encoding='utf-8').read() if p.returncode == 0 else ''
    body = re.search(r'<table class="tensors">.*?<tbody>\n(.*?)</tbody>', page, re.S)
    shown, rows = {}, read('fp16-overflows')
    for line in body[1].splitlines() if body else []:
        cells = re.findall(r'<td(?: data-v="([^"]*)")?[^>]*>(.*?)</td>', line)
        shown[html.unescape(cells[0][1]), cells[2][1]] = cells
    wrong = []
    for key in {(r['tensor'], r['kind']) for r in rows}:
        own = [r for r in rows if (r['tensor'], r['kind']) == key]
        want = [max(float(r['amax']) for r in own)] + [sum(int(r[c]) for r in own) for c in ('elements', 'zeros')]
        got = [float(v) for v, _ in shown[key][4:7]] if key in shown else None
        if got != want or float(shown[key][9][0]) != sum(int(r['nonfinite']) for r in own):
            wrong.append('%s: %s, %s' % (key, got, want))
    none(wrong if shown else ['no table: ' + p.stderr], 'the page has %d tensors, whose counts are those of all steps'
         % len(shown))
raised = []
for name in ('traced', 'chosen_branch', 'associated'):
    model, step = MEMORY[name](torch.float32)
    try:
        with halfulp_trace.summary(model, name, strict=True):
            step(0)
    except Exception as why:
        raised.append('%s: %s' % (name, why))
none(raised, 'operators that take functions, and those of TorchScript, run in it')
finish()
