# SPDX-License-Identifier: Apache-2.0
"""Weights whose exact update is not known, because an opaque operator lies before it: where half of those with a
gradient kept their bits, the word is fatal if theirs are half of the gradients' norm; many small ones cost."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import record, torch  # noqa: E402
from tap import finish, home, ok  # noqa: E402

os.chdir(home())
MANY, FEW = 48, 16


def word(run, weights, slopes):
    """The word of a step of descent in bf16 whose gradients are `slopes` times lgamma(3)."""
    model = torch.nn.ParameterDict({'w': torch.cat([torch.full((n,), w) for n, w in zip((MANY, FEW), weights)])})
    model, start = model.to(torch.bfloat16), model['w'].detach().clone()
    slope = torch.cat([torch.full((n,), g) for n, g in zip((MANY, FEW), slopes)])
    opt = torch.optim.SGD(model.parameters(), 1.0)

    def train(k):
        opt.zero_grad()
        ((model['w'].float() * slope).sum() * torch.lgamma(torch.tensor(3.0))).backward()
        opt.step()
    run = record(run, model, train)
    run.analyzed()
    with open(run.path + '/analysis/summary.json') as f:
        said = json.load(f)
    kept = int((model['w'].detach() == start).sum())
    return said['verdict_word'], kept, said['verdict'][0], run.opaque()


for name, weights, slopes, want in (('small', (1.0, 1.0), (1e-4, 0.5), 'costs'), ('alike', (64.0, 1.0), (0.05, 0.05),
                                    'fatal'), ('moved', (1.0, 1.0), (0.5, 0.5), 'unknown')):
    got, kept, said, opaque = word(name, weights, slopes)
    ok(got == want and kept == (0 if want == 'unknown' else MANY) and list(opaque) == ['aten.lgamma'],
       '%s: %d of %d weights kept their bits, and the word is %s' % (name, kept, MANY + FEW, want), (got, said, opaque))
finish()
