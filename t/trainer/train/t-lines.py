# SPDX-License-Identifier: Apache-2.0
# What train says on standard error, and what it refuses, beside its tables, its program and its traced steps: skipped
# steps and a loss scale that grows, an epsilon that is 0, steps to trace and their cap, runs without a name, options
# that others leave without an effect.
import math
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import tap
from tap import ok
from small_runs import SMALL, home, manifest, run, table
from tensorsfile import Tensors

# --- steps to trace: each once and in order; the cap is kept to the byte
every = ('--data', 'train=16,size=8,eval=4', '--batch', '4', '--model', 'width=0.05', '--epochs', '2', '--quiet')
code, out, err = run('train', *every, '--trace', 'steps=last,3,first,3,0', 'traced')
m = manifest('traced') if code == 0 else {}
need = int(m.get('trace_bytes', 0)) * 3
there = sorted(os.listdir(home + '/traced/trace')) if m else []
ok(m.get('trace_steps') == [0, 3, 7] and there == ['step-%06d.safetensors' % s for s in (0, 3, 7)],
   'steps to trace are sorted, and each is traced once', [err, there])
code, out, err = run('train', *every, '--trace', 'steps=0,3,7', '--trace', 'cap=' + str(need), 'fits')
less, out, why = run('train', *every, '--trace', 'steps=0,3,7', '--trace', 'cap=' + str(need - 1), 'more')
ok((code, less) == (0, 2) and 'in 3 steps, --trace cap= is ' in why,
   '%d bytes are no more than may be traced, but than one less' % need, [code, err, less, why])
wrong = []
for steps in ('8', '0,8', '2x', 'x', '-1', 'lasts'):
    code, out, err = run('train', *every, '--trace', 'steps=' + steps, 'refused')
    say = "'%s' is no step of this run; steps are 0 to 7, first, last, or none" % steps.split(',')[-1]
    wrong += [] if code == 2 and say in err else [[steps, code, err]]
ok(not wrong and not os.path.exists(home + '/refused'), 'what is no step of the run is refused', wrong)


# --- skipped steps and a scale that grows: a line each, which says what metrics.tsv, the program and the trace do
def scaled(policy, where):
    """The lines that train wrote of its loss scale, and those that it had to write."""
    words = ('--data size=8,train=64,eval=8 --batch 8 --model width=0.1 --epochs 2 --policy %s --loss-scale dynamic'
             % policy)
    words += ' --loss-scale init=2^23,interval=3 --trace steps=' + ','.join(map(str, range(16)))
    code, out, err = run('train', *words.split(), where)
    rows, program = table(where + '/metrics.tsv'), json.load(open('%s/%s/program-train.json' % (home, where)))
    tensors, calls = {t['id']: t for t in program['tensors']}, program['calls']
    of_name = {t['name']: t for t in program['tensors']}
    check = next(c for c in calls if c['op'] == 'finite_check')
    searched, want = check['in'][check['attr'].get('judged', 0) % len(check['in']) :], []
    for r, after in zip(rows, [*(float(r['loss_scale']) for r in rows[1:]), None]):
        step = Tensors('%s/%s/trace/step-%06d.safetensors' % (home, where, int(r['step'])))
        scale, after = float(r['loss_scale']), after or step['scaler.scale_next'][0]
        if r['skipped'] == '0' and after == scale:
            continue
        line = 'step %s: loss scale %g%s' % (r['step'], scale, '' if after == scale else ' -> %g' % after)
        if r['skipped'] == '1':
            c, t = calls[int(r['overflow_call'])], of_name[r['overflow_tensor']]
            bad = sum(not all(map(math.isfinite, step[tensors[i]['name']])) for i in searched)
            of = (r['overflow_count'], math.prod(t['shape']), t['name'], t['format'])
            line += ': step skipped; first overflow: %s of %d elements of %s (%s)' % of
            line += ', written by call %d (%s, layer %s)' % (c['id'], c['op'], c['layer'])
            line += '; %d tensor%s not finite' % (bad, '' if bad == 1 else 's')
        else:
            line += ': enough finite steps in a row'
        want.append(line)
    return [x for x in err.splitlines() if x.startswith('step ')], want


got, want = zip(scaled('mixed_float16', 'scaled'), scaled('float16', 'scaled16'))
every = [line for lines in want for line in lines]
unseen = [x for x in ('; 1 tensor not', ' tensors not', 'in a row') if not any(x in line for line in every)]
ok(
    got == want and not unseen,
    'skipped steps and growth of the loss scale: %d lines' % len(every),
    [unseen, got, want],
)

# --- epsilon: a warning where the variables' format has 0 for it, which is at 2^-25 and below in fp16
wrong, tiny = [], ('--model', 'mlp', *SMALL, '--steps', '1')
for k, (policy, words, warned) in enumerate((
    ('float16', ('adamw', '--optimizer', 'eps=2.9802322387695312e-08'), True),
    ('float16', ('adamw', '--optimizer', 'eps=2.9802322387695316e-08'), False),
    ('float16', ('adam', '--optimizer', 'eps=0'), False),
    ('float16', ('sgd',), False),
    ('mixed_float16', ('adamw', '--optimizer', 'eps=1e-8'), False),
)):
    code, out, err = run('train', *tiny, '--policy', policy, '--optimizer', *words, 'eps%d' % k)
    says = 'warning: epsilon 2.98023e-08 is zero in float16: where v is zero too, the update divides by zero\n'
    wrong += [(policy, words, err)] if code or (says in err) != warned or ('epsilon' in err) != warned else []
