#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Inputs on which kernels break: what --make draws, that it is the same for one seed, that right kernels of PyTorch keep
# their bounds on all of it, and that a kernel is caught that forgets the tail of a row. Needs torch.
import json
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python']
from tap import HALFULP, finish, home, ok, skip_all  # noqa: E402
from tap import halfulp as run  # noqa: E402

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
done = [run('judge', 'rmsnorm', '--make', 'd%d' % i, '--with', 'w', '--set', 'in=bf16', '--seed', str(i // 2))
        for i in range(3)]
cases = json.load(open('d0/cases.json'))
ok(all(d.returncode == 0 for d in done) and len(cases) >= 15, '--make draws cases', [d.stderr for d in done])


def read(folder):
    return [open('%s/%s/x.npy' % (folder, c['case']), 'rb').read() for c in cases]


ok(read('d0') == read('d1'), 'one seed draws the same')
ok(read('d0') != read('d2'), 'another seed draws others')
x = {c['case']: np.load('d0/' + c['inputs']['x']) for c in cases}
ok(all(x['N%d' % n].shape[-1] == n for n in (1, 3, 7, 257, 1025)), 'rows have the boundary lengths')
ok((np.frombuffer(x['normal'].tobytes(), np.uint32) & 0xffff == 0).all(), 'numbers are of the format in=')
ok(all((np.sort(r)[-1] == np.sort(r)[-2]) for r in x['maxima']), 'maxima are repeated')
ok(np.isnan(x['nan']).any(1).sum() == 1 == np.isinf(x['infinite']).any(1).sum(), 'one row has a NaN, one an infinity')
ok((np.abs(x['subnormal']) < 2.0 ** -126).all() and x['subnormal'].any(), 'subnormal numbers are subnormal')
signs = np.signbit(x['zeros'][0])
ok((x['zeros'][0] == 0).all() and signs.any() and not signs.all(), 'zeros of both signs')



def packed(q, k, v, cu):
    o, at = torch.zeros_like(q), cu.tolist()
    for first, last in zip(at[:-1], at[1:]):
        one = (t[first:last].transpose(0, 1)[None] for t in (q, k, v))
        o[first:last] = F.scaled_dot_product_attention(*one)[0].transpose(0, 1) if last > first else o[first:last]
    return o


def paged(q, k_cache, v_cache, pages, lengths):
    o = torch.zeros_like(q)
    for i, n in enumerate(lengths.tolist()):
        k, v = (c[pages[i]].flatten(0, 1).transpose(0, 1)[None, :, :n] for c in (k_cache, v_cache))
        o[i:i + 1] = F.scaled_dot_product_attention(q[i:i + 1], k, v) if n else 0
    return o


def latent(q, kv):
    kv = kv.expand(-1, q.shape[1], -1, -1)
    return F.scaled_dot_product_attention(q, kv, kv[..., :512])


# Without AVX-512 what each channel gives to a transposed convolution is added in the operands' 16 bits.
CHANNELS = {} if torch.backends.cpu.get_cpu_capability() == 'AVX512' else {'acc': 'bf16'}
RIGHT = {'varlen_attention': (packed, {'exp': '2^-14'}), 'paged_attention': (paged, {'exp': '2^-14'}),
         'mla': (latent, {'exp': '2^-14'}), 'sgd': (lambda w, g, m: (w.float() - 1e-3 * g.float()).to(w.dtype), {}),
         'max': (lambda x: x.amax(-1), {}), 'min': (lambda x: x.amin(-1), {}), 'mean': (lambda x: x.mean(-1), {}),
         'matmul': (lambda a, b: a @ b, {}), 'argmax': (lambda x: x.argmax(-1), {}),
         'embedding': (lambda table, index: table[index], {}),
         'swiglu': (lambda gate, up: F.silu(gate) * up, {'hidden': 'in'}),
         'maxpool': (lambda x: F.max_pool2d(x, 2), {}), 'avgpool': (lambda x: F.avg_pool2d(x, 2), {}),
         'causal_conv1d': (lambda x, w: F.conv1d(F.pad(x, (3, 0)), w, groups=w.shape[0]), {}),
         'softmax': (lambda x: torch.softmax(x, -1), {}), 'silu': (lambda x: F.silu(x), {}),
         'sum': (lambda x: x.sum(-1), {}),
         'rmsnorm': (lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6), {'with_operands': 'w'}),
         'layernorm': (lambda x: F.layer_norm(x, x.shape[-1:]), {}), 'cumsum': (lambda x: torch.cumsum(x, -1), {}),
         'attention': (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), {'exp': '2^-14'}),
         'linear': (lambda x, w: F.linear(x, w), {}), 'conv': (lambda x, w: F.conv2d(x, w), {}),
         'conv_transpose': (lambda x, w: F.conv_transpose2d(x, w), CHANNELS),
         'topk': (lambda x: x.topk(1)[1], {}), 'log_softmax': (lambda x: F.log_softmax(x, -1), {'log_sum': 'in'})}
for name, (f, facts) in RIGHT.items():
    try:
        n, why = len(halfulp.assert_close(name, sweep=f, like=torch.bfloat16, **facts)), ''
    except AssertionError as e:
        n, why = 0, str(e)
    ok(n > 10, 'PyTorch\'s %s keeps its bounds on %d cases' % (name, n), why)


def tail(x):
    y = torch.softmax(x, -1)
    y[..., x.shape[-1] // 64 * 64:] = 0 if x.shape[-1] > 64 else y[..., x.shape[-1] // 64 * 64:]
    return y


try:
    halfulp.assert_close('softmax', sweep=tail, like=torch.bfloat16)
    ok(False, 'a softmax without the tail of its rows is caught')
except AssertionError as e:
    good = 'case N1025' in str(e) and 'case normal' not in str(e)
    ok(good, 'a softmax without the tail of its rows is caught', str(e))
finish()
