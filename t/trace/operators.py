# SPDX-License-Identifier: Apache-2.0
"""What operators of PyTorch become, judged: tables of rows for t-operators-*.py.

A row is a function of tensors and its operands. It is recorded in fp32, bf16 and fp16, forward and backward, and then
  - no operator in it is opaque, no output of a call outside its bound;
  - what the recorded calls compute exactly is what PyTorch computes in float64: the distance of PyTorch's results in
    the format from halfulp's exact step is their distance from the same function in float64;
  - of kernels that are wrong by 2^-9 in fp32 (wrong.py) a call of the row is outside its bound.
`opaque` names operators that a row may leave opaque, `beyond` says why outputs of a row may lie beyond their bound;
such a row has to have some. Constants of a row are numbers that every format holds."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, halfulp, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
from torch.utils._python_dispatch import _disable_current_modes  # noqa: E402

sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402
from wrong import missed  # noqa: E402

torch.set_num_threads(1)
FORMATS = {'fp32': torch.float32, 'bf16': torch.bfloat16, 'fp16': torch.float16}


class Row(torch.nn.Module):
    def __init__(self, name, f, *operands, formats=('fp32', 'bf16', 'fp16'), grad=True, opaque=(), beyond='',
                 beyond_formats=(), compared=True):
        super().__init__()
        self.name, self.f, self.operands, self.formats, self.grad = name, f, operands, formats, grad
        self.opaque, self.beyond, self.beyond_formats = set(opaque), beyond, beyond_formats
        self.compared = compared

    def forward(self, *x):
        return self.f(*x)


def normal(*shape):
    """Operands: normally distributed numbers, those above 0, those in (0, 1), whole numbers."""
    return lambda g: torch.randn(*shape, generator=g)


def positive(*shape):
    return lambda g: torch.rand(*shape, generator=g) * 2 + 0.125


def between(*shape):
    return lambda g: torch.rand(*shape, generator=g) * 0.96875 + 0.015625


def whole(high, *shape):
    return lambda g: torch.randint(0, high, shape, generator=g)


def given(*values, dtype=torch.long):
    return lambda g: torch.tensor(values, dtype=dtype)


def fixed(make):
    """An operand without a gradient."""
    def draw(g):
        return make(g).requires_grad_(False)
    draw.fixed = True
    return draw


def floats_of(y):
    return [t for t in (y if isinstance(y, (list, tuple)) else [y]) if t is not None and t.is_floating_point()]


def drawn(row, seed):
    g = torch.Generator().manual_seed(seed)
    return [make(g) for make in row.operands]


def cast(row, values, dtype):
    out = []
    for make, x in zip(row.operands, values):
        x = x.to(dtype) if x.is_floating_point() else x
        learns = row.grad and x.is_floating_point() and not getattr(make, 'fixed', False)
        out.append(x.clone().requires_grad_(learns))
    return out


def twin(row, operands, dys):
    """Results and gradients in float64 of the operands that the format holds."""
    x = cast(row, [t.detach().double() if t.is_floating_point() else t for t in operands], torch.float64)
    ys = floats_of(row.f(*x))
    if dys:
        torch.autograd.backward([y for y in ys if y.requires_grad], [d.double() for d in dys])
    return [y.detach() for y in ys], [t.grad for t in x]


def rows_of(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def record(rows, format, run):
    """Records the rows in one step. Returns for each row what it computed, by the program's tensors."""
    model = torch.nn.ModuleDict({row.name: row for row in rows})
    model.weight = torch.nn.Parameter(torch.ones(1))     # no part in anything
    operands, slopes, made = {}, {}, {}
    for k, row in enumerate(rows):
        x = operands[row.name] = cast(row, drawn(row, 100 + k), FORMATS[format])
        slopes[row.name] = slopes_of(row, x, k)
    recorder = halfulp_trace.record(model, run)
    with recorder:
        for row in rows:
            x, dys = operands[row.name], slopes[row.name]
            ys = floats_of(row(*x))
            if dys:
                torch.autograd.backward([y for y in ys if y.requires_grad], dys)
            with _disable_current_modes():
                s = recorder.step
                ids = [s.get(s.value(y)) if s.value(y).data is not None else None for y in ys]
                ids += [s.get(s.value(t.grad)) if t.grad is not None else None for t in x]
            made[row.name] = ids, [y.detach() for y in ys] + [t.grad for t in x]
    for row in rows:
        own, of = twin(row, operands[row.name], slopes[row.name])
        made[row.name] = list(zip(*made[row.name], own + of))
    return recorder, made