ok(not wrong, 'train warns of an epsilon that its variables have as 0, and of no other', wrong)

# --- attention in blocks: a warning where it runs in a wider format than its layer's, which the run's program has too
GPT = ('--model', 'gpt:layers=2,hidden=8,heads=2,inner=8', '--data', 'sentences:length=8,train=16,eval=16',
       '--batch', '8', '--steps', '1')
wrong = []
for k, (blocks, policy, layer, told, runs) in enumerate((
    (',flash=4', 'mixed_e5m2', 'block1', 'e5m2', 'bfloat16'),
    (',flash=4', 'float32,layer:block2_attention=e4m3', 'block2', 'e4m3', 'bfloat16'),
    (',flash=4', 'tf32', 'block1', 'tf32', 'float32'),
    (',flash=4', 'float32,layer:block2_attention=e8m2', 'block2', None, 'e8m2'),
    (',flash=4', 'mixed_bfloat16', 'block1', None, 'bfloat16'),
    ('', 'mixed_e5m2', 'block1', None, None),
)):
    code, out, err = run('train', *GPT, '--model', 'gpt:' + blocks[1:] if blocks else 'gpt', '--policy', policy,
                         'wide%d' % k)
    says = 'warning: %s_attention computes attention in blocks in %s: %s is a format of products\' operands alone\n' % (
        layer, runs, told)
    calls = [c for c in json.load(open('%s/wide%d/program-train.json' % (home, k)))['calls'] if c['op'] == 'attention']
    form = {'bfloat16': 'bf16', 'float32': 'fp32'}.get(runs, runs)
    ran = [c['fmt']['in'] for c in calls if c['layer'] == layer + '_attention']
    if code or (says in err) != bool(told) or ('in blocks' in err) != bool(told) or ran != [form] * bool(blocks):
        wrong.append((blocks, policy, err, ran))
ok(not wrong, 'train warns of attention that runs in a wider format than its policy has, and of no other', wrong)

# --- a run without a name: the first that is free, in characters that have no meaning in a shell
short, own = ['--steps', '1', '--quiet', *SMALL], '--policy=mixed_float16,layer:dense1=float32'
names, wrong = [('mlp-float32-1', []), ('mlp-float32-2', []), ('mlp-mixed_float16_layer_dense1_float32-1', [own])], []
for name, words in names:
    code, out, err = run('train', *short, *words)
    there = os.path.exists(os.path.join(home, 'runs', name, 'manifest.json'))
    command = manifest('runs/' + name)['command'] if there else []
    given = ['--steps=1', '--quiet', *map('='.join, zip(SMALL[::2], SMALL[1::2])), *words]
    if code or command != ['halfulp', 'train', *given, 'runs/' + name]:
        wrong.append([name, code, err, command])
ok(not wrong and len(os.listdir(home + '/runs')) == 3, 'a run without a name takes the first that is free', wrong)
os.mkdir(home + '/closed')
open(home + '/closed/runs', 'w').close()
p = tap.halfulp('train', *short, cwd=home + '/closed')
ok(p.returncode in (3, 4) and p.stderr.count('\n') == 1 and 'runs' in p.stderr, 'where none can be made that is said',
   [p.returncode, p.stderr])
code, out, err = run('train', *short, '--meter', 'grid=250', '--meter', 'none', 'grid')
say = '--meter grid= has no effect where no energy is measured (--meter none: switched off)'
ok(code == 2 and say in err and not os.path.exists(home + '/grid'), 'no energy, no CO2', [code, err])

# --- options without an effect are refused by name, where other options leave them without one and nowhere else
# SIZES OTHERS: --OPTION VALUE is refused with WHY, and taken without OTHERS where there are some
unet = '--model unet:levels=1 --data scenes:size=8 --model width=0.1 --data train=4,eval=2 --batch 2 '
mlp = '--data size=8,train=8,eval=4 --batch 4 --model width=0.05 '
wrong = []
for k, (sizes, others, option, value, why) in enumerate((
    (unet, '--loss dice', 'loss label_smoothing=', '0.1', 'with --loss dice'),
    (mlp, '--loss nt-xent --augment noise', 'loss ignore_index=', '3', 'with --loss nt-xent'),
    (mlp, '', 'loss temperature=', '0.2', 'with --loss cross-entropy'),
    (mlp, '--optimizer weight_decay=0', 'optimizer no_decay=', '*.b', 'where no weight decays'),
    (mlp, '--trace steps=none', 'trace', '*.w', 'where no step is recorded'),
    (mlp, '--trace steps=none', 'trace cap=', '1e9', 'where no step is recorded'),
    (mlp, '--steps 1', 'epochs', '1', 'beside --steps'),
    (mlp + '--policy mixed_float16 ', '--loss-scale static:8', 'loss-scale init=', '4', 'beside --loss-scale static:S'),
)):
    words = ['--' + option, value] if ' ' not in option else ('--' + option + value).split()
    code, out, err = run('train', *(sizes + others).split(), *words, 'idle%d' % k)
    if code != 2 or '--%s has no effect %s' % (option, why) not in err or err.count('\n') != 1:
        wrong.append([others, option, code, err])
    if others:
        code, out, err = run('train', *sizes.split(), *words, '--quiet', 'used%d' % k)
        wrong += [[sizes, option, code, err]] if code else []
code, out, err = run('train', '--model', 'mlp', *mlp.split(), '--steps', '1', '--count', 'input.*', '--quiet',
                     'counted')
ok(code == 0, '--count finds the input, the first tensor of all', err)
ok(not wrong, 'options that others leave without an effect are refused, and taken without those', wrong)
tap.finish()
