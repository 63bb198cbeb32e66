# SPDX-License-Identifier: Apache-2.0
"""Which steps of a long training are recorded: those asked for and no others, within the bytes that are allowed, with
the training's own bits; a folder a rank; and the callbacks of trainers that own the loop."""
import json
import os
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

torch.set_num_threads(1)
os.chdir(home())
nn = torch.nn


def train(run, count=12, **options):
    """Trains a perceptron, in `run` if that is a name. Returns its weights, its losses and the recorder."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    recorder, losses = halfulp_trace.record(model, run, optimizer=opt, **options) if run else None, []

    def step():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(4, 6)), torch.randint(3, (4,)))
        loss.backward()
        opt.step()
        losses.append(float(loss.detach()))
    for _ in range(count):
        if recorder is None:
            step()
            continue
        with recorder:
            step()
            recorder.loss(losses[-1])
    return [p.detach().clone() for p in model.parameters()], losses, recorder


def traced(run):
    """The numbers of the traces, of the manifest and of metrics.tsv, with the losses."""
    with open(run + '/manifest.json') as f:
        manifest = json.load(f)
    with open(run + '/metrics.tsv') as f:
        rows = [line.rstrip('\n').split('\t') for line in f]
    cells = [dict(zip(rows[0], r)) for r in rows[1:]]
    files = [int(n[5:11]) for n in sorted(os.listdir(run + '/trace'))]
    return files, manifest['trace_steps'], [int(c['step']) for c in cells], [c['loss'] for c in cells]


plain, losses, _ = train(None)
for name, options, want in (('chosen', {'steps': '0,4-6,11'}, [0, 4, 5, 6, 11]), ('every', {'every': 5}, [0, 5, 10]),
                            ('both', {'steps': '3-9', 'every': 3}, [3, 6, 9]), ('list', {'steps': [2, 7]}, [2, 7])):
    weights, mine, _ = train(name, **options)
    files, manifest, rows, noted = traced(name)
    ok(files == manifest == rows == want, '%s records the steps %s and no others' % (options, want),
       '%s %s %s' % (files, manifest, rows))
    ok(all(torch.equal(a, b) for a, b in zip(weights, plain)) and mine == losses
       and noted == [repr(losses[k]) for k in want], 'with the bits that the training has without it')
done = halfulp('analyze', '--sample', 'all', 'both')
with open('both/analysis/summary.json') as f:
    numbers = json.load(f)['numbers']
ok(done.returncode == 0 and numbers['steps'] == 3 and numbers['gradient_cosine'] is not None
   and numbers['update_cosine'] > .999,
   'analyze judges gradients and updates of the chosen steps', done.stdout + done.stderr)

train('whole', count=3)
size = sorted(os.path.getsize('whole/trace/' + n) for n in os.listdir('whole/trace'))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    weights, _, _ = train('little', max_bytes=size[-1] * 7 // 2)
files = traced('little')[0]
bytes_there = sum(os.path.getsize('little/trace/' + n) for n in os.listdir('little/trace'))
ok(2 <= len(files) <= 4 and files == list(range(len(files))) and bytes_there <= size[-1] * 7 // 2
   and torch.equal(weights[0], plain[0]), 'max_bytes ends the recording, not the training',
   '%s %d' % (files, bytes_there))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter('always')
    train('none', count=2, max_bytes=100)
ok(any('max_bytes=100' in str(w.message) for w in said) and not os.path.exists('none/trace'),
   'where not one step fits, a warning says so')
for bad in ({'steps': '1,x'}, {'steps': '9-3'}, {'every': 0}, {'max_bytes': 0}):
    try:
        train('bad', **bad)
        text = ''
    except ValueError as why:
        text = str(why)
    ok(text.startswith(list(bad)[0] + '='), '%s is refused: %s' % (bad, text))

RANKS = '''
import sys, os, torch
sys.path.insert(0, %r)
import halfulp_trace
torch.set_num_threads(1)
rank = int(sys.argv[1])
torch.distributed.init_process_group('gloo', init_method='file://' + os.path.abspath('meet'), rank=rank, world_size=2)
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=.1)
with halfulp_trace.record(model, 'ranks', optimizer=opt):
    model(torch.full((3, 4), 1. + rank)).sum().backward()
    opt.step()
torch.distributed.barrier()
''' % os.path.join(TOP, 'python')
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    skip('a folder a rank', 'this PyTorch has no gloo')
else:
    both = [subprocess.Popen([sys.executable, '-c', RANKS, str(r)], stderr=subprocess.PIPE, text=True) for r in (0, 1)]
    errors = [p.communicate(timeout=240)[1] for p in both]
    found = sorted(os.listdir('ranks')) if os.path.isdir('ranks') else []
    ok(found == ['rank-0', 'rank-1'] and not any(p.returncode for p in both)
       and all(traced('ranks/' + r)[0] == [0] for r in found)
       and open('ranks/rank-0/trace/step-000000.safetensors', 'rb').read()
       != open('ranks/rank-1/trace/step-000000.safetensors', 'rb').read(),
       'each of two ranks records into a folder of its own', '%s %s' % (found, errors))
finish()
