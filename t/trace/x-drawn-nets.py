# SPDX-License-Identifier: Apache-2.0
"""No wrong all-clear: small nets of drawn layers, formats, optimizers, rates, scales of the data and clipping, each
with a twin in float64 that takes the same step from the same weights and optimizer state. Where the word is harmless,
the twin's update has a cosine of 0.999 or more to the real one, in every step. The argument is the number of nets
[200]."""
import copy
import json
import os
import random
import shutil
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

warnings.simplefilter('ignore')
torch.set_num_threads(1)
os.chdir(home())
nn, F = torch.nn, torch.nn.functional
SHORT = {'bf16': torch.bfloat16, 'fp16': torch.float16}
OPTIMIZERS = ['SGD', 'Adam', 'AdamW', 'RMSprop', 'Adagrad', 'NAdam', 'Adamax', 'ASGD', 'RAdam', 'Adadelta']


def drawn(rng):
    """A net of dense layers with the number of its inputs."""
    inputs = n = rng.choice([8, 16])
    layers = []
    for _ in range(rng.choice([1, 2, 3])):
        m = rng.choice([8, 16, 24])
        layers += [nn.Linear(n, m), rng.choice([nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU, nn.Sigmoid])()]
        n = m
        layers += [nn.LayerNorm(n)] if rng.random() < 0.3 else []
    return nn.Sequential(*layers, nn.Linear(n, 4)), inputs


def follow(twin, its, model, opt):
    """Gives the twin the weights and the optimizer's state."""
    twin.load_state_dict({k: v.double() for k, v in model.state_dict().items()})
    its.load_state_dict(copy.deepcopy(opt.state_dict()))
    for state in its.state.values():
        state.update({k: v.double() for k, v in state.items() if torch.is_tensor(v) and v.is_floating_point()})


def cosine(a, b):
    if not float(b.norm()):
        return 1.0 if not float(a.norm()) else 0.0
    return float(a @ b / (a.norm() * b.norm())) if float(a.norm()) else 0.0


def case(k):
    """The verdict on net k, the least cosine of its steps, and a description."""
    rng = random.Random(9000 + k)
    torch.manual_seed(k)
    model, inputs = drawn(rng)
    kind, name, rate = rng.choice(['bf16', 'fp16', 'auto bf16', 'auto fp16',
        'fp32']), rng.choice(OPTIMIZERS), 10 ** rng.uniform(-6, 0)
    whole, auto = SHORT.get(kind), SHORT.get(kind[5:]) if kind.startswith('auto') else None
    model = model.to(whole) if whole else model
    twin, make, clip = copy.deepcopy(model).double(), getattr(torch.optim, name), rng.random() < 0.3
    opt, its = make(model.parameters(), lr=rate), make(twin.parameters(), lr=rate)
    scale, least = 10 ** rng.uniform(-5, 1), 1.0
    shutil.rmtree('net', ignore_errors=True)
    record = halfulp_trace.record(model, 'net', optimizer=opt)
    for _ in range(rng.choice([1, 2])):
        x, y = torch.randn(8, inputs) * scale, torch.randint(0, 4, (8,))
        x = x.to(whole) if whole else x
        follow(twin, its, model, opt)
        old = [p.detach().clone().double() for p in model.parameters()]
        with record:
            opt.zero_grad()
            with torch.autocast('cpu', dtype=auto or torch.bfloat16, enabled=auto is not None):
                out = model(x)
            loss = F.cross_entropy(out.float(), y)
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            opt.step()
            record.loss(loss)
        its.zero_grad()
        F.cross_entropy(twin(x.double()), y).backward()
        if clip:
            nn.utils.clip_grad_norm_(twin.parameters(), 0.1)
        its.step()
        moved = [torch.cat([(p.double() - q).flatten() for p, q in zip(m.parameters(), old)]) for m in (model, twin)]
        least = min(least, cosine(*moved))
    ran = halfulp('analyze', '--threads', '1', '--sample', '64', 'net')
    what = '%s in %s at %.2g%s, data of %.2g' % (name, kind, rate, ', clipped' if clip else '', scale)
    if ran.returncode > 1:
        return None, least, what + ': ' + ran.stderr
    return json.load(open('net/analysis/summary.json')), least, what


words, wrong, failed = {}, [], []
nets = int(sys.argv[1]) if len(sys.argv) > 1 else 200
for k in range(nets):
    summary, least, what = case(k)
    if summary is None:
        failed.append(what)
        continue
    word = summary['verdict_word']
    words[word] = words.get(word, 0) + 1
    if word == 'harmless' and not least >= 0.999:
        wrong.append('net %d, %s: the twin has a cosine of %.6f: %s' % (k, what, least, summary['verdict'][0]))
ok(not failed, 'every net is recorded and analyzed', '\n'.join(failed))
ok(not wrong, 'no wrong all-clear of %d nets: %s' % (nets, words), '\n'.join(wrong))
ok(len(words) >= 3 and words.get('harmless', 0) > nets // 10, 'among them every word and many all-clears', words)
finish()
