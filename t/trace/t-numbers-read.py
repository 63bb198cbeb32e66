# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python reads of tensors and that a training uses again: a clipping by hand whose norms overflow in fp16
makes a factor of 0, which takes no step in the exact one either. Such a step gets no all-clear, and its sentence names
the overflow; the same in float32 is judged as ever."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Run, halfulp_trace, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402
from tutorials import data, entropy, net  # noqa: E402

os.chdir(home())
REASON = 'its number may come of one that Python read and that is not finite'


def clipped(dtype, scale, run):
    """Each gradient is clipped by itself. Returns the verdict's word, its sentence, and the recording."""
    torch.manual_seed(1)
    model = net(16, 32, 4).to(dtype)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    recorder = halfulp_trace.record(model, run, strict=True)
    for k in range(2):
        with recorder:
            opt.zero_grad()
            x, y = data(k, dtype)
            (entropy(model(x), y) * scale).backward()
            for p in model.parameters():
                norm = float((p.grad * p.grad).sum().sqrt())
                p.grad.mul_(min(1.0, 0.25 * scale / (norm + 1e-6)) / scale)
            opt.step()
    run = Run(run, recorder)
    run.analyzed()
    with open(run.path + '/analysis/summary.json') as f:
        summary = json.load(f)
    return summary['verdict_word'], summary['verdict'][0], run


word, said, run = clipped(torch.float16, 1024.0, 'short')
still = [n for n in run.tensors if n == '2.weight' and torch.equal(run.values(0)[n], run.values(0)[run.next(0, n)])]
ok(still, 'a weight with a gradient stands still, because its norm was infinite', said)
ok(word == 'costs' and 'they depend on aten.mul_ (' in said, 'which gets no all-clear', said)
ok('The first traced number that is not finite: at step 0 reduce_sum (' in said and 'since the exact value overflows '
   'the format' in said, 'and the sentence names the overflow', said)
ok({c['opaque']['reason'] for c in run.calls if c['op'] == 'opaque'} == {REASON}, 'with its reason', run.opaque())
word, said, run = clipped(torch.float32, 1024.0, 'wide')
ok(word == 'harmless' and not run.opaque() and 'not finite' not in said, 'finite numbers are taken as read', said)
finish()
