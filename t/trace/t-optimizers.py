# SPDX-License-Identifier: Apache-2.0
"""Updates of every kind: all of torch.optim, in loops, on lists and fused, in float32 and bf16, optimizers written by
hand and updates without one. Of each parameter and state the trace has what it was and what it became, bit for bit, no
output of an update lies outside its bound, and steps whose learning rate or clipping differs keep their own links."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import loss, net, record, torch  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402

nn = torch.nn
os.chdir(home())
print('# PyTorch %s' % torch.__version__)
PLAIN = ('weight', 'bias')


def bits(t):
    return t.detach().contiguous().reshape(-1).view({2: torch.int16, 4: torch.int32, 1: torch.int8}[t.element_size()])


def kept(grad, before, after):
    """How many elements have a gradient other than 0 and did not move."""
    return int(((grad != 0).reshape(-1) & (bits(before) == bits(after))).sum())


def links(run, seen, wrong):
    """What is wrong with the links of the parameters; `seen` has each step's weights before and behind, gradients."""
    for step, (before, after, grads) in enumerate(seen):
        values = run.values(step)
        for name, w in before.items():
            layer, _, role = name.rpartition('.')
            own, g = '%s.%s' % (layer.replace('.', '/') or 'model', role), run.grad(step, '%s.%s' % (layer, role))
            end = run.next(step, own) or own
            if not torch.equal(bits(values[own]), bits(w)) or not torch.equal(bits(values[end]), bits(after[name])):
                wrong.append('%s %d: %s' % (run.path, step, own))
            if grads[name] is not None and (g is None or not torch.equal(values[g], grads[name].to(values[g].dtype))):
                wrong.append('%s %d: gradient of %s' % (run.path, step, own))


def trained(name, model, optimizers, steps=2, step_of=None, **how):
    """Records a training and judges it. Returns the run, and how many elements kept their bits in each step."""
    dtype, seen = next(model.parameters()).dtype, []

    def train(step):
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        torch.manual_seed(100 + step)

        def closure():
            for o in optimizers:
                o.zero_grad()
            y = loss(model, dtype)
            y.backward()
            return y
        if step_of:
            grads = step_of(step, closure)
        elif isinstance(optimizers[0], torch.optim.LBFGS):
            optimizers[0].step(closure)
            grads = {n: None for n, _ in model.named_parameters()}
        else:
            closure()
            grads = {n: p.grad.clone() for n, p in model.named_parameters()}
            for o in optimizers:
                o.step()
        seen.append((before, {n: p.detach().clone() for n, p in model.named_parameters()}, grads))
    run = record(name, model, train, steps, optimizer=optimizers, **how)
    wrong = []
    links(run, seen, wrong)
    code, text, outside = run.analyzed('--only', 'replay', '--no-propagate', '--sample', 'all')
    if outside:
        wrong.append('%s: %d outputs outside' % (name, outside))
    elif outside is None:
        wrong.append('%s: %s' % (name, text))
    given = {id(p) for o in optimizers for group in o.param_groups for p in group['params']}
    given = [n for n, p in model.named_parameters() if id(p) in given]
    shares = [sum(kept(g[n], b[n], a[n]) for n in given if g[n] is not None) for b, a, g in seen]
    return run, shares, wrong


# --- torch.optim ----------------------------------------------------------------------------------------------------
# With how many states a parameter has, at least.
OPTIMIZERS = {'ASGD': 1, 'Adadelta': 2, 'Adafactor': 1, 'Adagrad': 1, 'Adam': 2, 'AdamW': 2, 'Adamax': 2, 'NAdam': 2,
              'RAdam': 2, 'RMSprop': 1, 'Rprop': 2, 'SGD': 1, 'LBFGS': 0, 'Muon': 1}
MORE = {'SGD': {'momentum': 0.9}}
# What is opaque: halfulp lacks these updates or their operators.
OPAQUE = {'Adagrad-fused': {'aten._fused_adagrad_'}, 'Muon-loop': {'aten.addmm', 'what was not recorded'}}
missing = sorted(n for n, o in vars(torch.optim).items() if isinstance(o, type) and issubclass(o, torch.optim.Optimizer)
                 and n not in OPTIMIZERS and n not in ('Optimizer', 'SparseAdam'))