def distance(got, want):
    """The relative distance in the L2 norm of what is finite in both."""
    got, want = got.double(), want.double()
    fine = got.isfinite() & want.isfinite()
    whole = float((want[fine] ** 2).sum().sqrt())
    return float(((got[fine] - want[fine]) ** 2).sum().sqrt()) / whole if whole else None


def number(text):
    return None if text == '-' else float(text)


def disagreements(row, made, replay):
    """Where the exact step's distance from a result is not float64's. The exact step is off by 2^-10 of itself at most,
    the twin by some hundred roundings of 2^-53."""
    out = []
    for i, got, want in made:
        entry = replay.get(i)
        if entry is None or got is None:
            continue
        a, b = number(entry['propagated_rel_normwise']), distance(got, want)
        if (a is None or b is None) and not (a or b):
            continue
        if a is None or b is None or not abs(a - b) <= 2 ** -9 * b + 2e-14:
            out.append('%s: %s, %s by the exact step, %s in float64' % (row.name, entry['tensor'], a, b))
    return out


def slopes_of(row, x, seed):
    """A gradient of each of a row's results that learn."""
    g = torch.Generator().manual_seed(seed)
    learns = [y for y in floats_of(row.f(*x)) if y.requires_grad] if row.grad else []
    return [torch.randn(y.shape, generator=g).to(y.dtype) for y in learns]


def one_pass(row, seed):
    """Functions that run a row forward, and backward from its results, whatever its kernels compute."""
    x = cast(row, drawn(row, seed), torch.float32)
    dys = slopes_of(row, x, seed)

    def backward(ys):
        if dys:
            torch.autograd.backward([y for y in ys if y.requires_grad], dys)
    return lambda: floats_of(row(*x)), backward


def judge(title, rows):
    """The tests of a table of rows."""
    mine = [r for r in rows if 'fp32' in r.formats]
    if mine:
        run, model = title + '-wrong', torch.nn.ModuleDict({r.name: r for r in mine})
        model.weight = torch.nn.Parameter(torch.ones(1))
        passes = {r.name: one_pass(r, 100 + k) for k, r in enumerate(mine)}
        none(missed(halfulp_trace.record(model, run), run, passes, rows_of),
             '%s in fp32: wrong kernels are outside their bounds in each of %d rows' % (title, len(mine)))
    for format in FORMATS:
        mine = [r for r in rows if format in r.formats]
        if not mine:
            continue
        run = '%s-%s' % (title, format)
        recorder, made = record(mine, format, run)
        program = json.load(open(run + '/program-train.json'))
        calls = [c for c in program['calls'] if c['op'] == 'opaque']
        opaque = ['%s: %s, since %s' % (c['layer'], c['opaque']['name'], c['opaque'].get('reason')) for c in calls
                  if c['opaque']['name'] not in next((r.opaque for r in mine if r.name == c['layer']), set())]
        names = sorted(recorder.opaque)
        opaque += [k for k in names if not any(k in r.opaque for r in mine)]
        none(opaque, '%s in %s: of %d rows no operator is opaque' % (title, format, len(mine)))
        p = halfulp('analyze', run, '--only', 'replay', '--sample', 'all')
        if not os.path.exists(run + '/analysis/replay.tsv'):
            ok(False, '%s in %s: analyze judges the step' % (title, format), p.stdout + p.stderr)
            continue
        table = rows_of(run + '/analysis/replay.tsv')
        allowed = {r.name for r in mine if r.beyond and format in r.beyond_formats}
        far = [r for r in table if int(r['over_bound'])]
        over = ['%s: call %s %s, %s of %s outputs, %s times the bound' % tuple(r[k] for k in ('layer', 'call', 'op',
                'over_bound', 'sampled', 'bound_ratio_max')) for r in far if r['layer'] not in allowed]
        none(over, '%s in %s: none of %d outputs is outside its bound' % (title, format,
                sum(int(r['sampled']) for r in table)))
        none(sorted(allowed - {r['layer'] for r in far}),
                '%s in %s: %d rows are beyond their bound for a known reason' % (title, format, len(allowed)))
        index = {t['name']: t['id'] for t in program['tensors']}
        replay = {index[r['tensor']]: r for r in table}
        bad = [line for r in mine if r.compared for line in disagreements(r, made[r.name], replay)]
        judged = sum(i in replay for r in mine for i, _, _ in made[r.name])
        none(bad, '%s in %s: the exact step is the same function in float64 (%d results and gradients)' % (
                title, format, judged))
