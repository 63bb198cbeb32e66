# SPDX-License-Identifier: Apache-2.0
"""The recorder harms no training and hides nothing: whatever a step does, it goes on with the same bits; what no rule
takes is an opaque call that has its operands, and no output that was judged lies outside its bound."""
import os
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import TOP, Run, halfulp_trace, loss, net, record, torch  # noqa: E402
from tap import finish, home, none, ok, skip  # noqa: E402

nn, F = torch.nn, torch.nn.functional
os.chdir(home())
print('# PyTorch %s' % torch.__version__)


def judged(run, words=()):
    """None of the run's outputs is outside its bound, and its opaque calls are those of these names."""
    code, text, outside = run.analyzed('--sample', 'all')
    ok(code == 0 and outside == 0 and set(run.opaque()) == set(words), '%s: no output is outside its bound, and opaque '
       'is %s' % (run.path, ', '.join(sorted(words)) or 'nothing'), text + str(run.opaque()))


def harmless(name, make, train):
    """The training's weights are the same bits with the recorder and without."""
    weights = []
    for recorded in (False, True):
        model = make()
        torch.manual_seed(5)
        if recorded:
            run = record(name, model, lambda step: train(model))
        else:
            train(model)
        weights.append([p.detach().clone() for p in model.parameters()])
    none([k for k, (a, b) in enumerate(zip(*weights)) if not torch.equal(a, b)], name + ': recording changes no bit')
    return run


def update(model, y, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    y.backward()
    optimizer.step()


# --- operators of other namespaces, and memory that something else writes to ----------------------------------------
@torch.library.custom_op('halfulp_test::square', mutates_args=())
def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


square.register_autograd(lambda c, g: 2 * c.saved_tensors[0] * g,
                         setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))


@torch.library.custom_op('halfulp_test::double_', mutates_args=('x',))
def double_(x: torch.Tensor) -> None:
    x.mul_(2)


@torch.library.custom_op('halfulp_test::liar', mutates_args=())
def liar(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2)                                    # which its schema denies
    return x.sum()


run = harmless('custom', net, lambda m: update(m, square(m[0](torch.randn(4, 8))).mean()))
judged(run, ['halfulp_test.square'])
mean = next(run.names[c['out'][0]] for c in run.calls if c['op'] == 'reduce_mean')
ok(run.judged_by(mean) == {'halfulp_test.square'} and not run.judged_by('0.dweight'),
   'custom: the loss depends on it, the gradient, which has its operand alone, does not')


def doubled(m, by):
    h = torch.randn(4, 8) * 1.5
    by(h)
    update(m, m(h).mean())


def reverse(h):
    h.numpy()[:] = h.numpy()[::-1].copy()        # the same numbers in another order


class Kernel(torch.autograd.Function):
    """As a kernel that is launched by hand has it: its result is made empty, and no operator fills it."""

    @staticmethod
    def forward(c, x):
        y = torch.empty_like(x)
        y.numpy()[...] = 2 * x.detach().numpy()
        return y

    @staticmethod
    def backward(c, g):
        out = torch.empty(g.numel() + 1)[1:].view_as(g)
        out.numpy()[...] = 2 * g.numpy()
        return out


def one_bit(h):
    h.numpy().view('int32')[2, 3] ^= 1


for name, by, words in (('writes', double_, ['halfulp_test.double_']), ('lies', liar, ['halfulp_test.liar']),
                        ('reverse', reverse, ['written outside PyTorch']),
                        ('one-bit', one_bit, ['written outside PyTorch'])):
    run = harmless(name, net, lambda m: doubled(m, by))
    judged(run, words)
    ok(run.judged_by('0.dweight') == set(words), name + ': the gradient depends on it')


run = harmless('kernel', net, lambda m: update(m, Kernel.apply(m(torch.randn(4, 8))).square().mean()))
judged(run, ['written outside PyTorch'])
ok(run.judged_by('0.dweight') == {'written outside PyTorch'}, 'kernel: the gradient depends on it')

# --- tensors of other kinds -----------------------------------------------------------------------------------------
def halves(m):
    x = torch.empty(4, 8)
    x[:2] = torch.randn(2, 8)
    x[2:] = torch.randn(2, 8)
    update(m, m(x).mean())


judged(harmless('empty-view', net, halves))


def bucket(m):
    """As DistributedDataParallel has it: gradients are copied into one tensor and back."""
    loss(m).backward()
    flat, k = torch.empty(sum(p.numel() for p in m.parameters())), 0
    for p in m.parameters():
        flat[k:k + p.numel()].copy_(p.grad.reshape(-1))
        k += p.numel()
    flat.div_(2)
    k = 0
    for p in m.parameters():
        p.grad.copy_(flat[k:k + p.numel()].view_as(p))
        k += p.numel()
    torch.optim.SGD(m.parameters(), lr=0.1).step()


run = harmless('bucket', net, bucket)
judged(run)
ok(run.grad(0, '0.weight') == '0.dweight' and run.next(0, '0.weight') == '0.weight_next',
   'bucket: the gradient is the one before the copies, the update has that behind them')


