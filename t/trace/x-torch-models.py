# SPDX-License-Identifier: Apache-2.0
"""Models of others, traced and judged: torchvision's resnet18, mobilenet_v2 and squeezenet1_1 with SGD in bf16 and
fp32, and Hugging Face's BERT with AdamW, with attention written out and fused. None of their outputs is outside its bound."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path.insert(0, os.path.join(TOP, 'python'))
import halfulp_trace  # noqa: E402

os.environ['HF_HUB_OFFLINE'] = '1'
os.chdir(home())
only = sys.argv[1:]                             # names of runs; without any all of them


def judge(run, model, optimizer, loss, low, most_opaque):
    if only and run not in only:
        return
    recorder = halfulp_trace.record(model, run, optimizer=optimizer)
    with recorder:
        optimizer.zero_grad()
        with torch.autocast('cpu', dtype=torch.bfloat16, enabled=low):
            value = loss()
        value.backward()
        optimizer.step()
        recorder.loss(value)
    print('# ' + recorder.summary())
    opaque = {k for k in recorder.opaque if not k.startswith('running')}
    ok(opaque <= most_opaque, '%s: nothing is opaque but %s' % (run, ', '.join(sorted(most_opaque)) or 'nothing'),
            sorted(opaque))
    p = halfulp('analyze', run, '--only', 'replay', '--no-propagate', '--sample', '512')
    ok(p.returncode == 0 and '; 0 outside' in p.stdout,
            '%s: %s' % (run, ' '.join(p.stdout.split()[1:3]) + ' judged, none outside its bound'), p.stdout + p.stderr)
    with open(run + '/trace/step-000000.safetensors', 'wb'):
        pass                                     # hundreds of megabytes


try:
    from torchvision import models
    for name in ('resnet18', 'mobilenet_v2', 'squeezenet1_1'):
        for low in (False, True):
            torch.manual_seed(1)
            model = getattr(models, name)(num_classes=7)
            x, y = torch.randn(2, 3, 32, 32), torch.randint(0, 7, (2,))
            judge('%s-%s' % (name, 'bf16' if low else 'fp32'), model, torch.optim.SGD(model.parameters(), 0.05, 0.9),
                  lambda: torch.nn.functional.cross_entropy(model(x), y), low, {'aten._adaptive_avg_pool2d',
                          'aten._adaptive_avg_pool2d_backward'})
except (ImportError, RuntimeError) as why:
    skip('torchvision\'s classifiers', str(why).splitlines()[0])
try:
    from transformers import BertConfig, BertForSequenceClassification
    for attention, opaque in (('eager', set()), ('sdpa', {'aten._safe_softmax'})):
        for low in (False, True):
            torch.manual_seed(1)
            config = BertConfig(vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128,
                                max_position_embeddings=32, num_labels=3, attn_implementation=attention)
            model = BertForSequenceClassification(config)
            x, y, mask = torch.randint(1, 100, (4, 12)), torch.randint(0, 3, (4,)), torch.ones(4, 12, dtype=torch.long)
            mask[1, 8:] = 0
            judge('bert-%s-%s' % (attention, 'bf16' if low else 'fp32'), model,
                    torch.optim.AdamW(model.parameters(), 1e-3),
                  lambda: model(input_ids=x, attention_mask=mask, labels=y).loss, low, opaque)
except ImportError as why:
    skip('BERT', str(why).splitlines()[0])
finish()
