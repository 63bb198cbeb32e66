#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The 100 problems of KernelBench's level 1 (ScalingIntelligence/KernelBench at 423217d), at small sizes: each is a
# kernel or a graph that judge knows, PyTorch's result is right, and zeros are not. Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python']
from tap import HALFULP, finish, none, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402

F = torch.nn.functional
g = torch.Generator().manual_seed(1)


def d(*shape):
    return torch.rand(*shape, generator=g)


x, y, v = d(16, 24), d(24, 20), d(24, 1)
cube, image, small = d(3, 8, 24), d(2, 6, 9, 10), d(2, 4, 5, 6, 4)
target, sign = torch.randint(24, (16,), generator=g), torch.sign(d(16, 24) - 0.5)
q, k, w = d(2, 2, 32, 16), d(2, 2, 32, 16), d(2, 2, 32, 16)
c1, c2, c3 = d(2, 4, 20), d(5, 6, 3, 3), d(5, 4, 3, 3, 3)


def one(text, f):
    return 'y = ' + text, dict(x=x), f(x), {}




def problems():
    """(numbers, (kernel, operands, result, facts))."""
    for numbers, a, b, how in ((1, d(16, 16), d(16, 16), {}), (2, x, y, {}), (4, x, v, {}),
                               (6, d(4, 300), d(300, 4), {}),
                               (7, d(30, 4), d(4, 30), {}), (8, d(17, 23), d(23, 13), {}), (9, d(40, 3), d(3, 40), {}),
                               (3, cube, d(3, 24, 5), {}), (10, cube, y, {}), (11, d(2, 3, 4, 24), y, {}),
                               (13, d(16, 16), d(16, 16), {}), (14, d(16, 16).triu(), d(16, 16).triu(), {}),
                               (15, d(16, 16).tril(), d(16, 16).tril(), {})):
        yield numbers, ('matmul', dict(a=a, b=b), a @ b, how)
    yield 16, ('matmul', dict(a=x, b=d(16, 5)), None, dict(ta=1))
    yield 17, ('matmul', dict(a=x, b=d(5, 24)), None, dict(tb=1))
    yield 18, ('matmul', dict(a=x, b=d(5, 16)), None, dict(ta=1, tb=1))
    yield 5, ('y = scale(x, k=3.140000104904175)', dict(x=x), x * torch.tensor(3.14), {})
    yield 12, ('y = mul(a, x)', dict(a=d(16, 1), x=x), None, {})
    for numbers, text, f in (
            (19, 'relu(x)', F.relu), (20, 'leaky_relu(x, k=0.01)', F.leaky_relu), (21, 'sigmoid(x)', torch.sigmoid),
            (22, 'tanh(x)', torch.tanh), (23, 'softmax(x)', lambda x: F.softmax(x, 1)),
            (24, 'log_softmax(x)', lambda x: F.log_softmax(x, 1)), (25, 'silu(x)', lambda x: x * torch.sigmoid(x)),
            (26, 'gelu(x)', F.gelu), (27, 'selu(x)', F.selu), (28, 'hardsigmoid(x)', F.hardsigmoid),
            (29, 'softplus(x)', F.softplus), (30, 'softsign(x)', F.softsign), (31, 'elu(x)', F.elu),
            (32, 'hardtanh(x)', F.hardtanh), (88, 'gelu_tanh(x)', lambda x: F.gelu(x, approximate='tanh')),
            (47, 'sum(x, axis=1, keep=1)', lambda x: x.sum(1, keepdim=True)),
            (48, 'mean(x, axis=1)', lambda x: x.mean(1)),
            (49, 'reduce_max(x, axis=1)', lambda x: x.amax(1)), (53, 'reduce_min(x, axis=1)', lambda x: x.amin(1)),
            (89, 'cumsum(x, axis=1)', lambda x: x.cumsum(1)), (90, 'cumprod(x, axis=1)', lambda x: x.cumprod(1)),
            (91, 'cumsum(x, axis=1, reverse=1)', lambda x: x.flip(1).cumsum(1).flip(1)),
            (92, 'cumsum(x, axis=1, exclusive=1)', lambda x: F.pad(x, (1, 0)).cumsum(1)[:, :-1])):
        yield numbers, one(text, f)
    yield 51, ('argmax', dict(x=x), x.argmax(1), {})
    yield 52, ('argmin', dict(x=x), x.argmin(1), {})
    yield 33, ('batchnorm', dict(x=image), F.batch_norm(image, None, None, training=True), {})
    yield 34, ('groupnorm', dict(x=image), F.instance_norm(image), dict(groups=0))
    yield 35, ('groupnorm', dict(x=image), F.group_norm(image, 3), dict(groups=3))
    yield 36, ('t = transpose(x, perm=0231); n = rmsnorm(t, eps=1e-5); y = transpose(n, perm=0312)', dict(x=image),
               image / (image.pow(2).mean(1, keepdim=True) + 1e-5).sqrt(), {})
    yield 37, ('frobenius', dict(x=image), image / image.norm(), {})
    mean = x.abs().mean(1, keepdim=True)
    yield 38, ('a = abs(x); m = mean(a, axis=1, keep=1); y = div(x, m)', dict(x=x), x / mean, {})
    yield 39, ('l2norm', dict(x=x), x / x.norm(dim=1, keepdim=True), {})
    yield 40, ('layernorm', dict(x=image), F.layer_norm(image, image.shape[1:]), dict(axes=3))
    for numbers, x_, n in ((41, c1, 1), (42, image, 2), (43, small, 3)):
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
        yield numbers, ('maxpool', dict(x=x_), pool(x_, 3, 2, 1), dict(window=3, stride=2, padding=1))
    for numbers, x_, n in ((44, c1, 1), (45, image, 2), (46, small, 3)):
        yield numbers, ('avgpool', dict(x=x_), (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n - 1](x_, 2), dict(window=2))
    mask = (d(16, 24) > 0.5).float()
    yield 93, ('masked_cumsum', dict(x=x, mask=mask), (x * mask).cumsum(1), {})
    yield 94, ('mse', dict(x=x, target=sign), F.mse_loss(x, sign), {})
    yield 95, ('cross_entropy', dict(x=x, target=target), F.cross_entropy(x, target), {})
    yield 96, ('huber', dict(x=x, target=sign), F.smooth_l1_loss(x, sign), {})
    yield 97, ('attention', dict(q=q, k=k, v=w), F.scaled_dot_product_attention(q, k, w), dict(exp='2^-18'))
    low, share = x.log_softmax(1), d(16, 24).softmax(1)
    yield 98, ('kl_div', dict(x=low, target=share), F.kl_div(low, share, reduction='batchmean'), {})
    a, p, n = d(8, 24), d(8, 24), d(8, 24)
    yield 99, ('triplet', dict(anchor=a, positive=p, negative=n), F.triplet_margin_loss(a, p, n), {})
    yield 100, ('hinge', dict(x=x, target=sign), (1 - x * sign).clamp(min=0).mean(), {})
    yield from convolutions()