def table():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(16, 4, sparse=True), nn.Linear(4, 4))


def rows(m):
    update(m, m(torch.randint(0, 16, (8,))).mean())


run = harmless('sparse', table, rows)
code, text, outside = run.analyzed()
ok(code == 0 and outside == 0 and not run.opaque() and run.grad(0, '0.weight') is not None,
   'sparse: its gradient is known, and every call is judged', text + str(run.opaque()))
ok('0.dweight' in run.names and '0.weight' in run.made_of(run.next(0, '0.weight')),
   'sparse: the update of the table is made of its rows')


def nested(layout):
    def train(m):
        x = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(2, 8)], layout=layout)
        y = m[0](x)
        (y.values() if layout is torch.jagged else y.to_padded_tensor(0.0)).sum().backward()
    return train


for layout in (torch.strided, torch.jagged):
    run = harmless('nested-%s' % str(layout)[6:], net, nested(layout))
    code, text, outside = run.analyzed()
    whole = layout is torch.jagged               # whose operators are those of the rows of all, one behind the other
    ok(code == 0 and outside == 0 and whole != bool(run.judged_by('0.dweight')),
       '%s: its gradient is %sjudged' % (run.path, '' if whole else 'not '), text)


def ragged(m):
    """A norm of a batch without its padding, as PyTorch's own encoder has it where it does not train."""
    with torch.no_grad():
        x = torch._nested_tensor_from_mask(torch.randn(2, 3, 8), torch.tensor([[1, 1, 0], [1, 1, 1]]).bool())
        y = torch.nn.functional.layer_norm(x, (8,), torch.ones(8), torch.zeros(8)).to_padded_tensor(0.0)
        x + x
    (m[0](torch.randn(2, 3, 8)) * y.repeat(1, 1, 2)).sum().backward()


run = harmless('ragged', net, ragged)
ok(run.analyzed()[2] == 0 and run.judged_by('0.dweight'),
   'ragged: what a norm of rows of several lengths made is opaque')


def spectrum(m):
    torch.fft.rfft(m(torch.randn(4, 8))).sqrt().abs().sum().backward()


run = harmless('complex', net, spectrum)
ok(run.analyzed()[2] == 0 and 'aten.sqrt' in run.judged_by('0.dweight'),
   'complex: what complex numbers lie between is not judged', str(run.judged_by('0.dweight')))


def integers(m):
    """Whole numbers that are made of the bits of floats are no inputs."""
    y = m(torch.randn(4, 8))
    z = ((y.detach().view(torch.int32) + 1) & -2).view(torch.float32)
    (y * z).sum().backward()


run = harmless('integers', net, integers)
ok(run.analyzed()[2] == 0 and {'aten.add', 'aten.bitwise_and'} <= run.judged_by('0.dweight'),
   'integers: bits of floats taken as whole numbers are not judged', str(run.judged_by('0.dweight')))


def positions(m):
    """Whole numbers that are made of whole numbers are exact."""
    at = torch.arange(4)[:, None] + torch.zeros(4, 8, dtype=torch.long)
    m((at * 2 % 3).to(torch.float32)).sum().backward()


judged(harmless('positions', net, positions))


def looked_at(m):
    """Truth values that only Python reads are no calls."""
    y = loss(m)
    y.backward()
    if torch.isfinite(y).all().item() and not any(torch.isinf(p.grad).any() for p in m.parameters()):
        torch.optim.SGD(m.parameters(), lr=0.1).step()


judged(harmless('looked-at', net, looked_at))

# --- wrappers that shard and reduce ---------------------------------------------------------------------------------
try:
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard
    dist.init_process_group('gloo', init_method='file://' + os.path.abspath('meeting'), rank=0, world_size=1)
except (ImportError, RuntimeError, ValueError) as why:
    skip('sharded', str(why).splitlines()[0])
else:
    def sharded(m):
        fully_shard(m)
        optimizer = torch.optim.AdamW(m.parameters())
        run = record('sharded', m, lambda step: update(m, loss(m), optimizer))
        code, text, outside = run.analyzed()
        ok(code == 0 and outside == 0 and len(run.steps[0]['next']) == 12 and run.grad(0, '0.weight'),
           'sharded: parameters, gradients and states of shards are known', text + str(run.steps))
    sharded(net())
    m = nn.parallel.DistributedDataParallel(net())
    run = record('ddp', m, lambda step: update(m, loss(m)))
    judged(run)
    dist.destroy_process_group()

# --- activation checkpointing ---------------------------------------------------------------------------------------
from torch.utils.checkpoint import checkpoint  # noqa: E402


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.reentrant = nn.Linear(8, 8), nn.Linear(8, 2), reentrant
        self.block = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))

    def forward(self, x):
        return self.last(checkpoint(self.block, self.first(x), use_reentrant=self.reentrant))


