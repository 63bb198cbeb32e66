# SPDX-License-Identifier: Apache-2.0
"""Traces that keep part of a step: the calls of some layers, or of large tensors some of their elements. They hold
PyTorch's own bits and take less room, what they hold is judged as in the whole trace, and the verdict says what was
left out and gives no all-clear."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import halfulp_trace, record, torch  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402

nn, F = torch.nn, torch.nn.functional
os.chdir(home())
MOVES = ('move', 'move_dx', 'concat', 'concat_dx', 'causal', 'causal_dx', 'gather', 'gather_dx', 'onehot')


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(40, 60), nn.GELU(), nn.LayerNorm(60), nn.Linear(60, 60), nn.Tanh(), nn.Linear(60, 8))


def recorded(name, steps=3, adam=True, **how):
    """Records steps under autocast; the learning rate changes, so that each has calls of its own."""
    model = net()
    opt = (torch.optim.AdamW if adam else torch.optim.SGD)(model.parameters(), lr=1e-3)
    torch.manual_seed(1)
    data = [(torch.randn(32, 40), torch.randint(0, 8, (32,))) for _ in range(steps)]

    def train(step):
        opt.param_groups[0]['lr'] = 1e-3 / (step + 1)
        opt.zero_grad()
        with torch.autocast('cpu', dtype=torch.bfloat16):
            out = model(data[step][0])
        F.cross_entropy(out.float(), data[step][1]).backward()
        opt.step()
    run = record(name, model, train, steps, optimizer=opt, **how)
    run.end = [p.detach().clone() for p in model.parameters()]
    code, run.text, run.outside = run.analyzed()
    run.said = {}
    if code in (0, 1):
        with open(name + '/analysis/summary.json') as f:
            run.said = json.load(f)
    return run


def table(run, name):
    with open('%s/analysis/%s.tsv' % (run.path, name)) as f:
        lines = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def size(run):
    return sum(os.path.getsize(os.path.join(run.path, 'trace', n)) for n in os.listdir(run.path + '/trace'))


whole = recorded('whole')
arithmetic = {k: sum(c['op'] not in MOVES and all(whole.names[i] in whole.values(k) for i in c['out'])
                     for c in whole.calls) for k in range(3)}
of_whole = {(r['step'], r['tensor']): r for r in table(whole, 'replay')}
CASES = {
    'layers-3': {'layers': '^3$'}, 'layers-2-3': {'layers': '^[23]$'}, 'layers-dotted': {'layers': r'3|no\.such'},
    'sample-100': {'sample': 100}, 'sample-700': {'sample': 700}, 'both': {'layers': '^[35]$', 'sample': 200},
    'nothing': {'layers': 'no such layer'},
}
for name, how in CASES.items():
    run = recorded(name, **how)
    seen = run.said.get('coverage', {})
    ok(run.said and (not run.outside or name == 'layers-2-3'), '%s: analyze takes it' % name, run.text)
    ok(all(torch.equal(a, b) for a, b in zip(run.end, whole.end)), '%s: the training is the same' % name)
    ok(size(run) < 0.7 * size(whole), '%s: %d bytes of %d' % (name, size(run), size(whole)))
    # its bits are those of the whole trace, wherever a tensor is in both
    other, common = [], 0
    for k in range(3):
        values, all_of = run.values(k), whole.values(k)
        for tensor, x in values.items():
            y = all_of.get(tensor)
            if y is None:
                if '@sample' not in tensor and '@part' not in tensor and 'not_kept' not in tensor:
                    other.append(tensor)
                continue
            common += 1
            if not torch.equal(x, y):
                other.append('%s differs' % tensor)
    none(other, '%s: %d tensors of it are those of the whole trace' % (name, common))
    # all calls of the step are counted, and what was left out is not judged
    steps = seen.get('steps', [])
    ok([s['calls'] for s in steps] == list(arithmetic.values()) or 'sample' in how,
       '%s: %s calls are counted, %s are there' % (name, [s['calls'] for s in steps], list(arithmetic.values())))
    ok(len(steps) == 3 and all(s['judged'] < s['calls'] <= arithmetic[k] for k, s in enumerate(steps)),
       '%s: %s of them are judged' % (name, [s['judged'] for s in steps]))
    ok(run.said['verdict_word'] == 'unknown' and any(o['operator'] == 'what was not kept' for o in seen['not_judged'])
       and 'not kept' in run.said['verdict'][0], '%s: no all-clear: %s' % (name, run.said['verdict'][0]))
    # what is judged is judged as in the whole trace
    rows = [r for r in table(run, 'replay') if (r['step'], r['tensor']) in of_whole]
    same = [r for r in rows if all(r[c] == of_whole[r['step'], r['tensor']][c] for c in ('ulp_max', 'over_bound'))]
    ok(len(same) == len(rows) and (rows or name in ('nothing', 'sample-100', 'both')),
       '%s: %d errors are those of the whole trace' % (name, len(rows)))
    if 'layers' in how and name != 'nothing':
        kept = {c['layer'] for c in run.calls if c['op'] != 'opaque'}
        wanted = '35' if name == 'both' else '23' if name == 'layers-2-3' else '3'
        ok(kept <= set(wanted), '%s: calls of %s' % (name, sorted(kept)))
    weights = [r for r in table(run, 'weights') if r['role'] == 'parameter' and r['tensor'] != 'all']
    if name != 'nothing':
        want = {'sample-100': 8, 'sample-700': 8, 'both': 4, 'layers-2-3': 4}.get(name, 2)
        ok(len(weights) == 3 * want and all(int(r['gradients']) > 0 and int(r['judged'] if 'judged' in r else 0) == 0
                                            for r in weights),
           '%s: %d weights are looked at, none of them is judged by the exact step' % (name, len(weights) // 3),
           str(weights[:2]))

# a branch that does not depend on the other one is judged, and yet the whole step was not seen
torch.manual_seed(0)
model = nn.ModuleDict({'a': nn.Linear(8, 4), 'b': nn.Linear(8, 4)})
opt = torch.optim.SGD(model.parameters(), lr=0.1)


def branches(step):
    x = torch.randn(16, 8)
    (model['a'](x).square().mean() + model['b'](x).square().mean()).backward()
    opt.step()


run = record('branch', model, branches, 1, optimizer=opt, layers='^(?!b)')
run.analyzed()
with open('branch/analysis/summary.json') as f:
    said = json.load(f)
ok(said['coverage']['update_l2_share_judged'] == 1 and said['coverage']['weights'] == 2
   and said['verdict_word'] == 'unknown' and 'were not kept' in said['verdict'][0],
   'a branch that was kept is judged, and gives no all-clear for the other: ' + said['verdict'][0],
   str(said['coverage']))

# how much of an update is swamped, by a sample and by all elements
shares = {}
for sample in (None, 400):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 64)).bfloat16()
    opt = torch.optim.SGD(model.parameters(), lr=2.0)
    x = torch.randn(32, 64).bfloat16()

    def train(step):
        opt.zero_grad()
        model(x).float().square().mean().backward()
        opt.step()
    run = record('swamped-%s' % sample, model, train, 1, optimizer=opt, sample=sample)
    code, text, outside = run.analyzed()
    rows = [r for r in table(run, 'weights') if r['role'] == 'parameter' and r['tensor'] == 'all']
    shares[sample] = int(rows[0]['kept']) / int(rows[0]['gradients'])
    ok(outside == 0 and code in (0, 1), 'swamped updates, sample %s: %.3f of the weights kept their bits' % (
        sample, shares[sample]), text)
# four tensors of 400, 128, 400, 64 elements of each: 6 standard deviations of a share of 992 draws
ok(abs(shares[400] - shares[None]) < 6 * (0.25 / 992) ** 0.5 and 0.05 < shares[None] < 0.95,
   'a sample tells the share', str(shares))

for how in ({'layers': '('}, {'sample': 0}, {'sample': 1.5}):
    try:
        halfulp_trace.record(net(), 'refused', **how)
        ok(False, '%s is refused' % how)
    except ValueError as why:
        ok(next(iter(how)) in str(why), '%s: %s' % (how, why))
finish()
