#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# assert_close as a writer of kernels calls it: arrays of torch, numpy and of what only knows __dlpack__ or __array__,
# facts of every type, kernels that have names of their own, write into operands, return tuples or raise, and refusals
# that name what is wrong. Needs torch.
import os
import subprocess
import sys
import warnings

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
import numpy as np  # noqa: E402

F = torch.nn.functional
os.chdir(home())
g = torch.Generator().manual_seed(20261129)
x = torch.randn(6, 40, generator=g)


class Lent:
    """An array that is known by __dlpack__ alone."""
    def __init__(self, t):
        self.t = t

    def __dlpack__(self, **how):
        return self.t.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


class Given:
    """An array that is known by __array__ alone."""
    def __init__(self, t):
        self.t = t

    def __array__(self, dtype=None, copy=None):
        return self.t.numpy()


def answer(f):
    """What f returns, or the exception that it raises."""
    try:
        return f()
    except Exception as why:
        return why


def right(what, kernel, inputs, got, form=None, **facts):
    v = answer(lambda: halfulp.assert_close(kernel, inputs, got, **facts))
    good = isinstance(v, halfulp.Verdict) and v.right and (form is None or v['results'][0]['format'] == form)
    ok(good, what, v)
    return v


def refused(what, kind, words, f):
    why = answer(f)
    ok(isinstance(why, kind) and words in str(why) and 'halfulp-judge-' not in str(why), what, repr(why))


def soft(t):
    return torch.softmax(t, -1)


for name, t in (('float32', x), ('float16', x.half()), ('bfloat16', x.bfloat16()), ('float64', x.double())):
    form = {'float32': 'fp32', 'float16': 'fp16', 'bfloat16': 'bf16', 'float64': 'fp64'}[name]
    right('torch %s is %s' % (name, form), 'softmax', dict(x=t), soft(t), form)
    right('%s by __dlpack__ is %s' % (name, form), 'softmax', dict(x=Lent(t)), Lent(soft(t)), form)
right('an array that is not contiguous', 'softmax', dict(x=x.t().contiguous().t()), soft(x))
right('an array that is read backwards', 'softmax', dict(x=x.numpy()[:, ::-1]), soft(x.flip(1)))
right('an array that needs a gradient', 'softmax', dict(x=x.clone().requires_grad_()), soft(x).requires_grad_())
right('an array by __array__', 'softmax', dict(x=Given(x)), Given(soft(x)), 'fp32')
right('a number without axes', 'y = exp(x)', dict(x=torch.tensor(1.5)), torch.tensor(1.5).exp())
right('all elements to one number', 'sum', dict(x=x), x.sum(), axis='all')
right('lists of Python numbers', 'y = exp(x)', dict(x=[0.0, 1.0]), [1.0, 2.718281828459045])
right('bytes in the other order', 'softmax', dict(x=x.numpy().astype('>f4')), soft(x))
e8 = torch.tensor([0.5, 1, 4]).to(torch.float8_e8m0fnu)
v = right('scales of MX formats', 'y = square(x)', dict(x=e8), torch.tensor([0.25, 1, 16]))
ok(v['assumed']['in'] == 'e8m0', 'are e8m0', v['assumed'])
try:
    import ml_dtypes
    right('numpy bfloat16 is bf16', 'softmax', dict(x=x.numpy().astype(ml_dtypes.bfloat16)), soft(x.bfloat16()), 'bf16')
except ImportError:
    pass

# facts of every type, held to what the answer says was assumed
a = x[None, None]
causal = F.scaled_dot_product_attention(a, a, a, is_causal=True)
for value in (True, 1, np.bool_(True), np.int64(1), torch.tensor(1)):
    v = right('causal=%r' % value, 'attention', dict(q=a, k=a, v=a), causal, causal=value)
    ok(v['assumed']['causal'] == '1', 'is 1', v['assumed'])
