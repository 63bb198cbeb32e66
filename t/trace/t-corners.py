# SPDX-License-Identifier: Apache-2.0
"""Corners of the recorder that ordinary trainings do not reach: kernels that are called by hand, operands that another
kernel takes, writes that end early, digests that run over, and steps in which the recorder itself fails."""
import os
import sys
import types
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Run, halfulp_trace, judged, loss, net, record, torch  # noqa: E402
from halfulp_trace import laid, reads, rundir  # noqa: E402
from halfulp_trace.born import Born  # noqa: E402
from halfulp_trace.operators.ctc import whole  # noqa: E402
from halfulp_trace.values import fingerprint  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn, F = torch.nn, torch.nn.functional
os.chdir(home())


# --- the kernel of fused descent, also with what torch.optim.SGD refuses: Nesterov's momentum beside dampening -------
def by_kernel(nesterov, dampening, first):
    """A step by PyTorch's kernel. What PyTorch's optimizer computes in a loop has the same weights within a few ulp."""
    model, held = net(), [torch.randn(p.shape) for p in net().parameters()]

    def train(step):
        for p in model.parameters():
            p.grad = None
        loss(model).backward()
        parameters = list(model.parameters())
        with torch.no_grad():
            torch._fused_sgd_(parameters, [p.grad for p in parameters], held, weight_decay=0.0, momentum=0.9, lr=0.1,
                              dampening=dampening, nesterov=nesterov, maximize=False, is_first_step=first and step == 0)
        ends.append(([p.detach().double() for p in model.parameters()], [v.double() for v in held]))
    ends = [([p.detach().double() for p in model.parameters()], [v.double() for v in held])]
    run = record('kernel-%d-%g-%d' % (nesterov, dampening, first), model, train, 2)
    far = []
    for p, w, v, new in zip(model.parameters(), *ends[1], ends[2][0]):
        g = p.grad.double()
        v = 0.9 * v + (1 - dampening) * g
        w = w - 0.1 * (g + 0.9 * v if nesterov else v)
        far.append(float((w - new).abs().max()))
    ok(max(far) < 1e-6, '%s: PyTorch computes what was thought' % run.path, far)
    judged(run, run.path)
    states = [n for n, t in run.tensors.items() if t.get('state') and not t.get('trainable')]
    ok(len(states) == 4 and all(run.next(k, n) for n in states for k in (0, 1)), 'its buffers are states', states)
    return {c['op'] for c in run.calls if c['phase'] == 'update'}


for nesterov in (False, True):
    for first in (False, True):
        ops = by_kernel(nesterov, 0.5, first)
        ok('axpby' in ops and 'sgd' not in ops, 'with dampening the update is several calls', ops)
ops = by_kernel(True, 0.0, False)
ok('sgd' in ops, 'without dampening it is one call', ops)


# --- sums of sparse gradients -----------------------------------------------------------------------------------------
def sparse(name, one, other, alpha=1, whole=False):
    model = nn.Embedding(16, 4, sparse=True)

    def train(step):
        a, b = (torch.autograd.grad((model(torch.tensor(i)) * 0.75).square().sum(), model.weight)[0]
                for i in (one, other))
        a, b = (a.coalesce(), b.coalesce()) if whole else (a, b)
        with torch.no_grad():
            model.weight.add_(torch.add(a, b, alpha=alpha), alpha=-0.1)
    run = record('sparse-' + name, model, train)
    of = run.made_of(run.next(0, 'model.weight'))
    ok('step.y' in of and not [n for n in of if n.startswith('input.x') and len(run.tensors[n]['shape']) > 1],
       name + ': the update depends on both gradients, and no row came from outside', of)
    return run


judged(sparse('shared', [1, 5, 5, 9], [2, 5, 11, 12]), 'rows of two sparse gradients')
judged(sparse('apart', [1, 7, 3, 9], [2, 5, 11, 12]), 'rows of which none is shared')
judged(sparse('coalesced', [1, 5, 5, 9], [2, 5, 5, 9], whole=True), 'rows that were added up before')
judged(sparse('factor', [1, 5, 5, 9], [2, 5, 11, 12], 2), 'rows of which some have a factor', ['aten.add'])


# --- operands of other kernels ----------------------------------------------------------------------------------------
class Sampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Parameter(torch.randn(1, 2, 4, 4))

    def forward(self, dtype):
        torch.manual_seed(3)
        grid = torch.rand(1, 3, 3, 2).mul(2).sub(1)
        return F.grid_sample(self.image.to(dtype), grid.to(dtype), align_corners=False)


for dtype, words in ((torch.float32, []), (torch.bfloat16, ['aten.grid_sampler_2d', 'aten.grid_sampler_2d_backward'])):
    model = Sampled()
    judged(record('sampled-%s' % str(dtype)[6:], model, lambda step: model(dtype).float().square().sum().backward()),
           'pixels in %s' % str(dtype)[6:], words)


