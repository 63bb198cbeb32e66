# SPDX-License-Identifier: Apache-2.0
"""Small PyTorch steps of which a verdict was wrong once, and others of their kinds. What is right is PyTorch's own step
in float64, or its weights before and behind: a gradient whose sums stagnate, clipping that hides no harm, concatenation
with nothing, fused updates under a loss scale, memory that is written in parts, operators of other libraries, sparse
gradients, and where NaN came from."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import record, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn, F = torch.nn, torch.nn.functional
os.chdir(home())
print('# PyTorch %s' % torch.__version__)


def judged(name, model, train, steps=1, **how):
    """Records steps and returns the run, its summary, and how many outputs lie outside of their bounds."""
    run = record(name, model, train, steps, **how)
    code, text, outside = run.analyzed()
    if code > 1:
        ok(False, name, text)
        return run, {'verdict_word': '-', 'verdict': [text], 'numbers': {}, 'coverage': {}, 'remedies': []}, None
    with open(name + '/analysis/summary.json') as f:
        return run, json.load(f), outside


def cosine(a, b):
    a, b = (torch.cat([x.detach().double().reshape(-1) for x in y]) for y in (a, b))
    return float(a @ b / (a.norm() * b.norm()))


def near(x, y, far=2e-3):
    return isinstance(x, (int, float)) and abs(x - y) < far


# --- sums by indices that stagnate --------------------------------------------------------------------------------
places = (torch.arange(4096) >= 3900).long()
LOOKS = {
    'table[index]': lambda w: w[places],
    'embedding': lambda w: F.embedding(places, w),
    'table[index] of two axes': lambda w: w.reshape(2, 1)[places, torch.zeros_like(places)],
    'index_select': lambda w: w.index_select(0, places),
    'gather': lambda w: w.gather(0, places[:, None]),
}
for name, look in LOOKS.items():
    tables = [nn.Parameter(torch.ones(2, 1, dtype=d)) for d in (torch.bfloat16, torch.float64)]
    model = nn.ParameterList(tables[:1])
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)
    look(tables[1]).sum().backward()

    def step(_):
        look(tables[0]).sum().backward()
        sgd.step()
    run, said, outside = judged(name.replace(' ', '-'), model, step, optimizer=sgd)
    there = cosine([tables[0].grad], [tables[1].grad])
    got = said['numbers'].get('gradient_cosine')
    word = 'fatal' if there <= 0.9 else 'costs' if there < 0.99 else said['verdict_word']
    ok(near(got, there) and said['verdict_word'] in (word, 'fatal') and not outside and not run.opaque(),
       '%s in bf16: the gradient is %s, its cosine to that of float64 %.4f'
       % (name, tables[0].grad.reshape(-1).tolist(), there), '%s: %s' % (got, said['verdict']))
    if there <= 0.9:
        remedies = [r['remedy'] for r in said['remedies']]
        ok(remedies and not any('loss scale' in r for r in remedies),
           '%s: no loss scale is named against a sum that stands still' % name, str(remedies))


# --- clipping hides nothing ---------------------------------------------------------------------------------------
def norm_by_hand(parameters):
    parameters = list(parameters)
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()
    for p in parameters:
        p.grad.mul_(torch.clamp(1.0 / (norm + 1e-6), max=1.0))


CLIPS = {
    'no clipping': lambda p: None,
    'clip_grad_norm_': lambda p: nn.utils.clip_grad_norm_(p, 1.0),
    'clip_grad_norm_, a loop': lambda p: nn.utils.clip_grad_norm_(p, 1.0, foreach=False),
    'clip_grad_norm_ by the maximum': lambda p: nn.utils.clip_grad_norm_(p, 1.0, norm_type=float('inf')),
    'clip_grad_value_': lambda p: nn.utils.clip_grad_value_(p, 1.0),
    'clipping by hand': norm_by_hand,
}
words = {}
for name, clip in CLIPS.items():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10)).half()
    twin = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10)).double()
    twin.load_state_dict(model.state_dict())
    sgd = torch.optim.SGD(model.parameters(), lr=1e3)
    x = torch.randn(32, 64).half()

    def step(_):
        sgd.zero_grad()
        (model(x).float().square().mean() * 3e-5).backward()
        clip(model.parameters())
        sgd.step()
    (twin(x.double()).square().mean() * 3e-5).backward()
    run, said, outside = judged(name.replace(' ', '-'), model, step, optimizer=sgd)
    there = cosine([p.grad for p in model.parameters()], [p.grad for p in twin.parameters()])
    words[name] = said['verdict_word']
    ok(said['verdict_word'] == 'fatal' and near(said['numbers'].get('weights_cosine'), there, 0.01) and not outside,
       '%s: fatal, since PyTorch\'s gradient has a cosine of %.3f to that of float64' % (name, there),
       str(said['verdict']))

shares = {}
for name, clip in list(CLIPS.items())[:3]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = [(torch.randn(8, 16) * 1e-3, torch.randint(0, 4, (8,))) for _ in range(2)]

    def step(k):
        opt.zero_grad()
        with torch.autocast('cpu', dtype=torch.float16):
            out = model(data[k][0])
        (F.cross_entropy(out.float(), data[k][1]) * 1e-4).backward()
        clip(model.parameters())
        opt.step()
    run, said, outside = judged('zeroed ' + name, model, step, 2, optimizer=opt)
    shares[name] = said['numbers'].get('weights_l2_share_lost')
    zero = sum(int((p.grad == 0).sum()) for p in model.parameters())
    ok(said['verdict_word'] in ('costs', 'fatal') and zero > 500 and shares[name] > 0.25 and not outside,
       'AdamW, %s: %d gradients became 0, and %.3f of the update was lost' % (name, zero, shares[name] or 0),
       str(said['verdict']))
ok(max(shares.values()) - min(shares.values()) < 0.02, 'clipping changes nothing of that', str(shares))



class Lion(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]['params']:
            m = self.state[p].setdefault('m', torch.zeros_like(p))
            p.add_(torch.sign(m * 0.9 + p.grad * 0.1), alpha=-self.param_groups[0]['lr'])
            m.mul_(0.99).add_(p.grad, alpha=0.01)


# --- updates that are too small for the weights' format -----------------------------------------------------------
for name, make in {
        'Lion': lambda p: Lion(p, {'lr': 1e-4}), 'AdamW': lambda p: torch.optim.AdamW(p, lr=1e-4, weight_decay=0.0),
        'SGD': lambda p: torch.optim.SGD(p, lr=1e-3)}.items():
    torch.manual_seed(0)
    model = nn.Linear(64, 64, bias=False).bfloat16()
    with torch.no_grad():
        model.weight.copy_(torch.randn(64, 64) * 0.5)
    opt, x, before = make(model.parameters()), torch.randn(16, 64).bfloat16(), model.weight.detach().clone()

    def step(_):
        model(x).float().square().mean().backward()
        opt.step()
    run, said, outside = judged('small-' + name, model, step, optimizer=opt)
    kept = int(((model.weight == before) & (model.weight.grad != 0)).sum())
    ok(said['verdict_word'] == 'fatal' and said['coverage'].get('weights_kept') == kept > 3000 and not outside,
       '%s: %d of 4096 weights kept their bits' % (name, kept), str(said['verdict']))
    ok(any('master weights' in r['remedy'] for r in said['remedies']) and not any(
        'loss scale' in r['remedy'] for r in said['remedies']), '%s: float32 master weights help' % name,
        str(said['remedies']))

# --- concatenation with nothing, ignored labels -------------------------------------------------------------------
for name, join in {
        'an empty vector first': lambda y: torch.cat([torch.tensor([]), y]),
        'an empty vector last': lambda y: torch.cat([y, torch.tensor([])], -2),
        'no rows': lambda y: torch.cat([y[:0], y, y[:0]]),
        'no columns': lambda y: torch.cat([y, y[:, :0]], 1)}.items():
    torch.manual_seed(0)
    model = nn.Linear(8, 4)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 8)

    def step(_):
        F.cross_entropy(join(model(x)), torch.tensor([1, 2, 3, -100])).backward()
        sgd.step()
    run, said, outside = judged('cat ' + name, model, step, optimizer=sgd)
    seen = said['coverage']
    ok(said['verdict_word'] == 'harmless' and not outside and not run.opaque()
       and seen['calls_judged'] == seen['calls'], 'cat of %s: all of %s calls are judged' % (name, seen['calls']),
       str(said['verdict']))

# --- fused updates under a loss scale -----------------------------------------------------------------------------
for kind in ('AdamW', 'Adam', 'SGD'):
    ends = []
    for fused in (True, False):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10))
        opt = getattr(torch.optim, kind)(model.parameters(), lr=1e-3, fused=fused)
        scaler = torch.amp.GradScaler('cpu', init_scale=1024.0)

        def step(_):
            opt.zero_grad()
            with torch.autocast('cpu', torch.float16):
                y = F.cross_entropy(model(torch.randn(8, 16)), torch.randint(0, 10, (8,)))
            scaler.scale(y).backward()
            scaler.step(opt)
            scaler.update()
        run, said, outside = judged('scaled-%s-%d' % (kind, fused), model, step, 2, optimizer=opt)
        ends.append([p.detach().clone() for p in model.parameters()])
        ok(said['verdict_word'] == 'harmless' and outside == 0 and not run.opaque(),
           '%s%s under a loss scale of 1024: no output is outside its bound' % ('fused ' if fused else '', kind),
           '%s: %s' % (outside, said['verdict']))
    ok(max(float((a - b).abs().max()) for a, b in zip(*ends)) < 1e-6, 'which moved the weights as the unfused one did')


# --- memory that is written in parts ------------------------------------------------------------------------------
def rows(like):
    x = torch.empty(4, 8)
    x[:2] = like[:2]
    x[2:] = like[2:]
    return x


def columns(like):
    x = like.new_empty(4, 8)
    x[:, ::2] = like[:, ::2]
    x[:, 1::2].copy_(like[:, 1::2])
    return x


def bucket(like):
    """A flat buffer whose views are filled, as DDP has its gradients."""
    flat = torch.empty(32)
    for k, view in enumerate(flat.split(8)):
        view.copy_(like[k])
    return flat.view(4, 8)


def out_of(like):
    x = torch.empty_like(like)
    torch.mul(like[:1], 1.0, out=x[:1])
    x.narrow(0, 1, 3).copy_(like[1:])
    return x


for fill in (rows, columns, bucket, out_of):
    torch.manual_seed(0)
    model, like = nn.Linear(8, 4), torch.randn(4, 8)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(_):
        x = fill(like)
        assert torch.equal(x, like)
        model(x).square().mean().backward()
        sgd.step()
    run, said, outside = judged('empty-' + fill.__name__, model, step, optimizer=sgd)
    ok(said['verdict_word'] == 'harmless' and not outside and not run.opaque(),
       'torch.empty, then %s: recorded and judged' % fill.__name__.replace('_', ' '), str(said['verdict']))


# --- operators of other libraries ---------------------------------------------------------------------------------
@torch.library.custom_op('halfulp_cases::square', mutates_args=())
def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


square.register_autograd(lambda c, g: 2 * c.saved_tensors[0] * g,
                         setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))


@torch.library.custom_op('halfulp_cases::double_', mutates_args=('x',))
def double_(x: torch.Tensor) -> None:
    x.mul_(2)


@torch.library.custom_op('halfulp_cases::halves', mutates_args=('out',))
def halves(x: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(x / 2)


def doubled(layer, x):
    h = x * 1.5
    double_(h)
    return layer(h)


def halved(layer, x):
    h = torch.zeros_like(x)
    halves(x, h)
    return layer(h)


# the second pair: whether the weight's gradient depends on what the operator made
for name, forward, depends in (('square', lambda layer, x: square(layer(x)), False),
                               ('double_', doubled, True), ('halves', halved, True),
                               ('square inside', lambda layer, x: layer(square(layer(x).repeat(1, 2))), True)):
    torch.manual_seed(0)
    layer, x = nn.Linear(8, 4), torch.randn(4, 8)
    sgd = torch.optim.SGD(layer.parameters(), lr=0.1)

    def step(_):
        forward(layer, x).mean().backward()
        sgd.step()
    run, said, outside = judged('custom ' + name, layer, step, optimizer=sgd)
    seen = said['coverage']
    names = [o['operator'] for o in seen['not_judged']]
    ok(any('halfulp_cases.' in n for n in names) and not outside and seen['calls_judged'] < seen['calls'],
       '%s: counted as not judged, and no false fault' % name, '%s %s' % (outside, names))
    ok((said['verdict_word'] == 'unknown') == depends and (seen['update_l2_share_judged'] < 0.99) == depends,
       '%s: %s' % (name, 'no all-clear' if depends else 'the gradients do not depend on it, and are judged'),
       str(said['verdict']))

# --- sparse gradients ---------------------------------------------------------------------------------------------
for kind, dtype in [(k, d) for k in ('SGD', 'Adagrad', 'SparseAdam') for d in (torch.float32, torch.bfloat16)]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(16, 4, sparse=True, dtype=dtype), nn.Flatten(0, 0))
    other = nn.Embedding(16, 4, dtype=torch.float64)
    with torch.no_grad():
        other.weight.copy_(model[0].weight)
    sgd = getattr(torch.optim, kind)(model.parameters(), lr=0.1)
    before, chosen = model[0].weight.detach().double(), torch.randint(0, 16, (24,))

    def step(_):
        sgd.zero_grad()
        used = model(chosen).float().square().mean()
        (used + model(chosen[:3]).sum() if dtype == torch.float32 else used).backward()
        sgd.step()
    run, said, outside = judged('sparse-%s-%s' % (kind, str(dtype)[6:]), model, step, optimizer=sgd)
    loss = other(chosen).square().mean()
    (loss + other(chosen[:3]).sum() if dtype == torch.float32 else loss).backward()
    g = other.weight.grad                                     # a first step of each, by hand
    exact = -0.1 * {'SGD': g, 'Adagrad': g / (g.abs() + 1e-10), 'SparseAdam': g / (g.abs() + 1e-8)}[kind]
    real = model[0].weight.detach().double() - before
    cosine = float((exact * real).sum() / exact.norm() / real.norm())
    there = said['numbers']['weights_cosine']
    moved = int((real != 0).any(1).sum())
    ok((moved == len(chosen.unique()) or dtype != torch.float32) and not run.opaque() and not outside and abs(there - cosine) < 1e-4
       and (said['verdict_word'] != 'harmless' or cosine >= 0.999),
       'sparse rows under %s, %s: every call is judged, and the update has the cosine to float64 that is told'
       % (kind, dtype), '%d %s %s %s %s' % (moved, outside, there, cosine, said['verdict']))


# --- where NaN came from ------------------------------------------------------------------------------------------
LOW = torch.finfo(torch.float16).min
NANS = {
    # kind: (what happens to h, the causes that are right, the operators)
    'two masks': (lambda h: F.softmax(h + torch.full_like(h, LOW) * 2, -1), 'overflow', ''),
    'every key masked': (lambda h: F.softmax(h.masked_fill(torch.ones_like(h) > 0, -torch.inf), -1),
                         'inf_minus_inf', 'softmax'),
    '0 by 0': (lambda h: h / (h - h), 'division_by_zero', 'div'),
    'reciprocal of 0': (lambda h: h * (h - h).reciprocal(), 'division_by_zero', 'reciprocal'),
    'log of a negative number': (lambda h: torch.log(h - 100), 'out_of_range', 'log'),
    'root of a negative number': (lambda h: torch.sqrt(h - 100), 'out_of_range', 'sqrt'),
    'exp': (lambda h: torch.exp(h * 100), 'overflow', 'exp'),
    'square': (lambda h: (h * 1000).square(), 'overflow', ''),
    'a sum': (lambda h: (h - h + 60000).sum(-1, keepdim=True) + h, 'overflow', ''),
}
for name, (make, cause, op) in NANS.items():
    torch.manual_seed(0)
    a, b = nn.Linear(8, 8).half(), nn.Linear(8, 4).half()
    model = nn.ModuleList([a, b])
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(4, 8).half(), torch.randint(0, 4, (4,))
    seen = {}

    def step(_):
        h = a(x)
        seen['h'] = make(h)
        F.cross_entropy(b(seen['h']).float(), y).backward()
        sgd.step()
    run, said, _ = judged('nan ' + name, model, step, optimizer=sgd)
    first = said.get('nonfinite') or said.get('nan') or {}
    fine = bool(torch.isfinite(seen['h']).all())
    ok(not fine and first.get('cause') == cause and first.get('op', '').startswith(op) and first.get('step') == 0
       and first['phase'] == 'forward', '%s: %s in %s' % (name, first.get('cause'), first.get('op')), str(first))
    values, bad = run.values(0), first.get('tensor')
    own = values[bad].reshape(-1) if bad in values else torch.ones(1)
    index = (~torch.isfinite(own)).nonzero().reshape(-1)
    ok(len(index) and int(index[0]) == first['element'], '%s: its first element that is not finite' % name, str(first))
    with open(run.path + '/metrics.tsv') as f:
        lines = [line.rstrip('\n').split('\t') for line in f]
    row = dict(zip(lines[0], lines[1]))
    told = [row['overflow_call'], row['overflow_tensor'], row['overflow_count']]
    ok(told == [str(first.get(k)) for k in ('call', 'tensor', 'nonfinite_elements')],
       '%s: metrics.tsv names it: %s' % (name, told), str(first))
    ok(said['verdict_word'] == 'fatal' and any(r['cause'] == cause for r in said['remedies']),
       '%s: a remedy stands beside the cause' % name, str(said['remedies']))
finish()