for value in (1e-3, np.float64(1e-3), torch.tensor(1e-3, dtype=torch.float64), '1e-3'):
    v = right('eps=%r' % value, 'rmsnorm', dict(x=x), F.rms_norm(x, (40,), None, 1e-3), eps=value)
    ok(float(v['assumed']['eps']) == 1e-3, 'is 0.001', v['assumed'])
for value in (torch.bfloat16, 'bf16', 'bfloat16'):
    v = right('p=%s' % value, 'attention', dict(q=a, k=a, v=a), causal, causal=True, p=value)
    ok(v['assumed']['p'] == 'bf16', 'is bf16', v['assumed'])
v = right('a type of numpy', 'attention', dict(q=a, k=a, v=a), causal, causal=True, p=np.float16)
ok(v['assumed']['p'] == 'fp16', 'is fp16', v['assumed'])
image, w = torch.ones(1, 1, 7, 6), torch.ones(1, 1, 3, 3)
right('a stride of each axis', 'conv', dict(x=image, w=w), F.conv2d(image, w, stride=(2, 1)), stride=(2, 1))
v = right('in_ is the fact in', 'softmax', dict(x=x.bfloat16().float()), soft(x.bfloat16()), in_='bf16')
ok(v['assumed']['in'] == 'bf16', 'is bf16', v['assumed'])

# a stochastic store is one of two neighbours, and what is stored otherwise is not
fine = torch.randn(64, 40).bfloat16()
share = torch.softmax(fine.double(), -1)
down = share.bfloat16()
up = torch.nextafter(down, torch.where(down > share, -9.0, 9.0).bfloat16())
near = torch.where(torch.rand(64, 40) < ((share - down) / (up - down).double()), up, down)
ok(halfulp.judge('softmax', dict(x=fine), near)['verdict'] == 'beyond the proven bound',
   'a stochastic store is wrong where none is declared')
v = right('store=sr', 'softmax', dict(x=fine), near, store='sr')
ok(v['verdict'] == 'right' and v['assumed']['store'] == 'sr', 'is right where it is', v)
twice = torch.nextafter(up, torch.where(down > share, -9.0, 9.0).bfloat16())
ok(halfulp.judge('softmax', dict(x=fine), twice, store='sr')['verdict'] == 'beyond the proven bound',
   'two numbers off is wrong there too')
refused('another way to store', halfulp.Refused, 'store=rz: rne or sr is needed',
        lambda: halfulp.judge('softmax', dict(x=fine), near, store='rz'))

# results
z, r = torch.randn(33, 40).bfloat16(), torch.randn(33, 40).bfloat16()
total = z + r
v = right('the sum with the residual', 'rmsnorm', dict(x=z, residual=r), (F.rms_norm(total.float(), (40,), None, 1e-6)
                                                                          .bfloat16(), total), sum='bf16')
ok([(k['result'], k['verdict']) for k in v['results']] == [('y', 'right'), ('added', 'right')], 'is a result', v)
refused('an unknown value', halfulp.Refused, "rmsnorm computes no 'sum'; it computes: h added y",
        lambda: halfulp.judge('rmsnorm', dict(x=z, residual=r), total, given=dict(sum=total)))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    halfulp.assert_close('rmsnorm', dict(x=z, residual=r), F.rms_norm(z.float() + r, (40,), None, 1e-6).bfloat16(),
                         sum='bf16')
    halfulp.assert_close('softmax', dict(x=x), soft(x))
ok([w.category for w in told] == [halfulp.KernelWarning] and told[0].filename == __file__ and
   'right, but not by the declared' in str(told[0].message),
   'a kernel with doubts passes, and warns where it was called', told)
lse = torch.logsumexp((a @ a.mT / 40 ** 0.5).masked_fill(~torch.ones(6, 6).tril().bool(), -torch.inf), -1)
v = right('a tuple of results', 'attention', dict(q=a, k=a, v=a), (causal, lse), causal=True)
ok([r['result'] for r in v['results']] == ['o', 'lse'], 'has their names', v['results'])
v = right('results of a graph', 'h = exp(x); y, l = attention(h, h, h)', dict(x=a),
          (F.scaled_dot_product_attention(a.exp(), a.exp(), a.exp()),), order='any')
