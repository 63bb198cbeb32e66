# SPDX-License-Identifier: Apache-2.0
"""States that a training keeps by hand: moving averages of the weights in a short format and in float32, and moments of
8 bits with a scale. How many elements kept their bits although the weight had a gradient is PyTorch's own count, an
average that stands still costs, and codes are judged as other casts are."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import record, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn = torch.nn
os.chdir(home())
STEPS = 3


def rows(run):
    with open(run.path + '/analysis/weights.tsv') as f:
        lines = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    return [r for r in (dict(zip(lines[0], x)) for x in lines[1:]) if r['role'] != 'parameter' and r['tensor'] == 'all']


def trained(name, keep, states):
    """Records steps in which keep(k, parameters) writes the states. Returns the run and PyTorch's counts."""
    torch.manual_seed(0)
    model = nn.Linear(64, 64)
    kept = states([p.detach() for p in model.parameters()])
    sgd, counts = torch.optim.SGD(model.parameters(), lr=0.1), []

    def train(k):
        before = [t.clone() for t in kept]
        sgd.zero_grad()
        model(torch.randn(16, 64)).square().mean().backward()
        sgd.step()
        with torch.no_grad():
            keep(kept, list(model.parameters()))
        pulled = [p.grad != 0 for p in model.parameters()]
        counts.append((sum(int(g.sum()) for g in pulled),
                       sum(int((g & (a == b)).sum()) for g, a, b in zip(pulled, before, kept))))
    run = record(name, model, train, STEPS, optimizer=sgd)
    code, run.text, run.outside = run.analyzed()
    with open(name + '/analysis/summary.json') as f:
        run.said = json.load(f)
    return run, counts


AVERAGES = {
    'lerp': lambda e, p: e.lerp_(p.to(e.dtype), 0.001),
    'mul-add': lambda e, p: e.mul_(0.999).add_(p.to(e.dtype), alpha=0.001),
    'copy': lambda e, p: e.copy_((e.float() * 0.999 + p * 0.001).to(e.dtype)),
}
for dtype in (torch.bfloat16, torch.float16, torch.float32):
    for how, move in AVERAGES.items():
        name = '%s-%s' % (str(dtype)[6:], how)
        run, counts = trained(name, lambda e, p: [move(a, b) for a, b in zip(e, p)],
                              lambda p: [x.to(dtype).clone() for x in p])
        told = [(int(r['gradients']), int(r['kept'])) for r in rows(run)]
        ok(told == counts and not run.outside, '%s: %s elements kept their bits, as PyTorch has them' % (
            name, [k for _, k in counts]), '%s %s' % (told, run.text))
        short = dtype != torch.float32
        ok(run.said['cause'] == ('states' if short else None), '%s: %s' % (name, run.said['verdict'][0]))
        if short:
            ok(all(k > 0.9 * n for n, k in counts) and any('float32' in r['remedy'] for r in run.said['remedies']),
               '%s: and float32 is named' % name, str(run.said['remedies']))
        else:
            ok(run.said['verdict_word'] == 'harmless', '%s: float32 takes it' % name, str(run.said['verdict']))


def quantised(kept, parameters):
    """Momentum of 8 bits, with the largest magnitude of each tensor as its scale."""
    for p, q, scale in zip(parameters, kept, scales):
        m = (q.float() - 128) * scale * 0.9 + p.grad * 0.1
        scale.copy_(m.abs().max() / 127)
        q.copy_((m / scale + 128).round().clamp(0, 255).to(torch.uint8))


scales = [torch.full((1,), 1e-3) for _ in range(2)]
run, counts = trained('eight', quantised, lambda p: [torch.full(x.shape, 128, dtype=torch.uint8) for x in p])
told = [(int(r['gradients']), int(r['kept'])) for r in rows(run)]
ok(told == counts and not run.outside, '8 bits: %s elements kept their bits, as PyTorch has them' % [
    k for _, k in counts], '%s %s' % (told, run.text))
cover = run.said['coverage']
ok(not cover['not_judged'] and cover['calls'] == cover['calls_judged'], '8 bits: all %d calls are judged' % cover['calls'],
   str(cover))
finish()