none(missing, 'every optimizer of torch.optim is tried')
for name, states in OPTIMIZERS.items():
    if not hasattr(torch.optim, name):
        continue
    wrong, runs, judged = [], 0, 0
    for dtype in (torch.float32, torch.bfloat16):
        for how in ('loop', 'foreach', 'fused'):
            model = net(dtype)
            parameters = [p for p in model.parameters() if p.dim() == 2] if name == 'Muon' else list(model.parameters())
            options = dict(MORE.get(name, {}), **({} if how == 'loop' else {how: True}))
            if how == 'loop' and name not in ('Muon', 'LBFGS', 'Adagrad'):
                options['foreach'] = False
            try:
                optimizer = getattr(torch.optim, name)(parameters, lr=0.01, **options)
            except (TypeError, ValueError, RuntimeError):
                continue                         # PyTorch has it in no such way
            run, shares, faults = trained('%s-%s-%s' % (name, str(dtype)[6:], how), model, [optimizer])
            wrong += faults
            runs, judged = runs + 1, judged + len(run.calls)
            own = [n for n, t in run.tensors.items() if t.get('state') and not t.get('trainable')]
            moved = [n for n in own if run.next(1, n)]
            if len(moved) < states * len(parameters):
                wrong.append('%s: of %s only %s have a next value' % (run.path, own, moved))
            if not set(run.opaque()) <= OPAQUE.get('%s-%s' % (name, how), set()):
                wrong.append('%s: opaque %s' % (run.path, run.opaque()))
    none(wrong,
         '%s: %d ways to run it, %d calls: weights, gradients and states before and behind are PyTorch\'s bits, and '
         'no output is outside its bound' % (name, runs, judged))

# one call where the update rounds once, the elementary ones where it rounds after each
for dtype, fused, right in ((torch.float32, False, True), (torch.bfloat16, False, False), (torch.bfloat16, True, True)):
    model = net(dtype)
    run, _, wrong = trained('adamw-%s-%d' % (str(dtype)[6:], fused), model,
                            [torch.optim.AdamW(model.parameters(), fused=fused)])
    whole = sum(c['op'] == 'adamw' for c in run.calls)
    ok(not wrong and (whole > 0) == right and (any(c['op'] == 'addcdiv' for c in run.calls) != right),
       '%s: %s' % (run.path, 'one call a parameter' if right else 'the calls that round one after the other'),
       str(wrong))

