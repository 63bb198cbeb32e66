# SPDX-License-Identifier: Apache-2.0
"""Selections and casts of whole numbers in a recorded step: sums by indices that stagnate in bf16 and positions that it
cannot hold are found as far off as float64 has them; an index that an operator without a rule chose is opaque, and one
that topk or a mask chose is taken as recorded."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

torch.set_num_threads(1)
os.chdir(home())


class Net(torch.nn.Module):
    def __init__(self, f, dtype, *shape):
        super().__init__()
        torch.manual_seed(3)
        self.f, self.w = f, torch.nn.Parameter(torch.randn(*shape, dtype=torch.float64).to(dtype))

    def forward(self):
        return self.f(self.w)


def gradient(f, dtype, shape, run=None):
    net = Net(f, dtype, *shape)
    recorder = halfulp_trace.record(net, run, optimizer=None) if run else None
    with recorder or open(os.devnull):
        net().backward()
    return net.w.grad.double().flatten()


def program(f, dtype, shape, run):
    gradient(f, dtype, shape, run)
    return json.load(open(run + '/program-train.json'))


def found(title, f, shape):
    """The cosine of the bf16 gradient to the exact one, as analyze and as float64 have it."""
    run = title.replace(' ', '-')
    want = float(torch.nn.functional.cosine_similarity(gradient(f, torch.bfloat16, shape, run),
            gradient(f, torch.float64, shape), 0))
    p = halfulp('analyze', run)
    got = json.load(open(run + '/analysis/summary.json'))['numbers']['gradient_cosine']
    ok(want < 0.9999 and got is not None and abs(got - want) < 1e-6,
            '%s: the cosine to the exact gradient is float64\'s, %.6f' % (title, want), '%s\n%s' % (got, p.stdout))


many = (torch.arange(4096) >= 3900).long()
found('stagnating sums', lambda w: w[many].sum(), (2, 1))
found('sums of an embedding', lambda w: torch.nn.functional.embedding(many, w).sum(), (2, 1))
places = torch.arange(250, 274)
found('positions', lambda w: (w * (places.to(w.dtype) - 256)).sum(), (24,))


def depends(p, tensor, name):
    """Whether a tensor depends on an opaque call of this name."""
    by = {i: c for c in p['calls'] for i in c['out']}
    call = by.get(tensor)
    if call is None:
        return False
    return call.get('opaque', {}).get('name') == name or any(depends(p, i, name) for i in call['in'])


def opaque(p):
    return sorted({c['opaque']['name'] for c in p['calls'] if c['op'] == 'opaque'})


def drawn(w):
    return w[w.detach().abs().multinomial(9, True)] * w + w.detach().lgamma().topk(9)[1].flip(0) * w


p = program(lambda w: drawn(w).sum(), torch.float32, (9,), 'drawn')
by = {c['out'][0]: c for c in p['calls']}
picks = [c for c in p['calls'] if c['op'] == 'gather' and p['tensors'][c['in'][0]]['name'] == 'model.w']
ok(picks and all(by.get(c['in'][1], {}).get('op') == 'opaque' for c in picks) and 'aten.multinomial' in opaque(p),
        'what an operator without a rule chose depends on it', opaque(p))
ok(any(c['op'] == 'mul' and any(depends(p, i, 'aten.topk') and depends(p, i, 'aten.lgamma') for i in c['in'])
       for c in p['calls']), 'and so does what topk chose among such values', opaque(p))
p = program(lambda w: (w.topk(3)[0] * w[w.topk(3)[1]] + w[w > 0][:3]).sum(), torch.float32, (9,), 'topk')
ok(any(c['op'] == 'gather' for c in p['calls']) and opaque(p) == [],
        'what topk and a mask chose is taken as recorded', opaque(p))


def unpacked(w):
    """Of sequences of several lengths the last row each, behind a product."""
    rnn = torch.nn.utils.rnn
    rows = rnn.pack_padded_sequence(w.reshape(3, 4, 2), torch.tensor([2, 4, 1]), True, enforce_sorted=False)
    x, n = rnn.pad_packed_sequence(rows._replace(data=rows.data * rows.data), True)
    return x[torch.arange(3), n - 1]


pool = torch.nn.functional
p = program(lambda w: pool.max_unpool2d(*pool.max_pool2d(w * 2, 2, return_indices=True), 2).sum(), torch.bfloat16,
            (1, 2, 4, 4), 'unpooled')
ok(opaque(p) == [] and any(t.get('choice') for t in p['tensors']),
        'places that a pooling chose are a choice', opaque(p))
usual = torch._VF.__dict__.copy()
p = program(lambda w: unpacked(w).sum(), torch.float32, (24,), 'packed')
ok(opaque(p) == [] and sum(c['op'] == 'mul' for c in p['calls']) > 1 and torch._VF.__dict__ == usual,
        'lengths of sequences that are unpacked are those that were packed', opaque(p))
finish()
