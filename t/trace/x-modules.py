# SPDX-License-Identifier: Apache-2.0
"""Every module of torch.nn (modules.py), forward and backward, in float32, bf16, fp16 and under autocast to bf16, and
every optimizer of torch.optim with each of its switches, in float32 and bf16, recorded and judged. The table that this
prints says of each which share of its calls that are no moves is judged, what is opaque, and how many outputs lie
outside of their bounds.

    x-modules.py [NAME...]

What is opaque stands in doc/torch.md by name, and every output outside of its bound is confirmed by float64
(confirmed.py)."""
import collections
import inspect
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confirmed  # noqa: E402
import modules  # noqa: E402
from recorded import record, torch  # noqa: E402
from tap import TOP, finish, home, none, ok  # noqa: E402

FORMATS = {'float32': torch.float32, 'bf16': torch.bfloat16, 'fp16': torch.float16, 'autocast bf16': torch.float32}
ONLY = sys.argv[1:]
os.chdir(home())


def table(path):
    if not os.path.exists(path):
        return []
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def floats(y):
    if isinstance(y, torch.Tensor):
        return [y] if y.is_floating_point() else []
    return [t for v in (y if isinstance(y, (list, tuple)) else []) for t in floats(v)]


def module(name, mode):
    """The steps of a module: its forward pass and the gradients of everything that has one."""
    make, *draws = modules.CASES[name]
    dtype = FORMATS[mode]
    torch.manual_seed(1)
    model = make()
    drawn = [d() for d in draws]
    if any(isinstance(p, torch.nn.parameter.UninitializedParameter) for p in model.parameters()):
        model(*drawn)
    model = model.to(dtype)
    operands = [t.to(dtype) if t is not None and t.is_floating_point() else t for t in drawn]
    if not any(True for _ in model.parameters()):
        model.learned = torch.nn.Parameter(operands[0].clone())
        operands[0] = model.learned
    elif operands[0].is_floating_point():
        operands[0].requires_grad_()

    def step(_):
        with torch.autocast('cpu', torch.bfloat16, enabled=mode.startswith('autocast')):
            ys = [y for y in floats(model(*operands)) if y.requires_grad]
        g = torch.Generator().manual_seed(2)
        torch.autograd.backward(ys, [torch.randn(y.shape, generator=g).to(y.dtype) for y in ys])
    return model, step


def variants(c):
    """The switches of an optimizer by its own signature, one at a time."""
    has = inspect.signature(c).parameters
    out = [{}]
    for how in ({'foreach': True}, {'foreach': False}, {'fused': True}, {'amsgrad': True}, {'maximize': True},
                {'weight_decay': 0.125}, {'weight_decay': 0.125, 'decoupled_weight_decay': True},
                {'nesterov': True, 'momentum': 0.875}, {'momentum': 0.875, 'dampening': 0.125}, {'centered': True},
                {'momentum': 0.875}, {'lr_decay': 0.125}):
        if all(k in has for k in how):
            out += [how] + [dict(how, **{k: True}) for k in ('foreach', 'fused') if k in has and not {'foreach', 'fused'} & set(how)]
    return out


def optimizer(c, how, mode):
    torch.manual_seed(1)
    dtype = FORMATS[mode]
    model = torch.nn.Sequential(torch.nn.Linear(8, 6, bias=c.__name__ != 'Muon'), torch.nn.Tanh(),
                                torch.nn.Linear(6, 4, bias=c.__name__ != 'Muon')).to(dtype)
    if c.__name__ == 'SparseAdam':
        model = torch.nn.Embedding(8, 6, sparse=True, dtype=dtype)
    opt = c(model.parameters(), **how)

    def step(k):
        g = torch.Generator().manual_seed(k)
        x = torch.randn(5, 8, generator=g).to(dtype)

        def closure():
            opt.zero_grad()
            loss = model(torch.arange(5) if c.__name__ == 'SparseAdam' else x).float().square().mean()
            loss.backward()
            return loss
        if c.__name__ == 'LBFGS':
            opt.step(closure)
        else:
            closure()
            opt.step()
    return model, step


opaque, over, rows = collections.defaultdict(set), [], []


def judged(name, mode, prepare, steps):
    """Records and judges; a row of the table."""
    shutil.rmtree('run', ignore_errors=True)
    try:
        torch.manual_seed(3)
        prepare()[1](0)
    except (RuntimeError, NotImplementedError, ValueError) as why:
        return rows.append((name, mode, '-', '-', 'PyTorch: ' + str(why).split('\n')[0][:60]))
    try:
        torch.manual_seed(3)
        run = record('run', *prepare(), steps=steps)
        code, text, outside = run.analyzed('--sample', 'all', '--only', 'replay')
    except Exception as why:
        ok(False, '%s, %s is recorded' % (name, mode), '%s: %s' % (type(why).__name__, why))
        return None
    if code not in (0, 1):
        ok(False, '%s, %s is judged' % (name, mode), text)
        return None
    calls = [c for c in run.calls if c['op'] not in ('move', 'concat')]
    names = collections.Counter(c['opaque']['name'].split(',')[0] for c in calls if c['op'] == 'opaque')
    for k in names:
        opaque[k].add(name)
    if outside:
        over.extend('%s, %s: %s' % (name, mode, line)
                    for line in confirmed.unconfirmed('run', table('run/analysis/replay.tsv')))
    share = 100.0 * (1 - sum(names.values()) / len(calls)) if calls else 100.0
    return rows.append((name, mode, '%.1f' % share, str(outside or 0), ' '.join(sorted(names)) or '-'))


none(modules.missing(), 'every module of torch.nn has a case')
for name in sorted(modules.CASES):
    for mode in FORMATS:
        if not ONLY or name in ONLY:
            judged(name, mode, lambda: module(name, mode), 1)
for name, c in sorted(vars(torch.optim).items()):
    if isinstance(c, type) and issubclass(c, torch.optim.Optimizer) and c is not torch.optim.Optimizer:
        for how in variants(c):
            for mode in ('float32', 'bf16'):
                if not ONLY or name in ONLY:
                    said = ' '.join([name] + ['%s=%s' % x for x in sorted(how.items())])
                    judged(said, mode, lambda: optimizer(c, how, mode), 2)
for row in [('module', 'mode', 'judged', 'outside', 'opaque')] + rows:
    print('# ' + '\t'.join(row))
text = open(os.path.join(TOP, 'doc', 'torch.md')).read()
none(['%s, of %s' % (k, ', '.join(sorted(v))) for k, v in sorted(opaque.items()) if '`%s`' % k.replace('aten.', '')
      not in text], 'doc/torch.md names what is opaque')
none(over, 'float64 confirms each output outside of its bound')
print('# %d of %d rows are judged whole' % (sum(r[2] == '100.0' for r in rows), len(rows)))
finish()
