# SPDX-License-Identifier: Apache-2.0
"""Choices by values that the exact step takes as recorded: how many of them exact values make otherwise is what the
same step in float64 has, and where there are such the word is no all-clear. What is computed again in the exact step
(relu, clamp, where, the windows of a pool), and what a training only looks at, is no choice."""
import csv
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Run, halfulp_trace, torch  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402
from tutorials import data, entropy, nn, wide  # noqa: E402

F = torch.nn.functional
os.chdir(home())
COUNTED, RESTED = {}, {}                         # whose choices are counted one by one; those that rest on comparisons


def counted(f):
    COUNTED[f.__name__] = f


def rested(f):
    RESTED[f.__name__] = f


@counted
def rows_of_a_mask(m, x, y):
    h = m[0](x)
    mask = h[:, 0] > 0.05
    return entropy(m[1](torch.tanh(h[mask])), y[mask]), mask


@counted
def scattered_by_a_mask(m, x, y):
    """The number 0.3 is none of bf16, and is rounded to it before."""
    h = torch.tanh(m[0](x))
    mask = h > 0.3
    return entropy(m[1](h.masked_scatter(mask, (h * 2).flatten())), y), mask


@counted
def routed(m, x, y):
    h = m[0](x)
    expert = h[:, :4].argmax(-1)
    gate = wide(h[:, :4]).softmax(-1).gather(1, expert[:, None]).to(h.dtype)
    return entropy(m[1](torch.tanh(h * (expert[:, None] + 1).to(h.dtype)) * gate), y), expert


@counted
def coded(m, x, y):
    """Whole numbers by rounding, of which each takes a row of a table."""
    code = (wide(m[0](x)) * 8).round().clamp(-8, 7)
    table = m[1].weight.t().to(wide(x).dtype)
    return F.cross_entropy(table[(code + 8).long()].mean(1), y), code


@counted
def sampled(m, x, y):
    """The cell of an image that each place falls into."""
    place = wide(m[0](x)).reshape(len(x), 1, 8, 2)
    image = torch.linspace(-1, 1, 16).to(place.dtype).square().reshape(1, 1, 4, 4).expand(len(x), 1, 4, 4)
    h = F.grid_sample(image, place, align_corners=True).reshape(len(x), 8)
    return entropy(m[1](torch.cat([h, h], 1).to(x.dtype)), y), ((place + 1) * 1.5).floor()


@rested
def hardest(m, x, y):
    each = F.cross_entropy(wide(m[1](torch.tanh(m[0](x)))), y, reduction='none')
    loss, at = each.topk(8)
    return loss.mean(), at.sort()[0]


@rested
def in_order(m, x, y):
    value, at = wide(m[1](torch.tanh(m[0](x))))[:, 0].sort()
    return (value - torch.linspace(-1, 1, len(value)).to(value.dtype)).square().mean(), at


@rested
def middle(m, x, y):
    h = m[0](x)
    value, at = h.median(1, keepdim=True)
    return entropy(m[1](h - value), y), at


@rested
def in_bins(m, x, y):
    h = wide(m[0](x))
    at = torch.bucketize(h.contiguous(), torch.linspace(-1, 1, 15).to(h.dtype))
    return F.cross_entropy(m[1].weight.t().to(h.dtype)[at].mean(1) + m[1](h.to(x.dtype)), y), at


def again(m, x, y):
    h = m[0](x)
    if torch.isinf(h).any() or not torch.isfinite(h).all():
        h = h.clamp(-1e4, 1e4)
    h = torch.where(h > 0.1, h, 0.5 * h).clamp(-1, 1).relu()
    h = F.max_pool2d(h.reshape(-1, 1, 4, 4), 2).flatten(1)
    return entropy(m[1](torch.cat([h, h, h, h.masked_fill(h < 0.2, 0)], 1)), y), torch.zeros(1)


def judged(name, f, dtype):
    """The word, the verdict, the choices of the step and those otherwise, and how many float64 has otherwise."""
    torch.manual_seed(3)
    model = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 4)]).to(dtype)
    with torch.no_grad():
        model[1].weight.mul_(4)
    twin = nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 4)]).double()
    with torch.no_grad():
        for p, q in zip(twin.parameters(), model.parameters()):
            p.copy_(q)
    opt = torch.optim.SGD(model.parameters(), 0.25)
    x, y = data(1, dtype, 512)
    recorder = halfulp_trace.record(model, name, strict=True, optimizer=opt)
    with recorder:
        loss, chosen = f(model, x, y)
        loss.backward()
        opt.step()
    exact = f(twin, x.double(), y)[1]
    run = Run(name, recorder)
    run.analyzed()
    with open(name + '/analysis/summary.json') as file:
        summary = json.load(file)
    with open(name + '/analysis/coverage.tsv') as file:
        row, = csv.DictReader((line for line in file if not line.startswith('#')), delimiter='\t')
    held = summary['coverage']
    if (held['choices'], held['choices_otherwise']) != (int(row['choices']), int(row['otherwise'])):
        raise AssertionError(held)
    apart = chosen.numel() if chosen.shape != exact.shape else int((chosen.double() != exact.double()).sum())
    return summary['verdict_word'], summary['verdict'][0], int(row['choices']), int(row['otherwise']), apart, run


said, amiss, flips, clear = 'exact values make %d otherwise', [], 0, 0
for dtype in (torch.bfloat16, torch.float32):
    for name, f in {**COUNTED, **RESTED}.items():
        what = '%s-%s' % (name, str(dtype)[6:])
        word, text, n, otherwise, apart, run = judged(what, f, dtype)
        print('# %s: %s, %d choices, %d otherwise; float64 has %d' % (what, word, n, otherwise, apart))
        flips += otherwise > 0
        clear += word == 'harmless'
        if run.opaque() or not n or (otherwise > 0) != (apart > 0) or name in COUNTED and otherwise != apart:
            amiss.append('%s: %d of %d otherwise, float64 has %d' % (what, otherwise, n, apart))
        if otherwise and (word == 'harmless' or said % otherwise not in text) or 'otherwise' in text and not otherwise:
            amiss.append('%s: %s' % (what, text))
none(amiss, 'choices that exact values make otherwise are those of float64, and get no all-clear')
ok(flips >= 6 and clear >= 6, 'both kinds are among them', (flips, clear))
found = [judged('again-%s' % str(d)[6:], again, d)[2] for d in (torch.bfloat16, torch.float32)]
ok(found == [0, 0], 'what the exact step computes again is no choice', found)
finish()
