#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# halfulp engines on two runs: the first node apart is found again from the programs and the recorded steps; its cause
# is what was changed in the training; and in how many elements a node with one aspect changed still differs is counted
# in runs that were trained with that change alone. Splits are
# those of lib/program/pass/tensor_parallel.c. The measures of probabilities are those of the files of logits.
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

where = home()
os.chdir(where)
GPT = '--model gpt:layers=1,hidden=16,heads=2 --data train=64,eval=8 --steps 1 --batch 8 --loss-scale none'
NET = '--model convnet:width=0.0625 --data size=8,train=64,eval=8 --steps 1'


def train(name, words, step='0'):
    p = halfulp('train', '--quiet', '--trace', 'steps=%s' % step, *words.split(), name)
    if p.returncode:
        ok(False, 'train ' + name, p.stderr)
        finish()
    return name


def engines(*words, code=0):
    p = halfulp('engines', *words)
    if p.returncode != code or (code and p.stderr.count('\n') != 1):
        ok(False, 'engines %s: exit %d, not %d' % (' '.join(words), p.returncode, code), p.stderr)
        finish()
    return json.loads(p.stdout) if '--json' in words else p.stdout or p.stderr


def step(run):
    return Tensors(run + '/trace/step-000000.safetensors')


def apart(a, b, name):
    """How many elements of the two runs' tensors of this name differ, among the rows that both have."""
    x, y = step(a)[name], step(b)[name]
    n = min(len(x), len(y))
    return sum(u.hex() != v.hex() for u, v in zip(x[:n], y[:n]))


def first(a, b):
    """The first tensor apart, in the order of A's forward calls without the loss: its name, or None."""
    p = json.load(open(a + '/program-train.json'))
    x, y = step(a), step(b)
    names = [t['name'] for t in p['tensors']]
    made = {i for c in p['calls'] for i in c['out']}
    for c in p['calls']:
        if c['phase'] != 'forward' or c.get('loss') or c['op'] == 'softmax_xent':
            continue
        for i in [i for i in c['in'] if i not in made] + c['out']:
            n = names[i]
            if n in x.head and n in y.head and x.shape(n)[1:] == y.shape(n)[1:] and apart(a, b, n):
                return n
    return None


base = train('base', GPT)
CHANGES = (  # what is added to the training, and the cause
    ('pairwise', '--accumulate pairwise', 'order'),
    ('chunked', '--accumulate chunk:4', 'order'),
    ('hopper', '--accumulate tc:hopper,in=tf32', 'order'),
    ('short', '--accumulate fma,acc=bf16', 'format'),
    ('toward', '--accumulate fma,mode=RZ', 'format'),
    ('bf16', '--policy autocast_bfloat16', 'format'),
    ('half', '--policy float16', 'format'),
    ('norms', '--reductions pairwise', 'order'),
    ('norms16', '--reductions sequential,acc=fp16', 'format and order'),
    ('half4', '--accumulate fma,acc=fp16', 'format'),
    ('both', '--accumulate chunk:4,acc=fp16', 'format and order'),
    ('seed', '--seed 2', 'input'),
)  # fmt: skip
wrong = []
for name, words, cause in CHANGES:
    got = engines(base, train(name, GPT + ' ' + words), '--json')
    found, want = got['first_apart'], first(base, name)
    if not found or found['tensor'] != want or found['cause'] != cause:
        wrong.append('%s: %s by %s, not %s by %s' % (name, found and found['tensor'], found and found['cause'], want,
                                                     cause))  # fmt: skip
    elif found['differ'] != apart(base, name, want) or found['elements'] != len(step(name)[want]):
        wrong.append('%s: %d of %d elements differ' % (name, found['differ'], found['elements']))
    elif cause not in ('input',) and found['replays'][-1]['differ'] != 0:
        wrong.append('%s: all that differs leaves %s' % (name, found['replays']))
none(wrong, 'the first node apart and its cause, of %d changes of a training' % len(CHANGES))

found = engines(base, 'both', '--json')['first_apart']
left = {r['changed']: r['differ'] for r in found['replays']}
want = {'format': apart('half4', 'both', found['tensor']), 'order': apart('chunked', 'both', found['tensor']),
        'format and order': 0}  # fmt: skip
ok(left == want and min(want['format'], want['order']) > 0,
   'a node with one aspect changed has the bits of a training with that change: %s elements are left' % left,
   '%s' % want)  # fmt: skip
