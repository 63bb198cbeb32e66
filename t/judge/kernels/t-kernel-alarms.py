#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Right kernels whose errors look like those of wrong ones: one rounding error in all elements, hidden values that
# overflow as they were declared to, values halfway between two of fp16, sums of subnormal numbers. None is alarmed, and
# beside each stands a kernel that is wrong in the same place, which is. Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python']
from tap import HALFULP, finish, home, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402

F, bf16, fp16 = torch.nn.functional, torch.bfloat16, torch.float16
os.chdir(home())
g = torch.Generator().manual_seed(20261129)


def draw(*shape, scale=1.0):
    return torch.randn(*shape, generator=g) * scale


def verdict(what, want, kernel, inputs, got, **facts):
    v = halfulp.judge(kernel, inputs, got, options=('--no-culprit',), **facts)
    ok(v['verdict'] == want if isinstance(want, str) else v['verdict'] not in want, '%s: %s' % (what, v['verdict']), v)


# Shares are nearly equal, so that all have one rounding error; its mean square is up to three times the model's.
QUIET = ('right', 'right, but not by the declared roundings')
for n in (63, 100, 200, 513):
    x = draw(16, n, scale=2 ** -10).to(bf16)
    p = torch.softmax(x.float(), -1)
    verdict('softmax of %d nearly equal numbers' % n, 'right', 'softmax', dict(x=x), p.to(bf16))
    d = x.float() - x.float().amax(-1, True)
    kept = d.exp().sum(-1, True)
    lost = kept.to(bf16).float().log().to(bf16).float()
    verdict('log_softmax with its sum in bf16', 'right', 'log_softmax', dict(x=x), (d - lost).to(bf16), log_sum='in')
    verdict('log_softmax with its sum in fp32', 'right', 'log_softmax', dict(x=x), (d - kept.log()).to(bf16))
    noise = (p * (1 + draw(16, n, scale=2 ** -8))).to(bf16)
    verdict('softmax whose shares err by a unit roundoff once more', QUIET, 'softmax', dict(x=x), noise)

# Where the hidden value overflows in fp16, as declared, a kernel answers infinities and NaN, and one that keeps it in
# fp32 does not.
x, w1, w2 = (draw(4, 32, scale=300).to(fp16), draw(32, 64, scale=60).to(fp16), draw(64, 8, scale=0.01).to(fp16))
hidden = F.gelu((x.float() @ w1.float()).to(fp16).float()).to(fp16)
overflows = (hidden.float() @ w2.float()).to(fp16)
keeps = (F.gelu(x.float() @ w1.float()) @ w2.float()).to(fp16)
ok(not hidden.isfinite().all() and not overflows.isfinite().all(), 'a hidden value overflows')
failed = ('beyond the proven bound',)
verdict('an MLP whose hidden value overflows in fp16', failed, 'mlp', dict(x=x, w1=w1, w2=w2), overflows)
verdict('the same without an overflow', failed, 'mlp', dict(x=x, w1=w1, w2=w2), keeps)
small = (x / 300).to(fp16)
right = (F.gelu((small.float() @ w1.float()).to(fp16).float()).to(fp16).float() @ w2.float()).to(fp16)
verdict('an infinity where nothing overflows', 'beyond the proven bound', 'mlp', dict(x=small, w1=w1, w2=w2),
        right.where(torch.arange(8) > 0, torch.tensor(float('inf'), dtype=fp16)))

# 0.9 m + 0.1 g of numbers of fp16 often lies halfway between two of them, and fp32's 0.9, which is less, decides it.
w, grad, m, v = (draw(8, 4100).to(fp16) for _ in range(4))
v = v.abs()


def moment(decay):
    """0.9 m + 0.1 g in fp32, times decay."""
    return ((torch.tensor(0.9) * m.float() + torch.tensor(0.1) * grad.float()) * decay).to(fp16)


def adamw(m1):
    m1, v1 = m1.float(), 0.999 * v.float() + 0.001 * grad.float() ** 2
    step = 1e-3 / 0.1 * (0.9 * m.float() + 0.1 * grad.float()) / (v1.sqrt() / 0.001 ** 0.5 + 1e-8)
    return dict(w1=(w.float() * (1 - 1e-5) - step).to(fp16), m1=m1.to(fp16), v1=v1.to(fp16))


inputs = dict(w=w, g=grad, m=m, v=v)
verdict('moments halfway between two numbers', 'right', 'adamw', inputs, adamw(moment(1)))
verdict('moments that are 2^-13 too small', QUIET, 'adamw', inputs, adamw(moment(1 - 2 ** -13)))

# Where each row is one number all elements of O have one rounding error, so that the error of delta = rowsum(dO O) is
# as many times as large, and all keys share it in dQ.
def rows_of_one(t):
    rows = 0.75 * (torch.arange(2 * 64) % 5 + 1).reshape(1, 2, 64, 1)
    return [rows.expand(1, 2, 64, 32).to(t) for _ in range(4)]


def gradients(q, k, v, do, t, missing=0):
    """missing: so many of the last elements of a row are left out of delta."""
    q, k, v, do = (x.float() for x in (q, k, v, do))
    p = torch.softmax(q @ k.mT / 32 ** 0.5, -1)
    o = (p @ v).to(t).float()
    delta = (do * o)[..., :32 - missing].sum(-1, True)
    ds = (p * (do @ v.mT - delta)).to(t).float()
    return dict(dq=(ds @ k / 32 ** 0.5).to(t), dk=(ds.mT @ q / 32 ** 0.5).to(t), dv=(p.to(t).float().mT @ do).to(t))


for t in (fp16, bf16):
    ones = dict(zip(('q', 'k', 'v', 'do'), rows_of_one(t)))
    verdict('gradients of attention to rows of one number in %s' % t, 'right', 'attention_dx', ones,
            gradients(*ones.values(), t))
    verdict('the same without the last element in delta', QUIET, 'attention_dx', ones,
            gradients(*ones.values(), t, missing=1))

# Sums of subnormal numbers lose as much as the smallest of them in each addition.
q, k, values = (draw(1, 2, 16, 64, scale=2.0 ** e) for e in (0, 0, -134))
p = torch.softmax((q.double() @ k.double().mT / 8).float(), -1)
o = torch.zeros_like(q)
for j in range(16):
    o = o + p[..., j:j + 1] * values[..., j:j + 1, :]
if o.abs().max() > 0:   # PyTorch flushes nothing
    verdict('attention to subnormal values', 'right', 'attention', dict(q=q, k=k, v=values), o, p='none')
    verdict('attention to other ones', 'beyond the proven bound', 'attention',
            dict(q=q, k=k, v=values * 2 ** 20), o * 2 ** 20 * 1.01, p='none')
finish()