def convolutions():
    """Problems 50, 54 to 87: sizes, strides, paddings, dilations and groups of one to three dimensions."""
    plain = [(50, image, c2, dict(stride=2, padding=1)), (54, small, c3, {}), (55, image, d(5, 6, 3, 5), {}),
             (56, image, d(5, 6, 5, 3), {}), (59, small, d(5, 4, 3, 3, 1), {}), (60, small, d(5, 4, 3, 2, 1), {}),
             (62, image, d(5, 6, 5, 4), {}), (63, image, c2, {}), (66, small, d(5, 4, 2, 3, 4), {}),
             (67, c1, d(5, 4, 3), {}),
             (76, c1, d(5, 4, 3), dict(stride=3, dilation=4)), (80, image, c2, dict(padding=(2, 3), dilation=(2, 1))),
             (82, image, d(6, 1, 3, 3), dict(groups=6)), (83, image, d(6, 1, 3, 1), dict(groups=6)),
             (84, image, d(6, 1, 3, 3), dict(groups=6, stride=2)), (85, image, d(6, 1, 3, 5), dict(groups=6)),
             (87, image, d(5, 6, 1, 1), {})]
    turned = [(57, image, d(6, 5, 3, 3), {}), (58, small, d(4, 3, 3, 5, 2), {}), (61, small, d(4, 3, 3, 3, 3), {}),
              (64, c1, d(4, 3, 3), {}), (65, image, d(6, 5, 3, 5), {}), (68, small, d(4, 3, 3, 2, 2), {}),
              (69, image, d(6, 5, 3, 4), {}), (70, small, d(4, 3, 3, 3, 3), {}), (71, image, d(6, 5, 3, 3), {}),
              (72, small, d(4, 3, 3, 5, 2), dict(stride=2, padding=(1, 2, 1), output_padding=1, groups=2)),
              (73, small, d(4, 3, 3, 3, 3), dict(stride=2, padding=1, groups=4)),
              (74, c1, d(4, 3, 5), dict(dilation=3)),
              (75, image, d(6, 5, 3, 5), dict(stride=(2, 3), padding=(1, 2), dilation=(2, 1), groups=2)),
              (77, small, d(4, 3, 3, 3, 3), dict(stride=2, padding=1, dilation=2)),
              (78, image, d(6, 5, 3, 4), dict(padding=1)),
              (79, c1, d(4, 3, 3), dict(stride=2, padding=1, dilation=2)),
              (81, image, d(6, 5, 3, 3), dict(stride=5, padding=1, dilation=2))]
    for kernel, rows in (('conv', plain), ('conv_transpose', turned)):
        for number, x_, w_, how in rows:
            n = x_.dim() - 3
            f = ((F.conv1d, F.conv2d, F.conv3d) if kernel == 'conv' else
                 (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d))[n]
            facts = {key: 'x'.join(map(str, v)) if isinstance(v, tuple) else v for key, v in how.items()}
            yield number, (kernel, dict(x=x_, w=w_), f(x_, w_, **how), facts)
    deep, point = d(6, 1, 3, 3), d(5, 6, 1, 1)
    yield 86, ('h = conv(x, a, groups=6); y = conv(h, b)', dict(x=image, a=deep, b=point),
               F.conv2d(F.conv2d(image, deep, groups=6), point), {})