refused('more results than there are', ValueError, 'softmax has 1 results (y), not 2',
        lambda: halfulp.judge('softmax', dict(x=x), (x, x)))
for what, got, kernel in (('fewer rows', soft(x)[:3], 'softmax'), ('one row more', torch.ones(7, 40), 'softmax'),
                          ('an axis more', soft(x)[None], 'softmax'), ('fewer indexes', x.argmax(-1)[:3], 'argmax')):
    refused('%s are a wrong result' % what, AssertionError, 'its shape is',
            lambda: halfulp.assert_close(kernel, dict(x=x), got))
v = halfulp.judge('softmax', dict(x=x), soft(x)[:3])
ok(v['results'][0]['shape'] == '3x40' and v['results'][0]['shape_of_result'] == '6x40' and not v.right,
   'both shapes are in the answer', v)
refused('a wrong choice', AssertionError, 'index: of 6 choices 6 are wrong',
        lambda: halfulp.assert_close('argmax', dict(x=x), x.argmin(-1)))

# refusals
for what, words, f in (
        ('no result', "the kernel's result is None", lambda: halfulp.assert_close('softmax', dict(x=x), None)),
        ('no operands', 'assert_close needs the operands', lambda: halfulp.assert_close('softmax')),
        ('operands beside a sweep', 'sweep=KERNEL alone',
         lambda: halfulp.assert_close('softmax', dict(x=x), sweep=soft)),
        ('a text', '--in x is an array of', lambda: halfulp.judge('softmax', dict(x='abc'), x)),
        ('an object', '--in x is an array of object', lambda: halfulp.judge('softmax', dict(x=[None]), x)),
        ('complex numbers', '--in x is an array of complex64',
         lambda: halfulp.judge('softmax', dict(x=x.to(torch.complex64)), x)),
        ('a complex result', 'the result is an array of complex64',
         lambda: halfulp.judge('softmax', dict(x=x), x.to(torch.complex64))),
        ('a sparse array', '--in x: Tensor cannot be read', lambda: halfulp.judge('softmax', dict(x=x.to_sparse()), x)),
        ('an array without values', '--in x: Tensor cannot be read',
         lambda: halfulp.judge('softmax', dict(x=x.to('meta')), x)),
        ('an empty array', '0 elements', lambda: halfulp.judge('softmax', dict(x=x[:0]), x[:0])),
        ('a fact with a blank', "p='bf16 acc=bf16'", lambda: halfulp.judge('softmax', dict(x=x), x, p='bf16 acc=bf16')),
        ('a fact that the kernel has not', 'softmax has no fact', lambda: halfulp.judge('softmax', dict(x=x), x, p=1)),
        ('another kernel', 'did you mean softmax', lambda: halfulp.judge('sofmax', dict(x=x), x)),
        ('like without a type', "like='bf17'", lambda: halfulp.assert_close('softmax', sweep=soft, like='bf17')),
        ('a type of integers', 'like=torch.int32', lambda: list(halfulp.cases('softmax', torch.int32))),
        ('an operand that is not drawn', 'no such optional operand',
         lambda: list(halfulp.cases('softmax', with_operands='w')))):
    refused(what, ValueError, words, f)
os.environ['HALFULP'] = '/nowhere/halfulp'
refused('no program', halfulp.ProgramError, 'cannot be started', lambda: halfulp.judge('softmax', dict(x=x), soft(x)))
os.environ['HALFULP'] = HALFULP


# sweeps
def swept(f, **how):
    return answer(lambda: halfulp.assert_close('softmax', sweep=f, **how))


def numpy_softmax(x):
    with np.errstate(all='ignore'):
        y = x.astype(np.float32)
        e = np.exp(y - y.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True, dtype=np.float32)).astype(x.dtype)


def into(x):
    return x.copy_(soft(x))


