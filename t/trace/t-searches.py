# SPDX-License-Identifier: Apache-2.0
"""Trainings whose program goes on by what it read of tensors (recipes_search.py), beside the same in float64: where
exact values could steer it otherwise there is no all-clear, and so where autocast reads casts from before an update.
What a program reads to log it, to check it or to clip by it changes no word."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recorded  # noqa: E402, F401
import torch  # noqa: E402
import twins  # noqa: E402
from recipes_search import SEARCHES  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402
from tutorials import data, entropy, net  # noqa: E402

os.chdir(home())
twins.MODES['fp32'] = torch.float32, None
HELD = {'wolfe': ('bf16', 'fp32'), 'without_search': ('autocast',), 'backtracking': ('bf16', 'autocast'),
        'backtracking_aside': ('bf16',), 'trust_region': ('bf16',), 'until_low': ('autocast',),
        'keeping_best': ('fp16', 'autocast'), 'resilient': ('bf16',), 'by_arrays': ('bf16', 'fp32'),
        'by_arrays_of_floats': ('autocast',), 'fixed_point': ('autocast',), 'until_all_stand': ('bf16', 'fp16'),
        'without_modules': ('bf16', 'fp32'), 'by_slopes': ('bf16', 'autocast', 'fp32'),
        'best_by_data': ('bf16', 'autocast'), 'best_of_new': ('bf16', 'fp32'), 'steps_by_data': ('autocast',)}


def read(how):
    """A training that reads numbers for other ends than to go on by them."""
    def of(dtype):
        model = net(16, 32, 4).to(dtype)
        opt = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.amp.GradScaler('cpu', init_scale=256.0, enabled=how == 'scaled' and dtype == torch.float32)

        def step(k):
            opt.zero_grad()
            x, y = data(k, dtype)
            out = model(x)
            loss = entropy(out, y)
            scaler.scale(loss).backward()
            if how == 'logged':
                assert '%.3f' % loss.item() and float((out.argmax(1) == y).float().mean()) >= 0
                assert torch.isfinite(loss) and loss < 1e3 and out.detach().float().numpy().size and str(loss)
            if how == 'clipped':
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1e3, error_if_nonfinite=True)
            scaler.step(opt)
            scaler.update()
            if how == 'looked at':
                assert entropy(model(x), y).item() > 0 and model[0].weight.norm().item() > 0
            if how == 'twice':                       # a second update, whose gradient's norm is logged, too
                opt.zero_grad()
                entropy(model(-x), y).backward()
                assert torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]).item() > 0
                opt.step()
        return model, step
    return of


clear, words, every = [], {}, {}
for name, modes in HELD.items():
    for mode in modes:
        word, ((first, _), (cosine, length)), told, _, broken = twins.judged(SEARCHES[name], mode)
        what = '%s, %s: %s; float64 has a cosine of %.5f and %.3f times the length' % (name, mode, word, cosine, length)
        print('# ' + what)
        words[word] = words.get(word, 0) + 1
        every[name, mode] = word
        if word == 'harmless' and not (cosine >= 0.999 and 1 / 1.1 <= length <= 1.1):
            clear.append(what)
ok({every[k, 'bf16'] for k in ('without_modules', 'by_slopes', 'best_by_data', 'best_of_new')} == {'unknown'},
   'also where no module computes a loss, or gradients steer alone', every)
none(clear, 'no all-clear is wrong where a program goes on by what it read')
ok(words.get('harmless') and words.get('unknown', 0) > 4, 'and there are some, beside no verdicts', words)
for mode in twins.MODES:
    hows = 'not', 'logged', 'clipped', 'scaled', 'looked at', 'twice'    # under autocast the second reads old casts
    words = [twins.judged(read(how), mode)[0] for how in hows if how != 'twice' or mode != 'autocast']
    ok(set(words) == {'costs' if mode == 'bf16' else 'harmless'},
       '%s: what is read to be logged or checked changes no word' % mode, words)
finish()