def result(kernel, o, got, facts):
    if got is not None:
        return got
    if kernel.startswith('y = mul'):
        return torch.diag(o['a'][:, 0]) @ o['x']
    a, b = (o[n].T if facts.get('t' + n) else o[n] for n in 'ab')
    return a @ b


seen, wrong, blind, told, accepts, unseen = set(), [], [], [], set(), set()
for number, (kernel, o, got, facts) in problems():
    got = result(kernel, o, got, facts)
    seen.add(number)
    quick = ('--no-culprit',)
    r = halfulp.judge(kernel, o, got, options=quick, **facts)
    if r['verdict'] != 'right':
        wrong.append('%d: %s' % (number, r))
    if got.dtype.is_floating_point:   # what KernelBench's tolerance sees of the result
        part, atol = r['results'][0], 1e-4 if got.dtype == torch.float32 else 1e-2
        most = float(got.double().abs().max())
        ratio = float(part['largest_over_atol'])
        if part['kernelbench_atol'] != atol or not abs(ratio - most / atol) <= 1e-2 * most / atol:
            told.append('%d: %s, where %g / %g' % (number, part['largest_over_atol'], most, atol))
        accepts |= {number} if ratio <= 1 else set()
        unseen |= {number} if torch.allclose(torch.zeros_like(got), got, rtol=0, atol=atol) else set()
    zeros = torch.zeros_like(got) if got.dtype.is_floating_point else got * 0 + 25
    if halfulp.judge(kernel, o, zeros, options=quick, **facts)['verdict'] != 'beyond the proven bound':
        blind.append('%d: zeros' % number)
ok(seen == set(range(1, 101)), 'all 100 problems are judged', sorted(set(range(1, 101)) - seen))
none(wrong, 'PyTorch is right in all of them')
none(told, "each report says how many times KernelBench's tolerance the largest value is")
none(sorted(accepts ^ unseen), 'which is at most 1 where that tolerance accepts zeros, and not elsewhere')
# With rows as long as KernelBench's own, its tolerance cannot tell two results from zeros.
g = torch.Generator().manual_seed(2)
for kernel, x, f in (('softmax', torch.rand(2, 393216, generator=g), lambda x: F.softmax(x, -1)),
                     ('l2norm', torch.rand(2, 65535, generator=g).bfloat16(),
                      lambda x: (x.float() / x.float().norm(dim=-1, keepdim=True)).bfloat16())):
    got, atol = f(x), 1e-4 if x.dtype == torch.float32 else 1e-2
    r = halfulp.judge(kernel, dict(x=x), got, options=('--no-culprit',))
    zeros = halfulp.judge(kernel, dict(x=x), torch.zeros_like(got), options=('--no-culprit',))
    ratio = float(r['results'][0]['largest_over_atol'])
    ok(r['verdict'] == 'right' and ratio < 1 and abs(ratio - float(got.float().max()) / atol) < 0.01 * ratio and
       torch.allclose(torch.zeros_like(got), got, rtol=atol, atol=atol) and
       zeros['verdict'] == 'beyond the proven bound',
       '%s of %d: the largest value is %.3f of the tolerance, which accepts zeros; judge does not' % (
           kernel, x.shape[1], ratio), r)
none(blind, 'zeros are beyond the proven bound in all of them')
finish()