def whole_blocks(x):
    if x.shape[-1] % 4:
        raise ValueError('rows of %d' % x.shape[-1])
    return soft(x)


for what, f, how in (('torch', soft, dict(like=torch.float16)), ('numpy', numpy_softmax, {}),
                     ('numpy float16', numpy_softmax, dict(like=np.float16)),
                     ('a kernel with names of its own', lambda rows: soft(rows), dict(like=torch.bfloat16)),
                     ('a kernel that writes into its operand', into, dict(like=torch.bfloat16)),
                     ('another seed', soft, dict(like=torch.bfloat16, seed=5))):
    v = swept(f, **how)
    ok(isinstance(v, list) and len(v) == 19, '19 cases: %s' % what, v)
v = str(swept(whole_blocks, like=torch.bfloat16))
ok(v.startswith('6 of 19 cases are wrong') and 'case N7: the kernel raised ValueError: rows of 7' in v,
   'a kernel that raises is wrong in those cases', v)
v = str(swept(lambda x: soft(x)[:1], like=torch.bfloat16))
ok('18 of 19' in v and 'its shape is 1x64, where' in v and 'case N1025: softmax: beyond' in v,
   'a kernel that returns too little is wrong, but in the case of one row', v)
ok("got an unexpected keyword argument 'x'" in str(swept(lambda: None)), 'a kernel that takes nothing is told so')


# rows of which a mask leaves nothing
def masked(rest):
    def f(q, k, v, mask):
        s = q.float() @ k.float().mT / q.shape[-1] ** 0.5 + mask.float()
        o = torch.softmax(s, -1).nan_to_num() @ v.float()
        return torch.where(mask.isneginf().all(-1, True), rest(v.float()), o).to(q.dtype)
    return f


with_mask = dict(halfulp.cases('attention', torch.bfloat16, 'mask'))
for what, rest, good in (('0', lambda v: 0 * v.mean(-2, True).nan_to_num(), True),
                         ('no number', lambda v: 0 * v.mean(-2, True) + torch.nan, True),
                         ('the mean of all values', lambda v: v.mean(-2, True), True),
                         ('an infinity', lambda v: 0 * v.mean(-2, True).nan_to_num() + torch.inf, False),
                         ('the first value', lambda v: v[..., :1, :], False)):
    for case in ('normal', 'outliers', 'N7', 'H3'):
        a = with_mask[case]
        v = halfulp.judge('attention', a, masked(rest)(**a), options=('--no-culprit',), p='none')
        ok(v.right == good, 'a row that is wholly masked may %sbe %s (%s)' % ('' if good else 'not ', what, case), v)
for name, operands in (('mask', 1), ('slopes sinks', 2), ('lengths', 1)):
    drawn = dict(halfulp.cases('attention', torch.float16, name))['normal']
    ok(len(drawn) == 3 + operands, 'operands are drawn: %s' % name, list(drawn))
code = 'import sys; sys.path.insert(0, %r); import halfulp\ndef f(x): raise KeyboardInterrupt\n' % (TOP + '/python')
os.makedirs('tmp')
done = subprocess.run([sys.executable, '-B', '-c', code + "halfulp.assert_close('softmax', sweep=f)"],
                      env=dict(os.environ, TMPDIR=os.path.abspath('tmp')), capture_output=True, text=True)
ok(done.returncode and 'KeyboardInterrupt' in done.stderr and not os.listdir('tmp'),
   'an interrupt ends a sweep and leaves nothing', (done.stderr, os.listdir('tmp')))
os.makedirs('tmp/nä me\n"\'')
code = code.replace('raise KeyboardInterrupt', 'return x')
done = subprocess.run([sys.executable, '-B', '-c', code + "print(len(list(halfulp.cases('softmax'))))"],
                      env=dict(os.environ, TMPDIR=os.path.abspath('tmp/nä me\n"\'')), capture_output=True, text=True)
ok(done.stdout == '19\n', 'a temporary folder may have any name', done.stderr)
finish()