for reentrant in (False, True):
    run = harmless('checkpoint-%d' % reentrant, lambda: Checkpointed(reentrant), lambda m: update(m, loss(m)))
    judged(run)
    again = [c for c in run.calls if c.get('recomputed')]
    first = [c for c in run.calls if c['phase'] == 'forward' and not c.get('recomputed')]
    layers = {c['layer'] for c in first if c['op'] in ('matmul', 'tanh')}
    ok({'block/0', 'block/1'} <= {c['layer'] for c in again} and all(c['phase'] == 'forward' for c in again)
       and layers == {'first', 'block/0', 'block/1', 'block/2', 'last'},
       '%s: calls that run again say so, in the modules that they belong to' % run.path, str(layers))
    ok(all(run.maker[run.id(n)]['layer'] for n in run.names if n.endswith('_recomputed')) and
       sum(n.endswith('.y_recomputed') for n in run.names) >= 2, run.path + ': their tensors are named so')

# --- torch.compile --------------------------------------------------------------------------------------------------
def told(make):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        made = make()
    return made, [str(w.message) for w in said if 'torch.compile' in str(w.message)]


recorder, said = told(lambda: halfulp_trace.record(torch.compile(net(), backend='eager'), 'compiled'))
ok(len(said) == 1 and 'bits' in said[0], 'a compiled model is told at once', str(said))
model = net()
sine = torch.compile(lambda x: torch.sin(x) * 2, backend='eager')
sine(model(torch.randn(4, 8)))                       # compiled before, and no module: the call tells it
recorder = halfulp_trace.record(model, 'compiled-inside', strict=True)


def inside():
    with recorder:
        sine(model(torch.randn(4, 8))).sum().backward()
        sine(model(torch.randn(4, 8))).sum().backward()


said = told(inside)[1]
run = Run('compiled-inside')
ok(len(said) == 1 and sum(c['op'] == 'sin' for c in run.calls) == 2 and run.opaque() == {},
   'a compiled function runs operator by operator in a step, and that is told once', str(said))

# --- failures of the recorder itself, and what is there already -----------------------------------------------------
Step = halfulp_trace.recorder.Step


def broken(self, *args):
    raise IndexError('a fault of the recorder')


def fails(part, strict):
    """Trains with this part of the recorder broken. Returns what was raised, whether the step ended, warnings."""
    kept, model, ended = getattr(Step, part), net(), False
    setattr(Step, part, broken)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            with halfulp_trace.record(model, '%s-%d' % (part, strict), strict=strict):
                update(model, loss(model))
                ended = True
        return '', ended, [str(w.message) for w in said]
    except IndexError as why:
        return str(why), ended, []
    finally:
        setattr(Step, part, kept)


for part in ('is_view', 'wrote', 'notice_update'):
    raised, ended, said = fails(part, True)
    ok(raised == 'a fault of the recorder' and not ended, 'strict=True raises what goes wrong in the recorder: ' + part)
    raised, ended, said = fails(part, False)
    ok(not raised and ended and any('strict=True' in w for w in said),
       'else it stops no training, and a warning says so',
       raised)
    run = Run(part + '-0')
    ok(run.grad(0, '0.weight') is None or run.judged_by(run.grad(0, '0.weight')),
       'and nothing that it missed is taken for an input', str(run.opaque()))


def perturbed(name, blocks):
    """What is warned of where weights are written to between two passes, in one block of autocast or in two."""
    model = net()
    recorder = halfulp_trace.record(model, name, strict=True)

    def both():
        model(torch.ones(4, 8)).float().square().mean().backward()
    with warnings.catch_warnings(record=True) as said, recorder:
        warnings.simplefilter('always')
        for _ in range(blocks):
            with torch.autocast('cpu', torch.bfloat16):
                both()
                if blocks == 1:
                    with torch.no_grad():
                        model[0].weight.mul_(1.5)
                    both()
            with torch.no_grad():
                model[0].weight.mul_(1.5)
    return [str(w.message) for w in said if 'cast from before' in str(w.message)]


said = perturbed('one-block', 1)
ok(len(said) == 1 and '0.weight was written to' in said[0],
   'a cast that autocast keeps of a weight that was written to since is told of', said)
said = perturbed('two-blocks', 2)
ok(not said, 'and not where each pass has a block of its own', said)


def product(name, model):
    """What is warned of where the gradient of a product is asked for, or nothing."""
    with warnings.catch_warnings(record=True) as said, halfulp_trace.record(model, name, strict=True):
        warnings.simplefilter('always')
        model(torch.ones(4, 8)).prod(1).sum().backward()
        with torch.no_grad():
            model(torch.ones(4, 8)).prod(1)
    return [str(w.message) for w in said if 'prod' in str(w.message)]


ok(len(product('product', net())) == 1,
   'a gradient that PyTorch computes in another way while it is recorded is told of')

record('twice', net(), lambda step: None)
open('twice/mine.txt', 'w').close()
for how, right in (({}, 'overwrite=True'), ({'overwrite': True}, '')):
    try:
        halfulp_trace.record(net(), 'twice', **how)
        why = ''
    except FileExistsError as error:
        why = str(error)
    ok(right in why and bool(right) == bool(why), 'a directory that has a run is %s' %
       ('overwritten where that is asked for' if not right else 'refused, and the message says what to do'), why)
ok(os.listdir('twice') == ['mine.txt'], 'of which only the run is deleted', str(os.listdir('twice')))
finish()
