# SPDX-License-Identifier: Apache-2.0
"""22 architectures that people train (architectures.py), one step of each in float32, under autocast to bf16 and to
fp16 with a GradScaler, and in bf16 alone, recorded and judged. Each has to have 99 % of its calls that are no moves
judged, and no output outside of its bound that float64 does not confirm to be outside (confirmed.py).

    x-architectures.py [--update] [ARCHITECTURE...] [MODE...]

--update writes the rows of what ran into the table of doc/torch.md."""
import collections
import json
import os
import resource
import shutil
import sys
import time

os.environ['HF_HUB_OFFLINE'] = '1'
os.environ['TRANSFORMERS_VERBOSITY'] = os.environ['DIFFUSERS_VERBOSITY'] = 'error'
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, halfulp, home, none, ok, skip, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
sys.path[:0] = [os.path.join(TOP, 'python'), os.path.dirname(os.path.abspath(__file__))]
import architectures  # noqa: E402
import confirmed  # noqa: E402
import halfulp_trace  # noqa: E402

MODES = {'float32': (torch.float32, None), 'autocast bf16': (torch.float32, torch.bfloat16),
         'autocast fp16': (torch.float32, torch.float16), 'bf16': (torch.bfloat16, None)}
# Architectures with an operator that is opaque on purpose: it shows none of its inner values, and errs by more than
# any bound of theirs would grant.
WHOLE = {'LSTM of oneDNN': 'aten.mkldnn_rnn_layer'}
MOVES = {'move', 'concat'}
BEGIN, END = '<!-- architectures: begin -->', '<!-- architectures: end -->'
torch.set_num_threads(1)


def step(name, mode, run):
    """One step, recorded where there is a run. Returns the processor time, and the recorder."""
    torch.manual_seed(1)
    model, loss = architectures.ALL[name]()
    storage, low = MODES[mode]
    model = model.to(storage)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler('cpu', enabled=low == torch.float16)
    recorder = halfulp_trace.record(model, run, optimizer=optimizer) if run else None
    begun = time.process_time()
    with recorder or open(os.devnull):
        optimizer.zero_grad()
        with torch.autocast('cpu', dtype=low or torch.bfloat16, enabled=low is not None):
            value = loss()
        scaler.scale(value).backward()
        scaler.step(optimizer)
        scaler.update()
        if recorder:
            recorder.loss(value)
    return time.process_time() - begun, recorder


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rows(path):
    lines = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def judged(name, mode):
    run = '%s-%s' % (name, mode.replace(' ', '-'))
    try:
        step(name, mode, None)
    except RuntimeError as why:
        return skip('%s, %s' % (name, mode), 'PyTorch itself says: ' + str(why).split('.')[0])
    plain, _ = step(name, mode, None)
    recorded, recorder = step(name, mode, run)
    calls = [c for c in json.load(open(run + '/program-train.json'))['calls'] if c['op'] not in MOVES]
    opaque = collections.Counter(c['opaque']['name'] for c in calls if c['op'] == 'opaque')
    before = children()
    p = halfulp('analyze', run, '--sample', '128')
    spent = children() - before
    if p.returncode not in (0, 1):
        ok(False, '%s, %s: analyze judges the step' % (name, mode), p.stdout + p.stderr)
        return None
    replay = rows(run + '/analysis/replay.tsv')
    word = json.load(open(run + '/analysis/summary.json'))['verdict_word']
    over = collections.Counter()
    for r in replay:
        over[r['op']] += int(r['over_bound'])
    share = 1 - sum(opaque.values()) / len(calls)
    said = ', '.join('%s (%d)' % x for x in opaque.most_common())
    if name in WHOLE:
        short = mode != 'float32' and torch.backends.cpu.get_cpu_capability() == 'AVX2'   # whose parts PyTorch shows
        ok((opaque or short) and all(k.startswith(WHOLE[name]) for k in opaque),
                '%s, %s: only %s is not judged' % (name, mode, WHOLE[name]), said)
    else:
        ok(share >= 0.99, '%s, %s: %.1f %% of %d calls are judged' % (name, mode, 100 * share, len(calls)), said)
    none(confirmed.unconfirmed(run, replay),
            '%s, %s: all of %d outputs outside their bound are confirmed by float64' % (name, mode, sum(over.values())))
    size = os.path.getsize(run + '/trace/step-000000.safetensors')
    shutil.rmtree(run)
    return (name, mode, str(len(calls)), '%.1f %%' % (100 * share), str(sum(over.values())), word,
            '%.1f s' % plain, '%.1f s' % recorded, '%.1f s' % spent, '%.0f MB' % (size / 1e6))


def main():
    update, only = '--update' in sys.argv, [x for x in sys.argv[1:] if x != '--update']
    names = [x for x in architectures.ALL if x in only] or list(architectures.ALL)
    modes = [x for x in MODES if x in only] or list(MODES)
    os.chdir(home())
    lines = []
    for name in names:
        for mode in modes:
            try:
                lines.append(judged(name, mode))
            except ImportError as why:
                skip('%s, %s' % (name, mode), str(why).splitlines()[0])
    head = ('architecture', 'mode', 'calls', 'judged', 'outside', 'verdict', 'step', 'recorded', 'analyze', 'trace')
    table = ''.join('| %s |\n' % ' | '.join(line) for line in [head, ('---',) * len(head)] + [x for x in lines if x])
    print(''.join('# %s\n' % line for line in table.splitlines()))
    if update:
        rewrite(head, [x for x in lines if x])
    finish()


def rewrite(head, lines):
    """The table of the guide with these lines in the place of those of the same architecture and mode."""
    path = os.path.join(TOP, 'doc', 'torch.md')
    before, rest = open(path).read().split(BEGIN)
    table, after = rest.split(END)
    held = [tuple(cell.strip() for cell in line.strip('| ').split(' | ')) for line in table.strip().splitlines()[2:]]
    every = {line[:2]: line for line in held + lines}
    order = [(name, mode) for name in architectures.ALL for mode in MODES]
    rows = [head, ('---',) * len(head)] + [every[k] for k in order if k in every]
    open(path, 'w').write(before + BEGIN + '\n' + ''.join('| %s |\n' % ' | '.join(r) for r in rows) + END + after)


main()
