# SPDX-License-Identifier: Apache-2.0
"""Kernels whose options change what they compute, called by hand or by optimizers: each run is judged whole, and its
calls are those that PyTorch documents."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import judged, net, record, torch, trained  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn = torch.nn
os.chdir(home())


# --- Adam that PyTorch fuses, with decay that the gradient gets, and with amsgrad
for dtype in (torch.float32, torch.bfloat16):
    for decay, amsgrad in ((0.0, False), (0.25, False), (0.0, True), (0.25, True)):
        model = net(dtype)
        opt = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=decay, amsgrad=amsgrad, fused=True)
        run = trained('fused-%s-%g-%d' % (str(dtype)[6:], decay, amsgrad), model, opt, dtype, 3)
        judged(run, 'fused Adam, weight_decay=%g, amsgrad=%s, %s' % (decay, amsgrad, str(dtype)[6:]))
        ok(('adamw' in {c['op'] for c in run.calls}) == (not decay and not amsgrad),
           'it is one call where nothing is added to AdamW', {c['op'] for c in run.calls})

# --- Adagrad that PyTorch fuses, whose learning rate decays by the number of the step
model = net()
opt = torch.optim.Adagrad(model.parameters(), lr=0.1, lr_decay=0.5, fused=True)
judged(trained('adagrad', model, opt, steps=3), 'fused Adagrad with decay')


# --- a sum or a difference of two operands is one, whose result is the nearest number; of a multiple of a number, which
# is rounded first, it is a multiply-add
def sums(step):
    w, b = model.weight, model.bias
    ys = w - 3, w + 0.3, b - w[:, 0], torch.rsub(b, 2), torch.sub(b, 0.3, alpha=1), torch.sub(b, 0.3)
    more = torch.add(w, 0.3, alpha=3), torch.sub(w, 0.7, alpha=3), torch.rsub(w, 0.3, alpha=3), b.add(w[:, 0], alpha=-7)
    return sum(y.float().sum() for y in ys + more)


for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
    model = nn.Linear(33, 31).to(dtype)
    run = record('sums-' + str(dtype)[6:], model, lambda step: sums(step).backward())
    judged(run, 'sums and differences in ' + str(dtype)[6:])
    ops = [c for c in run.calls if c['phase'] == 'forward' and c['op'] in ('add', 'sub', 'axpby')
           and c['layer'] == 'step' and len(run.tensors[run.names[c['out'][0]]]['shape'])]
    ok([c['op'] == 'axpby' and 'library' in c['attr'] for c in ops] == [False] * 6 + [True] * 4,
       'four have a factor', [(c['op'], c['attr']) for c in ops])

# --- convolutions by the kernel that has no word for transposed ones
class Direct(nn.Module):
    def __init__(self, *taps):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(4, 2, *taps)), nn.Parameter(torch.randn(4))

    def forward(self, x):
        n = self.w.dim() - 2
        return torch.ops.aten.mkldnn_convolution(x, self.w, self.b, [1, 1, 0][:n], [2, 1, 1][:n], [1, 1, 1][:n], 1)


for taps, sizes in (((3, 3, 2), (5, 6, 4)), ((3, 3), (7, 6))) if torch.backends.mkldnn.is_available() else ():
    model = Direct(*taps)
    with torch.no_grad():
        run = record('direct-%d' % len(taps), model, lambda step: model(torch.randn(2, 2, *sizes)).sum())
    judged(run, 'a direct convolution along %d axes' % len(taps))

# --- the smallest element is one of the elements, so that its call is exact; truth values of all are a call
class Least(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 4))

    def forward(self):
        low, high = self.w.amin(1), self.w.amax(0)
        some = ((self.w > 0).any() & (self.w < 9).all()).to(torch.float32)
        return (low.square().sum() + high.square().sum()) * some


model = Least()
run = record('least', model, lambda step: model().backward())
judged(run, 'amin, amax, any and all')
ops = [c for c in run.calls if c['op'] in ('reduce_min', 'reduce_max')]
ok(len(ops) == 4 and not [c for c in ops if 'library' in c['attr']], 'each is one exact call', ops)


# --- counts of what was chosen, summed up as the ends of groups: which expert a row meets
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.choose, self.w = nn.Linear(6, 4), nn.Parameter(torch.randn(4, 6))

    def forward(self, x):
        score, which = self.choose(x).softmax(-1).topk(2)
        which, order = which.flatten().sort()
        ends = torch.histc(which.float(), bins=4, min=0, max=3).cumsum(0, dtype=torch.int32)
        expert = torch.searchsorted(ends, torch.arange(len(which), dtype=torch.int32), right=True)
        return x[order // 2] * self.w[expert] * score.flatten()[order, None]


model = Experts()
run = record('experts', model, lambda step: model(torch.randn(5, 6)).square().sum().backward())
judged(run, 'experts by counts')
ok(not run.judged_by(run.grad(0, 'model.w')), 'the experts have a gradient that is judged')


# --- masks of -infinity in a step that is too large for MPFR: their exponentials are 0, exactly
class Masked(nn.Module):
    def __init__(self, where):
        super().__init__()
        self.wide, self.scores, self.where = nn.Linear(256, 256), nn.Linear(256, 12), where

    def forward(self, x):
        y = self.scores(torch.tanh(self.wide(x)))
        m = torch.ones(12, 12).triu(1).repeat(len(y) // 12, 1) > 0
        y = torch.where(m, torch.full_like(y, -float('inf')), y) if self.where else y.masked_fill(m, -float('inf'))
        return (y / 2).softmax(-1)


for where in (False, True):
    model = Masked(where)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    def train(step):
        opt.zero_grad()
        model(torch.randn(2040, 256)).square().sum().backward()
        opt.step()
    run = record('masked-%d' % where, model, train, optimizer=opt)
    code, text, outside = run.analyzed()
    ok(outside == 0 and 'Harmless' in text and 'no exact value' not in text,
       'a step of some 10^9 operations with hidden scores has a verdict', text)


# --- attention whose incoming gradient is no number for some queries: PyTorch's kernel multiplies the zeros of keys
# that these do not see by it
class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.w(x).reshape(1, 12, 3, 8).permute(2, 0, 1, 3)[:, :, None]
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


for dtype in (torch.float32, torch.float16):
    model = Causal().to(dtype)

    def train(step):
        y = model(torch.randn(1, 12, 8).to(dtype))
        dy = torch.randn(y.shape).to(dtype)
        dy[:, :, :3, 2:5] = float('nan')
        y.backward(dy)
    judged(record('causal-' + str(dtype)[6:], model, train), 'attention with gradients of NaN, ' + str(dtype)[6:])


# --- solutions by factors that exist already: of matrices that are repeated, and with the unknowns on the left
class Solved(nn.Module):
    def __init__(self, left, *shape):
        super().__init__()
        self.left, self.w = left, nn.Parameter(torch.randn(*shape, 3, 3) + 4 * torch.eye(3))

    def forward(self):
        factors, rows = torch.linalg.lu_factor(self.w)
        return torch.linalg.lu_solve(factors, rows, torch.randn(2, 3, 3), left=self.left)


torch.manual_seed(1)
for left, shape, words in ((True, (2,), []), (True, (1,), ['aten.linalg_lu_solve']),
                           (False, (2,), ['aten.linalg_lu_solve'])):
    model = Solved(left, *shape)
    with torch.no_grad():
        run = record('solved-%d-%d' % (left, shape[0]), model, lambda step: model().square().sum())
    judged(run, 'left=%s, %d matrices' % (left, shape[0]), words)
finish()