found = engines(base, 'bf16', '--json')['first_apart']
ok(found['a']['operators'] == ['matmul'] and found['b']['operators'] == ['cast', 'cast', 'matmul'] and
   (found['a']['format'], found['b']['format']) == ('fp32', 'bf16') and found['b']['sum'] == 'fma,acc=fp32',
   'what both engines compute there', json.dumps(found))  # fmt: skip

# Attention in blocks is one operator in place of six
flash = train('flash', GPT.replace('heads=2', 'heads=2,flash=4'))
found = engines(base, flash, '--json')['first_apart']
ok(found['cause'] == 'fusion' and found['tensor'] == first(base, flash) and 'softmax' in found['a']['operators'] and
   found['b']['operators'] == ['attention'], 'attention in blocks is apart by fusion', json.dumps(found))  # fmt: skip
wide = train('wide', GPT.replace('heads=2', 'heads=2,flash=16'))
found = engines(flash, wide, '--json')['first_apart']
ok(found['cause'] == 'order', 'blocks of 16 keys in place of 4 are another order', json.dumps(found))

# The size of the batch: nothing in a model whose rows are computed alone, all in one that normalises over the batch
small = train('small', GPT.replace('--batch 8', '--batch 4'))
got = engines(base, small, '--json')
ok(got['first_apart'] is None and got['identical'] == got['tokens'] == 96 and got['tensors_compared'] > 20 and
   first(base, small) is None, 'a gpt has the same bits in a batch of half the size')  # fmt: skip
nets = [train('net%d' % n, '%s --batch %d' % (NET, n)) for n in (4, 8)]
found = engines(*nets, '--json')['first_apart']
ok(found['cause'] == 'batch' and found['tensor'] == first(*nets) and found['a']['operators'] == ['batchnorm'],
   'batch normalisation is where a batch of another size is apart', json.dumps(found))  # fmt: skip

# Weights that differ; tensors that were not recorded
train('other', GPT + ' --seed 3 --checkpoint-every 1')
weights = train('moved', GPT + ' --init other/checkpoint/step-000001.safetensors')
found = engines(base, weights, '--json')['first_apart']
ok(found['cause'] == 'weight' and found['tensor'] == first(base, weights), 'weights that differ', json.dumps(found))
FEW = GPT + ' --trace block1_query.xw,logits.y '
few = [train('few', FEW), train('fewer', FEW + '--accumulate pairwise')]
found = engines(*few, '--json')['first_apart']
ok(found['cause'] == 'unknown' and found['tensor'] == 'block1_query.xw' and not found['replays'] and
   'was not recorded' in found['because'], 'no cause is told of a node whose operands were not recorded')  # fmt: skip

# The measures are those of the files
files = [r + '/trace/step-000000.safetensors' for r in (base, 'bf16')]
runs, plain = engines(base, 'bf16', '--json'), engines(*files, '--output', 'logits.y', '--json')
OTHER = {'a', 'b', 'sequences', 'positions', 'by_sequence', 'greedy_first', 'log_ratio_max_at', 'step', 'first_apart',
         'tensors_compared', 'tensors_unmatched'}  # fmt: skip


def close(x, y):
    return x == y or (isinstance(x, float) and isinstance(y, float) and abs(x - y) <= 1e-12 * abs(y))


wrong = [k for k in plain if k not in OTHER and not close(runs[k], plain[k])]
none(wrong, 'log-ratios, k1 to k3 and KL of runs are those of their files of logits')
ok((runs['sequences'], runs['positions'], plain['sequences']) == (8, 24, 1), 'a sample of the batch is a sequence')
ok(plain['first_apart'] is None and plain['step'] is None and runs['step'] == 0, 'of files no node is told')
text = engines(base, 'both')
ok('The first node apart is block1_query.xw, call ' in text and
   'A computes     matmul to fp32, its sums fma,acc=fp32\n' in text and
   'B computes     matmul to fp32, its sums chunk:4,acc=fp16\n' in text and
   'cause          format and order: B\'s together make A\'s node B\'s, and no single one does' in text,
   'the text names the node and its cause', text)  # fmt: skip

# One run and what is changed: the other engine is the run that was trained so
wrong = []
for name, words in (
    ('pairwise', '--sum pairwise'),
    ('bf16', '--policy autocast_bfloat16'),
    ('half', '--policy float16'),
    ('norms16', '--reductions sequential,acc=fp16'),
    ('both', '--sum chunk:4,acc=fp16'),
):
    got, want = engines(base, *words.split(), '--json'), engines(base, name, '--json')
    wrong += ['%s: %s is %s, not %s' % (words, k, got[k], want[k]) for k in want if k != 'b' and got[k] != want[k]]
