# SPDX-License-Identifier: Apache-2.0
# plan --ranks: what a rank holds and sends in ZeRO's stages, computed again from the parameters' number and the formats
# of the policy; what is printed are the numbers of JSON; refusals. Published sizes are u-ranks' part.
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import tap  # noqa: E402

KEYS = ('weights', 'masters', 'gradients', 'optimizer_state', 'rest', 'all', 'sent')
UNITS = {'B': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9}
# bytes a parameter: read by products, master, handed to the update; numbers that Adam keeps for each
POLICIES = {'float32': (4, 0, 4), 'mixed_float16': (2, 4, 4), 'mixed_bfloat16': (2, 4, 4)}
MODEL = ('--model', 'mlp:width=0.05', '--data', 'size=8')


def plan(*words):
    p = tap.halfulp('plan', *words)
    if p.returncode:
        tap.bail_out(p.stderr)
    return p.stdout


def again(plan, n, stage, wire, kept=8):
    """The row of a stage, with ceil(P / n) numbers a part, where the optimizer keeps so many bytes for a parameter.
    Of an mlp all other states are single numbers."""
    of, memory = plan['parameters'], plan['memory_bytes']
    weight, master, gradient = POLICIES[plan['policy']]
    part = -(-of // n)
    cut = lambda bytes, since: bytes * (part if stage >= since else of)  # noqa: E731
    row = dict(
        weights=cut(weight, 3), masters=cut(master, 1), gradients=cut(gradient, 2),
        optimizer_state=cut(kept, 1) + memory['optimizer_state'] - kept * of,
        rest=memory['activations'] + memory['gradients'] - gradient * of
    )
    row['all'] = sum(row.values())
    reduced = wire or gradient
    row['sent'] = ((n - 1) * part * {0: 2 * reduced, 1: reduced + weight, 2: reduced + weight, 3: reduced + 2
                                     * weight}[stage])
    return row


PARTS = ('--batch', '64', '--batch', 'micro=4')
asked = [w for p in POLICIES for w in ('--policy', p)]
wrong, shown = [], []
for n, more, wire, gb_s in (
    (1, (), None, None),
    (7, ('--ranks', 'network=eth10'), None, 1.25),
    (64, ('--ranks', 'wire=fp16', '--ranks', 'network=0.001'), 2, 0.001),
    (2000, ('--ranks', 'wire=e5m2'), 1, None),
    (4, (*PARTS, '--all-reduce', 'ring:4,wire=e5m2'), 1, None),
    (4, (*PARTS, '--all-reduce', 'hier:4:2,wire=bf16', '--ranks', 'wire=fp64'), 8, None),
    (3, (*PARTS, '--all-reduce', 'nccl:2'), None, None),
):
    words = (*MODEL, *asked, '--ranks', str(n), '--device', 'v100', *more)
    text = plan(*words)
    for p in json.loads(plan(*words, '--json')):
        compute = p['timing']['rows'][-1]['predicted_ms']
        at = text.index('\n%s on %d rank%s, a batch each' % (p['policy'], n, 's' if n > 1 else ''))
        lines = text[at:].strip('\n').split('\n')[2:]
        for stage, row in enumerate(p['ranks']['stages']):
            want = again(p, n, stage, wire)
            ms = None if gb_s is None else want['sent'] / gb_s / 1e6
            want['ms_sending'], want['efficiency'] = ms, None if ms is None else compute / max(compute, ms)
            for k, v in want.items():
                if (row[k] is None) != (v is None) or v is not None and not math.isclose(row[k], v, rel_tol=1e-12):
                    wrong.append(
                        '%s over %d, stage %d: %s is %s there, %s here' % (p['policy'], n, stage, k, row[k], v)
                    )
            words_of = re.findall(r'[\d.]+ [kMG]?B|<= \S+|\S+', lines[stage])
            sizes = [float(w.split()[0]) * UNITS[w.split()[1]] for w in words_of[1:8]]
            end = ['-' if ms is None else '%.4g' % ms, '-' if ms is None else '<= %.3g' % want['efficiency']]
            if (
                words_of[0] != str(stage)
                or words_of[8:] != end
                or any(abs(s - want[k]) > 0.0501 * max(s, 1) for s, k in zip(sizes, KEYS))
            ):
                shown.append([lines[stage], want])
        if p['ranks']['stages'][0]['all'] != sum(p['memory_bytes'].values()):
            wrong.append('%s: stage 0 is not all of memory_bytes' % p['policy'])
tap.none(wrong, 'memory, traffic and times of every stage follow from parameters and formats')
tap.none(shown, 'the printed tables have the numbers of JSON')
for more, kept in (
    (['--optimizer', 'lamb'], 8),
    (['--optimizer', 'adam:ema=0.9'], 12),
    (['--optimizer', 'nesterov'], 4),
    (['--optimizer', 'sgd:momentum=0,ema=0.9'], 4),
    (['--optimizer', 'sgd:momentum=0'], 0),
):
    wrong = []
    for p in json.loads(plan(*MODEL, *asked, *more, '--ranks', '7', '--json')):
        for stage, row in enumerate(p['ranks']['stages']):
            want = again(p, 7, stage, None, kept)
            wrong += [[p['policy'], stage, k, row[k], v] for k, v in want.items() if not math.isclose(row[k], v)]
    tap.none(wrong, '%s: %d bytes for each parameter are cut from stage 1 on' % (' '.join(more), kept))
conv = json.loads(plan('--model', 'resnet', '--model', 'depth=10', '--model', 'width=0.05', '--data', 'scenes',
                       '--data', 'size=16', '--policy', 'mixed_float16', '--ranks', '100000', '--json'))[0]
whole, cut = (conv['ranks']['stages'][i]['weights'] for i in (0, 3))
tap.ok(whole == conv['memory_bytes']['weights'] and 2 < cut < whole,
       'batchnorm\'s statistics stay whole: %g of %g bytes' % (cut, whole))
for words, why in (
    ('--ranks 0', 'ranks'),
    ('--ranks 4:network=ib', 'one of nvlink2'),
    ('--ranks 4:network=-3', 'GB/s is needed'),
    ('--ranks 4:wire=fp17', 'fp17'),
):
    p = tap.halfulp('plan', *words.split())
    tap.ok(p.returncode == 2 and why in p.stderr and p.stderr.count('\n') == 1 and not p.stdout, 'refused: ' + words,
           p.stderr)

# --- networks: what one rank can send at most follows from what their source says of them
names = tap.halfulp('plan', '--ranks', '2', '--ranks', 'network=none').stderr.split('one of ')[1].strip().split(', ')
wrong = []
for name in names:
    net = json.loads(plan(*MODEL, '--ranks', '2', '--ranks', 'network=' + name, '--json'))[0]['ranks']
    both = re.search(r': ([\d.]+) GB/s in both directions together$', net['source'])
    lanes = re.search(r': (\d+) lanes of ([\d.]+) GT/s, 128b/130b$', net['source'])
    bits = re.search(r'([\d.]+) Gbit/s$', net['source'])
    gb_s = float(both[1]) / 2 if both else float(bits[1]) / 8 if bits else None
    gb_s = float(lanes[1]) * float(lanes[2]) * 128 / 130 / 8 if lanes else gb_s
    if gb_s is None or not abs(net['gb_s'] - gb_s) <= 0.0005:
        wrong.append([name, net['gb_s'], gb_s, net['source']])
cases = ['2', '--ranks', 'network=eth10'], ['1', '--ranks', 'network=eth10'], ['2']
said = [plan(*MODEL, '--ranks', *words) for words in cases]
tap.ok(['as if the two overlapped wholly' in ' '.join(x.split()) for x in said] == [True, False, False],
       'what least times and efficiency leave out is said where there are any')
known = len(names) > 9 and {'nvlink4', 'pcie5', 'ib_ndr', 'eth100'} <= set(names)
tap.none(wrong if known else names, '%d networks send what their sources say' % len(names))

# --- what ranks took: a run's manifest and table as training writes them, with numbers of ours
home = tap.home()
of = json.loads(plan(*MODEL, '--policy', 'mixed_float16', '--json'))[0]['parameters']
run = os.path.join(home, 'run')
os.mkdir(run)


HEAD = 'rank host micro_batches rows steps ms ms_messages bytes_sent bytes_received memory'
ROWS = ('0 a 2 4 9 12.5 1.5 3000 2000 1e6', '1 b 2 4 9 14.25 0.5 4000 2000 2e6')


def made(parameters=of, table=HEAD, policy='mixed_float16', rows=ROWS):
    with open(run + '/manifest.json', 'w') as f:
        json.dump({'policy': {'name': policy}, 'parameters': parameters}, f)
    with open(run + '/ranks.tsv', 'w') as f:
        f.writelines('\t'.join(r.split()) + '\n' for r in (table, *rows))


made()
words = (*MODEL, '--policy', 'float32', '--policy', 'mixed_float16', '--ranks', '2', '--ranks', 'measured=' + run)
got = [p['ranks'].get('measured') for p in json.loads(plan(*words, '--json'))]
want = {'run': run, 'ranks': 2, 'ms': 14.25, 'ms_messages': 1.0, 'sent': 4000, 'memory': 2e6}
tap.ok(got == [None, want], "what a run's ranks took stands beside the plan of its policy", got)
text = plan(*words)
line = 'measured, 2 ranks of %s: 14.25 ms a step of the slowest, 1 ms of them in messages on average; 4' % run
tap.ok(text.count('measured, ') == 1 and line in text, 'and is printed', text[-600:])
made(rows=('0 a 2 4 9 14.25 0.5 4000 2000 2e6', '1 b 2 4 9 12.5 1.5 3000 2000 1e6'))
got = [p['ranks'].get('measured') for p in json.loads(plan(*words, '--json'))]
tap.ok(got == [None, want], 'whichever rank took most', got)
for code, why, kind, more in (
    (2, 'it was trained under mixed_float16', {}, ['--policy', 'float32']),
    (3, 'has 7 parameters, and this one has %d' % of, {'parameters': 7}, ['--policy', 'mixed_float16']),
    (3, 'it does not say policy and parameters', {'parameters': 0}, ['--policy', 'mixed_float16']),
    (3, 'it does not say policy and parameters', {'policy': None}, ['--policy', 'mixed_float16']),
    (3, 'it does not say policy and parameters', {'policy': 'x' * 4096}, ['--policy', 'mixed_float16']),
    (3, 'it has no rows', {'rows': ()}, ['--policy', 'mixed_float16']),
    (3, 'row 1 has no memory', {'rows': ('0 a 2 4 9 12.5 1.5 3000 2000 -',)}, ['--policy', 'mixed_float16']),
    (3, 'row 2 has no ms_messages', {'rows': (ROWS[0], '0 a 2 4 9 1 -1 3 2 1')}, ['--policy', 'mixed_float16']),
    (3, 'no column ms', {'table': 'rank host micro_batches rows steps m n s r y'}, ['--policy', 'mixed_float16']),
):
    made(**kind)
    p = tap.halfulp('plan', *MODEL, *more, '--ranks', '2', '--ranks', 'measured=' + run)
    tap.ok(p.returncode == code and why in p.stderr and p.stderr.count('\n') == 1 and not p.stdout, 'refused: ' + why,
           p.stderr)
made()
os.remove(run + '/ranks.tsv')
p = tap.halfulp('plan', *MODEL, '--policy', 'mixed_float16', '--ranks', '2', '--ranks', 'measured=' + run)
tap.ok(p.returncode == 3 and 'one process made this run' in p.stderr, 'refused: a run of one process', p.stderr)
tap.finish()
