# SPDX-License-Identifier: Apache-2.0
"""Operators that run in other threads: those of threads that start in a step are recorded as if they ran in one, and
what runs where nothing is recorded gives no all-clear. No thread is held up, and none is recorded after the step."""
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import halfulp_trace, record, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402

nn = torch.nn
os.chdir(home())
pool = ThreadPoolExecutor(1)
pool.submit(lambda: 0).result()                  # its thread is older than every step


def here(f):
    return f()


def in_thread(f):
    out = []
    thread = threading.Thread(target=lambda: out.append(f()))
    thread.start()
    thread.join()
    return out[0]


def in_pool(f):
    return pool.submit(f).result()


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


def parallel(run, model, opt, x):
    """Two halves of a batch at once, as DataParallel has them."""
    halves, out = x.chunk(2), [None, None]

    def work(k):
        out[k] = model(halves[k])
    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    torch.cat(out).square().mean().backward()
    opt.step()


def forward(run, model, opt, x):
    run(lambda: model(x)).square().mean().backward()
    opt.step()


def backward(run, model, opt, x):
    y = model(x).square().mean()
    run(y.backward)
    opt.step()


def update(run, model, opt, x):
    model(x).square().mean().backward()
    run(opt.step)


def part(run, model, opt, x):
    h = model[1](model[0](x))
    model[2](run(lambda: h * 3)).square().mean().backward()
    opt.step()


def written(run, model, opt, x):
    h = model[0](x).detach()
    run(lambda: h.mul_(3))
    model[2](h).square().mean().backward()
    opt.step()


def trained(name, step, run, kind, steps=1):
    model = net()
    opt = getattr(torch.optim, kind)(model.parameters(), lr=0.1)
    x = [torch.randn(8, 8) for _ in range(steps)]

    def train(k):
        opt.zero_grad()
        step(run, model, opt, x[k])
    made = record(name, model, train, steps, optimizer=opt)
    code, text, outside = made.analyzed()
    with open(name + '/analysis/summary.json') as f:
        made.said = json.load(f)
    made.end = [p.detach().clone() for p in model.parameters()]
    made.outside, made.text = outside, text
    return made


for step in (forward, backward, update, part, written):
    for kind in ('SGD', 'RMSprop'):
        name = '%s-%s' % (step.__name__, kind)
        runs = [trained('%s-%s' % (name, run.__name__), step, run, kind) for run in (here, in_thread, in_pool)]
        want, thread, other = runs
        ok(all(torch.equal(a, b) for r in runs for a, b in zip(r.end, want.end)), '%s: the training is the same' % name)
        same = [[(c['op'], c['phase']) for c in r.calls] for r in (want, thread)]
        ok(same[0] == same[1] and thread.said['verdict_word'] == want.said['verdict_word'] and not thread.outside,
           '%s: %d calls of a thread are recorded as if they ran in no other' % (name, len(same[0])), thread.text)
        # one call a parameter needs no operator to be seen
        whole = step is update and kind == 'SGD'
        ok((other.said['verdict_word'] == want.said['verdict_word']) if whole else
           other.said['verdict_word'] == 'unknown' and len(other.opaque()) > 0,
           '%s: in a thread that is older than the step: %s' % (name, other.said['verdict'][0]), str(other.opaque()))

run = trained('parallel', parallel, None, 'SGD', 3)
ok(run.said['verdict_word'] == 'harmless' and not run.opaque() and not run.outside,
   'two threads at once, three times: ' + run.said['verdict'][0], run.text)

# a graph that began before the step, and a thread that outlives it
model = net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
y = model(torch.randn(4, 8)).square().mean()
run = record('before', model, lambda k: (y.backward(), opt.step()), optimizer=opt)
run.analyzed()
with open('before/analysis/summary.json') as f:
    said = json.load(f)
ok(said['verdict_word'] == 'unknown', 'a forward pass before the step: ' + said['verdict'][0])

model, go, seen = net(), threading.Event(), []
opt = torch.optim.SGD(model.parameters(), lr=0.1)
recorder = halfulp_trace.record(model, 'outlives', optimizer=opt, strict=True)


def late():
    go.wait(60)
    seen.append(float(model(torch.ones(1, 8)).sum()))


with recorder:
    thread = threading.Thread(target=late)
    thread.start()
    forward(here, model, opt, torch.randn(4, 8))
calls = len(recorder.program.calls)
go.set()
thread.join()
ok(len(seen) == 1 and len(recorder.program.calls) == calls, 'a thread that outlives the step goes on, unrecorded')
after = []
thread = threading.Thread(target=lambda: after.append(torch.utils._python_dispatch._get_current_dispatch_mode()))
thread.start()
thread.join()
ok(after == [None], 'threads that start behind the step are as ever')
finish()
