# SPDX-License-Identifier: Apache-2.0
"""A recorded model's forward pass under policies (halfulp engines RUN --policy): attention runs in the format of
products under autocast's list, as PyTorch's own run of the same model has it, also where its operands are in float32;
a policy of its layer changes it; a layer in which a policy would change nothing is refused by name."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import record, torch  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
F = torch.nn.functional


class Core(torch.nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.core, self.norm = torch.nn.Linear(16, 48), Core(), torch.nn.LayerNorm(8)
        self.wide = False

    def forward(self, x):
        with torch.autocast('cpu', enabled=torch.is_autocast_enabled('cpu') and not self.wide):
            y = self.qkv(x)
        return self.norm(self.core(*y.reshape(2, 8, 3, 2, 8).permute(2, 0, 3, 1, 4)))


torch.manual_seed(0)
model, x = Heads(), torch.randn(2, 8, 16)
record('run', model, lambda _: model(x).square().mean().backward())


def rows(policy):
    """What engines says of the attention's results under a policy: the largest |d| of the log ratios; or why not."""
    p = halfulp('engines', 'run', '--output', 'core.y', '--policy', policy, '--json')
    return json.loads(p.stdout)['log_ratio_mean_abs'] if p.returncode == 0 else p.stderr


def torchs(wide):
    """The same by PyTorch: of the greedy classes of the attention's results, in float32 and under autocast."""
    kept, out = model.core.register_forward_hook(lambda m, x, y: out.append(y.detach().double())), []
    model(x)
    model.wide = wide
    with torch.autocast('cpu', torch.bfloat16):
        model(x)
    kept.remove()
    a, b = (F.log_softmax(y, -1).reshape(-1, 8) for y in out)
    best = a.argmax(1, keepdim=True)
    return float((b.gather(1, best) - a.gather(1, best)).abs().mean())


for policy, wide in (('autocast_bfloat16', False), ('autocast_bfloat16,layer:qkv=float32', True)):
    ours, theirs = rows(policy), torchs(wide)
    ok(theirs / 2 < ours < theirs * 2, '%s: the attention is as far from float32 as PyTorch has it' % policy,
       '%s, PyTorch %s' % (ours, theirs))
other = rows('autocast_bfloat16,layer:core=float32')
ok(other != rows('autocast_bfloat16'), 'a policy of the attention\'s layer changes it', other)
why = rows('autocast_bfloat16,layer:norm=float32')
ok("'norm' fits layers without products" in str(why), 'a layer that no policy changes is refused by name', why)
finish()