class Rounded(nn.Module):
    """Codes that a switch turns off."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 4))

    def forward(self, on):
        y, mask = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            self.w, torch.tensor([0.0625]), torch.tensor([0], dtype=torch.int32), torch.tensor([on]), -8, 7)
        return (y * 2).square().sum() + mask.sum()


with torch.no_grad():
    for on in (0, 1):
        model = Rounded()

        def forward(step):
            made.append(model(on))
        made = []
        run = record('rounded-%d' % on, model, forward)
        judged(run, 'codes that are %s' % ('on' if on else 'off'))
        twice = next(c for c in run.calls if c['op'] == 'scale' or c['op'] == 'mul')
        ok(('w' in run.names[twice['in'][0]].rpartition('.')[2]) != bool(on) and (
            'fake_quantise' in {c['op'] for c in run.calls}) == bool(on), 'the product is of %s' % (
                'the codes' if on else 'the weight itself'), run.names)


class Labels(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.x = nn.Parameter(torch.randn(*shape))


for shape, target in (((5, 4), (5,)), ((2, 4, 3, 2), (2, 3, 2))):
    model = Labels(*shape)

    def each(step):
        y = torch.randint(0, 4, target, generator=torch.Generator().manual_seed(1))
        (F.cross_entropy(model.x, y, reduction='none') * 0.5).square().sum().backward()
    run = record('labels-%d' % len(shape), model, each)
    judged(run, 'a loss of each of %s rows' % (target,))
    losses = [run.tensors[n]['shape'] for n in run.names if n.rpartition('.')[2].startswith('losses')]
    ok(list(target) in losses and (len(losses) == 1) == (len(target) == 1),
       'which only a loss of images reshapes', losses)

# --- views whose sign is turned ---------------------------------------------------------------------------------------
model = Labels(3, 2)


def turned(step):
    z = torch.view_as_complex(model.x).conj()
    (z.imag * 3).square().sum().backward()


run = record('turned', model, turned)
judged(run, 'the imaginary parts of conjugates')
by = next(c for c in run.calls if c['op'] in ('scale', 'mul') and c['phase'] == 'forward')
ok(run.maker.get(by['in'][0], {}).get('op') == 'neg', 'are what a call makes of those that are stored', run.calls)


# --- whole numbers that are written through a view --------------------------------------------------------------------
def counted(step):
    n = torch.zeros(8, dtype=torch.long)
    n[:4] += 3
    model = counted.model
    model(torch.randn(4, 8) * n.to(torch.float32)).square().mean().backward()


counted.model = net()
judged(record('counted', counted.model, counted), 'whole numbers of which some were written')


def tainted(step):
    n = torch.zeros(8, dtype=torch.long)
    n[:4] += torch.special.spherical_bessel_j0(tainted.model[0].weight.detach()[:4, 0]).mul(8).long()
    tainted.model(torch.randn(4, 8) * n.to(torch.float32)).square().mean().backward()


tainted.model = net()
run = record('tainted', tainted.model, tainted)
ok('aten.special_spherical_bessel_j0' in run.judged_by('0.dweight'), 'whole numbers made of what is not judged taint '
   'what is made of them', run.opaque())

# --- the recorder's own parts -----------------------------------------------------------------------------------------
s = types.SimpleNamespace(phase=lambda: 'update')
r = reads.Reads()
r.arrays = True
ok(r.hides(s, torch.zeros(2)) and r.hides(s, torch.ones(())) and not r.hides(s, torch.zeros(1)),
   'two zeros may be made of an array, one may not')

real, most = os.pwrite, 5
os.pwrite = lambda file, data, at: real(file, data[:most], at)
with open('short', 'w+b') as f:
    laid.in_file(f.fileno(), b'halves of an ulp', 3)
os.pwrite = real
with open('short', 'rb') as f:
    ok(f.read() == b'\0\0\0halves of an ulp', 'a file system may write less than it was given')

born, data = Born(), torch.arange(6.0)
born.made['key'] = object(), 0, 1, fingerprint(data)
program = types.SimpleNamespace(tensors=[{'name': 'model.m'}, {'name': 'model.m_next'}],
                                steps=[{'step': 0, 'next': {}}])
rows = [{'step': 0, 'digest': '0xffffffffffffffff'}]
born.link(program, rows, 'key', data)
want = ((1 << 64) - 1 + rundir.digest_of('model.m', data)) % (1 << 64)
ok(rows[0]['digest'] == '0x%016x' % want and len(rows[0]['digest']) == 18 and program.steps[0]['next'] == {'0': 1},
   'a digest that a state joins has 64 bits', rows)


class Grid:
    batch, width = 2, 3

    def inside(self, t, alpha):
        there = torch.tensor([[True, False, True], [False, True, True]])
        return there, torch.arange(6).reshape(2, 3)


at = whole(Grid(), types.SimpleNamespace(values=[torch.zeros(6), torch.zeros(6)]), [0, 1], None)
ok(at.tolist() == [[[0, -1, 2], [6, -1, 8]], [[-1, 4, 5], [-1, 10, 11]]], 'states that are not there have no place', at)


def fails(step):
    """An operator of torch.special at which the recorder stumbles twice."""
    loss(model).backward()


def stumble(*a):
    raise ZeroDivisionError('stumbled')


model = net()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    recorder = halfulp_trace.record(model, 'fails')
    before, recorder.write = recorder.write, stumble
    for _ in range(3):
        with recorder:
            fails(0)
    recorder.write = before
    with recorder:
        fails(0)
told = [str(w.message) for w in said if 'not recorded' in str(w.message)]
ok(recorder.opaque['the recorder failed'] == 3 and len(told) == 1 and 'ZeroDivisionError: stumbled' in told[0],
   'three steps in which the recorder fails are three, told once, and the training goes on', (recorder.opaque, told))
ok(Run('fails').steps, 'and what follows is recorded')

block = nn.Sequential(nn.Linear(2, 2), torch.compile(nn.Linear(2, 2), backend='eager'))
from halfulp_trace.recorder import compiled_modules  # noqa: E402
ok(compiled_modules(block) == ['1'] and compiled_modules(block[1]) == ['OptimizedModule'] and not compiled_modules(
    block[0]), 'compiled modules have their names, the model itself that of its class', compiled_modules(block))
finish()