got = engines(base, '--policy', 'float16', '--policy', 'autocast_bfloat16', '--json')
want = engines('half', 'bf16', '--json')
wrong += ['both policies: %s' % k for k in want if k not in 'ab' and got[k] != want[k]]
none(wrong, 'a run under another policy or with other sums is the engine that was trained so')
ok(engines(base, '--policy', 'nvfp4', '--json')['first_apart']['cause'] == 'format', 'operands in blocks are formats')

# A row-parallel layer: each rank's product and their sum by single operators, on slices that are cut here
LAYER, X, W = 'block1_output', 'block1_attention.y', 'block1_output.w'
got = engines('bf16', '--split', '2,layers=*_output', '--json')['first_apart']
t = step('bf16')
(rows, k), n = t.shape(X), t.shape(W)[1]
x, w = t[X], t[W]
for r in range(2):
    half = range(r * k // 2, (r + 1) * k // 2)
    open('x.npy', 'wb').write(npy((rows, k // 2), [x[i * k + j] for i in range(rows) for j in half]))
    open('w.npy', 'wb').write(npy((k // 2, n), [w[j * n + i] for j in half for i in range(n)]))
    p = halfulp('op', 'matmul', '--in', 'a=x.npy', '--in', 'b=w.npy', '--set', 'in=bf16', '--set', 'out=bf16', '--sum',
                'fma,acc=fp32', '--out', 'y%d.npy' % r)  # fmt: skip
    if p.returncode:
        ok(False, 'op matmul', p.stderr)
        finish()
one, two = (struct.unpack('<%df' % (rows * n), open('y%d.npy' % r, 'rb').read()[-4 * rows * n :]) for r in range(2))


def bf16(v):
    """The nearest bfloat16 of a number that float32 holds; ties to even."""
    u = struct.unpack('<I', struct.pack('<f', v))[0]
    return struct.unpack('<f', struct.pack('<I', (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000))[0]


# The sum of two bfloat16 numbers is rounded to float32 and then to bfloat16, which is one rounding where they are near
split = [bf16(struct.unpack('<f', struct.pack('<f', a + b))[0]) for a, b in zip(one, two)]
far = sum(a != b for a, b in zip(split, t[LAYER + '.xw']))
ok(got['tensor'] == LAYER + '.xw' and got['cause'] == 'split' and got['differ'] == far > 0,
   'a layer divided between two ranks: %d of %d elements differ from the whole product' % (far, rows * n),
   json.dumps(got))  # fmt: skip
ok(got['b']['sum'] == 'ring:2,acc=fp32,wire=bf16' and got['b']['operators'].count('matmul') == 2, 'its ranks and sums')

train('late', GPT.replace('--steps 1', '--steps 2'), '1')
for words, why in (
    ((base, 'late'), 'no step was traced in both'),
    ((base, 'bf16', '--step', '3'), 'step 3 was not traced'),
    ((base, files[1]), 'is a folder and'),
    ((base, 'bf16', '--output', 'no.y'), 'has no tensor no.y'),
):
    text = engines(*words, code=2 if why.startswith('is a') else 3)
    ok(why in text, '%s is refused' % ' '.join(words), text)
for words, why in (
    ((base,), 'one run is named: say by --policy'),
    ((base, '--split', '7'), 'cannot be dealt equally to 7 ranks'),
    ((base, '--split', '2,layers=x*'), "no layer that multiplies a matrix by a weight fits 'x*'"),
    ((base, '--split', 'ring:2,feedback,wire=bf16'), 'a number of ranks, or ring:N'),
    ((base, '--policy', 'fp8:delayed'), 'train a run under it'),
    ((base, '--policy', 'none-such'), 'none-such'),
    ((base, '--reductions', 'tc:hopper'), 'tensor cores add products'),
    ((base, 'bf16', '--sum', 'fma'), '--sum has no effect between two engines'),
):
    text = engines(*words, code=2)
    ok(why in text, '%s is refused' % ' '.join(words), text)
text = engines('bf16', '--policy', 'float32', code=3)
ok('a policy changes programs in float32' in text, 'no policy is put on another', text)
ok('--step has no effect on files of logits' in engines(*files, '--output', 'logits.y', '--step', '0', code=2),
   '--step is refused of files')  # fmt: skip
finish()