# --- elements that have a gradient and keep their bits ----------------------------------------------------------------
class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr=1e-4):
        super().__init__(parameters, {'lr': lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group['params']:
                m = self.state[p].setdefault('m', torch.zeros_like(p))
                p.add_(torch.sign(m * 0.9 + p.grad * 0.1), alpha=-group['lr'])
                m.mul_(0.99).add_(p.grad, alpha=0.01)


def table(run):
    with open(run.path + '/analysis/weights.tsv') as f:
        lines = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


for name, how in (('ASGD', {}), ('Muon', {}), ('Adafactor', {}), ('Adagrad', {}), ('NAdam', {}), ('Adamax', {}),
                  ('Adam', {'amsgrad': True}), ('Lion', {}), ('RMSprop', {}), ('SGD', {'lr': 1e-3})):
    model = net(torch.bfloat16)
    own = [p for p in model.parameters() if p.dim() == 2] if name == 'Muon' else list(model.parameters())
    optimizer = (Lion if name == 'Lion' else getattr(torch.optim, name, None))
    if optimizer is None:
        continue
    run, counts, wrong = trained('kept-' + name, model, [optimizer(own, **how)], 3)
    code, text, _ = run.analyzed()
    rows = [r for r in table(run) if r['role'] == 'parameter' and r['tensor'] != 'all'] if code in (0, 1) else []
    told = [sum(int(r['kept']) for r in rows if int(r['step']) == k) for k in range(3)]
    all_of = sum(int(r['gradients']) for r in rows)
    ok(not wrong and told == counts and all_of > 0, '%s: %s of %d elements with a gradient kept their bits, as PyTorch '
       'has them (%.3f)' % (run.path, told, all_of, sum(told) / max(all_of, 1)), '%s %s %s' % (counts, wrong, text))

# --- several optimizers, schedules, clipping, micro-batches ---------------------------------------------------------
model = net()
pair = [torch.optim.SGD(model[0].parameters(), lr=0.1), torch.optim.AdamW(model[2].parameters())]
run, _, wrong = trained('pair', model, pair)
ok(not wrong and {c['op'] for c in run.calls} >= {'sgd', 'adamw'}, 'two optimizers are both one call a parameter',
   str(wrong))

model = net(torch.bfloat16)
sgd = torch.optim.SGD(model.parameters(), lr=1.0)
rates = [1e-6, 1.1e-6, 1.2e-6, 3.0]


def scheduled(step, closure):
    sgd.param_groups[0]['lr'] = rates[step]
    closure()
    grads = {n: p.grad.clone() for n, p in model.named_parameters()}
    sgd.step()
    return grads


run, shares, wrong = trained('schedule', model, [sgd], 4, scheduled)
ends = {run.next(s, '0.weight') for s in range(4)}
ok(not wrong and len(ends) == 4 and shares[0] > 100 * shares[3], 'a schedule: each step has its own next weights',
   str(wrong))


def clipped(step, closure):
    """Micro-batches whose gradients are accumulated, looked at, and clipped."""
    for o in optimizers:
        o.zero_grad()
    for _ in range(2):
        (loss(model) / 2).backward()
        sum(p.grad.norm() for p in model.parameters())
    grads = {n: p.grad.clone() for n, p in model.named_parameters()}
    nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    for o in optimizers:
        o.step()
    return grads


for fused in (False, True):
    model = net()
    optimizers = [torch.optim.AdamW(model.parameters(), fused=fused)]
    run, _, wrong = trained('clip-%d' % fused, model, optimizers, 2, clipped)
    grad, end = run.grad(1, '0.weight'), run.next(1, '0.weight')
    ok(not wrong and not run.opaque() and grad in run.made_of(end) and grad not in [
        run.names[i] for c in run.calls if c['op'] == 'adamw' for i in c['in']],
        'clipping: the gradient is the whole batch\'s before it was clipped, and the update has the clipped one',
        str(wrong))


def in_backward(model):
    for p in model.parameters():
        optimizer = torch.optim.SGD([p], lr=0.1)
        p.register_post_accumulate_grad_hook(lambda p, o=optimizer: o.step())


model = net()
in_backward(model)
run = record('in-backward', model, lambda step: loss(model).backward())
ok(all(run.next(0, n) and run.grad(0, n) for n in ('0.weight', '0.bias', '2.weight', '2.bias')) and all(
    c['phase'] == 'update' for c in run.calls if c['op'] == 'sgd'),
    'an optimizer that steps inside of the backward pass')

# --- GradScaler -----------------------------------------------------------------------------------------------------
for fused in (False, True):
    for scale, factor in ((1024.0, 2.0), (1000.0, 1.7), (2.0 ** 40, 2.0)):
        for unscale in (False, True):
            model = net()
            adamw = torch.optim.AdamW(model.parameters(), fused=fused)
            scaler = torch.amp.GradScaler('cpu', init_scale=scale, growth_factor=factor, growth_interval=1)

            def scaled(step):
                adamw.zero_grad()
                with torch.autocast('cpu', torch.float16):
                    y = loss(model)
                scaler.scale(y).backward()
                if unscale:
                    scaler.unscale_(adamw)
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(adamw)
                scaler.update()
            run = record('scaler-%d-%g-%d' % (fused, scale, unscale), model, scaled, 2)
            code, text, outside = run.analyzed()
            skips = scale > 1e6
            moved = run.next(0, '0.weight') is not None and not torch.equal(
                run.values(0)['0.weight'], run.values(0)[run.next(0, '0.weight')])
            ok(code == (1 if skips and code else 0) and outside == 0 and not run.opaque() and moved != skips
               and 'scaler.scale' in run.names and run.next(0, 'scaler.scale'),
               '%s: no output is outside its bound, and the step is %s' % (run.path, 'skipped' if skips else 'taken'),
               text + str(run.opaque()))


# --- updates written by hand ----------------------------------------------------------------------------------------
class Numpy(torch.optim.Optimizer):
    """Its inside is no operator of PyTorch, as that of a library's kernel."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    def step(self):
        for p in self.param_groups[0]['params']:
            m = self.state[p].setdefault('m', torch.zeros_like(p))
            m.numpy()[...] += p.grad.numpy()
            p.detach().numpy()[...] -= 0.1 * m.numpy()


model = net(torch.bfloat16)
run, shares, wrong = trained('lion', model, [Lion(model.parameters())], 3)
ok(not wrong and not run.opaque() and run.next(2, '0.weight_m') and shares[2] > 0, 'lion: its calls, and its moments',
   str(wrong))
model = net()
run, _, wrong = trained('numpy', model, [Numpy(model.parameters())])
calls = [c for c in run.calls if c['op'] == 'opaque']
by = [(c['opaque']['name'], {run.names[i] for i in c['in']}) for c in calls]
steps = [names for name, names in by if name == 'Numpy.step']
states = [names for name, names in by if name == 'written outside PyTorch']
full = [n for n in steps if {'0.weight', '0.dweight'} <= n and any(x.startswith('0.weight_m') for x in n)]
# A state that NumPy wrote is seen when it is read as an array.
ok(not wrong and len(steps) == 8 and len(steps) + len(states) == len(calls) and {'0.weight_m'} in states and full
   and all(c['phase'] == 'update' for c in calls),
   'numpy: one opaque call a parameter, of weight, gradient and state', str(wrong) + str(by))


def by_hand(name, make, steps=2, dtype=torch.bfloat16):
    """An update without an optimizer: make(model) returns what each step does behind the backward pass."""
    model, seen = net(dtype), []
    update = make(model)

    def train(step):
        torch.manual_seed(7 + step)
        for p in model.parameters():
            p.grad = None
        loss(model, dtype).backward()
        grads = {n: p.grad.clone() for n, p in model.named_parameters()}
        before = {n: p.detach().clone() for n, p in model.named_parameters()}
        with torch.no_grad():
            update()
        seen.append((before, {n: p.detach().clone() for n, p in model.named_parameters()}, grads))
    run, wrong = record(name, model, train, steps), []
    links(run, seen, wrong)
    code, text, outside = run.analyzed('--only', 'replay', '--no-propagate')
    ok(not wrong and outside == 0 and code == 0, name + ': weights and gradients are PyTorch\'s bits, and no output is '
       'outside its bound', '%s %s' % (wrong, text))
    return run


def masters(model):
    wide = [p.detach().float().clone() for p in model.parameters()]

    def update():
        for p, w in zip(model.parameters(), wide):
            w.add_(p.grad.float(), alpha=-1e-2)
            p.copy_(w)
    return update


def average(model):
    sgd, mean = torch.optim.SGD(model.parameters(), lr=0.1), [p.detach().clone() for p in model.parameters()]

    def update():
        sgd.step()
        for p, m in zip(model.parameters(), mean):
            m.mul_(0.999).add_(p, alpha=0.001)
    return update


def stochastic(model):
    def rounded(x):
        noise = torch.randint(0, 1 << 16, x.shape, dtype=torch.int32)
        return ((x.view(torch.int32) + noise) & -65536).view(torch.float32)

    def update():
        for p in model.parameters():
            p.copy_(rounded(p.float() - 1e-3 * p.grad.float()))
    return update


def decay(model):
    def update():
        for p in model.parameters():
            p.mul_(1 - 1e-5)
    return update


def eight_bits(model):
    state = [[torch.zeros(p.shape, dtype=torch.uint8), torch.ones(())] for p in model.parameters()]

    def update():
        for p, s in zip(model.parameters(), state):
            v = s[0].float() * s[1] * 0.9 + p.grad.float().abs()
            s[1].copy_(v.max() / 255)
            s[0].copy_((v / s[1]).round().to(torch.uint8))
            p.sub_((p.grad.float() / (v + 1e-3)).to(p.dtype), alpha=1e-2)
    return update


def replaced(model):
    def update():
        for p in model.parameters():
            p.data = p.data - 0.1 * p.grad
    return update


for name, make in (('masters', masters), ('average', average), ('stochastic', stochastic), ('eight-bits', eight_bits)):
    run = by_hand(name, make)
    own = [n for n, t in run.tensors.items() if t.get('state') and not t.get('trainable')]
    ok(name == 'stochastic' or len(own) == 4 and all(run.next(s, n) and run.grad(s, n) for s in (0, 1) for n in own),
       name + ': what it keeps from step to step has a next value, and its parameter\'s gradient',
       str((own, run.steps)))
    if name == 'stochastic':
        ok(all(run.judged_by(run.next(0, n)) for n in ('0.weight', '2.bias')), 'stochastic: its rounding is not judged')
by_hand('decay', decay)
by_hand('replaced', replaced)
finish()
