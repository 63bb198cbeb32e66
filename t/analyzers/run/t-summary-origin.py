# SPDX-License-Identifier: Apache-2.0
# Sentences of the verdict that t-summary-words.py does not compose: where numbers that are not finite came from, by
# every cause; moments that were stored before the step was computed from them; what a recorder did not keep; gradients
# of which none could become zero; why there is no verdict; an update that is too long; outputs that overflowed. The
# tables that they are about are written here, and so is what has to be said.
import copy
import json
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.files import table  # noqa: E402
from sealed import seal, unsealed  # noqa: E402
from tap import bail_out, finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
TRAIN = '--model mlp:width=0.03125 --data size=8,train=24,eval=8 --batch 8 --steps 3 --quiet'.split()
NAMES = 'nonfinite', 'state', 'underflow', 'unjudged', 'weights', 'coverage', 'swamping', 'replay'


def train(name, *options):
    r = halfulp('train', *TRAIN, *options, '--trace', 'steps=0,2', name)
    r = r if r.returncode else halfulp('analyze', name)
    if r.returncode > 1:
        bail_out(r.stderr)
    return {n: table('%s/analysis/%s.tsv' % (name, n)) for n in NAMES}


def told(name, tables, **changed):
    """The verdict's sentences where some tables have these rows."""
    for n in NAMES:
        path = '%s/analysis/%s.tsv' % (name, n)
        columns, rows = tables[n]
        notes = ''.join(line for line in open(path) if line.startswith('#'))
        lines = ['\t'.join(columns)] + ['\t'.join(r[c] for c in columns) for r in changed.get(n, rows)]
        open(path, 'w').write(seal(unsealed(notes + '\n'.join(lines) + '\n')))
    r = halfulp('analyze', '--only', 'summary', name)
    if r.returncode > 1:
        bail_out(r.stderr)
    summary = json.load(open('%s/analysis/summary.json' % name))
    return summary['verdict'], summary['verdict_word']


# --- where infinities and NaN came from
WHY = {'overflow': 'the exact value overflows the format', 'overflow_inside':
       'a number on the way to the result overflowed', 'division_by_zero': 'it divides by zero', 'zero_constant':
       'it divides by a constant that is 0 in the format', 'out_of_range': 'a logarithm or root is out of its range',
       'inf_minus_inf': 'it takes infinity from infinity, or times 0', 'unknown_operator': 'its operator is not known',
       'input': 'no call of the step made it', 'of another version': 'its cause is not known'}
broken = train('broken', '--policy', 'float32', '--optimizer', 'eps=1e-50')
columns, rows = broken['nonfinite']
wrong, said = [], set()
for k, (cause, why) in enumerate(sorted(WHY.items())):
    for value, word in (('inf', 'infinity'), ('-inf', 'minus infinity'), ('nan', 'NaN')):
        row = dict(rows[0], made='nan' if value == 'nan' else 'infinity', call=str(7 + k), op='div',
                   layer='dense%d' % k, tensor='dense%d.y' % k, element=str(k * k), value=value, cause=cause,
                   operands='a=%d b=0' % k,
                   constant='1e-08' if cause == 'zero_constant' else '-', format='fp16')
        want = '%s (call %d, layer dense%d) made %s in dense%d.y[%d] of a=%d b=0, since %s' % (
            'div', 7 + k, k, word, k, k * k, k, why)
        want += ' (1e-08 becomes 0 in fp16)' if cause == 'zero_constant' else ''
        start = ' The first traced number that is not finite: at step %s ' % row['step']
        sentences, _ = told('broken', broken, nonfinite=[row])
        if start + want + '.' not in sentences[0]:
            wrong.append('%r in %r' % (start + want + '.', sentences[0]))
        said.add(sentences[0])
        if value == 'inf':                       # what became of the infinity is told behind it
            then = dict(row, made='nan', value='nan', op='sub', cause='inf_minus_inf', constant='-')
            both = start + want + '; then ' + want.replace('div (', 'sub (').split(', since')[0].replace(
                'infinity', 'NaN') + ', since %s.' % WHY['inf_minus_inf']
            sentences, _ = told('broken', broken, nonfinite=[row, then])
            if both not in sentences[0]:
                wrong.append('%r in %r' % (both, sentences[0]))
none(wrong, 'every cause is told with its step, operator, layer, tensor, element and operands')
ok(len(said) == 3 * len(WHY), 'each in words of its own', len(said))
row = dict(rows[0], call='-', op='-', value='-inf', tensor='input.x', element='3', cause='input', constant='-')
sentences, _ = told('broken', broken, nonfinite=[row])
ok(' The first traced number that is not finite: at step %s minus infinity came into the step in input.x[3].'
   % row['step'] in sentences[0], 'what no call made came into the step', sentences[0])
sentences, _ = told('broken', broken, nonfinite=[])
ok('is not finite: at step' not in sentences[0] and 'The first overflow stands in metrics.tsv where a scaler saw it, '
   'else trace earlier steps.' in sentences[0], 'and without a row nothing is told of it', sentences[0])

# --- the analyzer's own line of a weight that was infinite before the step
path = 'broken/trace/step-000000.safetensors'
with open(path, 'r+b') as f:
    size = struct.unpack('<Q', f.read(8))[0]
    head = json.loads(f.read(size))
    name = next(n for n in sorted(head) if n.endswith('.w') and head[n]['dtype'] == 'F32')
    f.seek(8 + size + head[name]['data_offsets'][0] + 4 * 3)
    f.write(struct.pack('<f', -math.inf))
manifest = json.load(open('broken/manifest.json'))
del manifest['files'][path.partition('/')[2]]
json.dump(manifest, open('broken/manifest.json', 'w'))
r = halfulp('analyze', '--only', 'nonfinite', 'broken')
want = 'step 0: what came in %s: -inf in %s[3], since no call of the step made it' % (name.split('.')[0], name)
ok(want in r.stdout, 'what came into the step is told by its place', r.stdout + r.stderr)
ok(halfulp('analyze', 'broken').returncode < 2, 'and the run is judged', '')

# --- moments in the format that the step is computed in
for name, eps, more in (('moments', '1e-7', ''), ('no-eps', '1e-50', ', which is 0 in their format')):
    plain = broken if eps == '1e-50' else train(name, '--policy', 'float32', '--optimizer', 'eps=' + eps)
    name = 'broken' if eps == '1e-50' else name
    state = copy.deepcopy(plain['state'][1])
    for r in state:
        if r['kind'] == 'moment' and r['tensor'] == 'all':
            r.update(cosine='0.7125', l2_share_lost='0.375', verdict='fatal')
    state = [dict(r, verdict='-') if r['kind'] != 'moment' else r for r in state]
    underflow = copy.deepcopy(plain['underflow'][1])
    one = dict(next(r for r in underflow if r['tensor'] != 'all'), tensor='dense1.w_v_next', became_zero='3',
               nonzeros='8', sampled='8', elements='8')
    one['class'] = 'other'
    one['from'] = 'fp32'
    one = {k: one[k] for k in plain['underflow'][0]}
    sentences, word = told(name, plain, state=state, underflow=underflow + [one])
    step = next(r['step'] for r in state if r['kind'] == 'moment' and r['tensor'] == 'all')
    if eps != '1e-50':
        want = ('Fatal: at step %s the second moments that were stored gave a step at a cosine of 0.7125 to the one '
                'that the exact moments give (37.5 %% of its L2 norm is where a moment became zero, and epsilon alone '
                'divides).' % step)
        ok(sentences[0].startswith(want) and word == 'fatal', 'moments that were stored before their step',
           sentences[0])
    want = (" Of Adam's second moments 37.5 % became zero, so those weights' steps were divided by epsilon alone"
            + more + '.')
    ok(sentences[1].endswith(want), 'and those of them that became zero' + more, sentences[1])

# --- what was not kept, and gradients of which none could become zero
low = train('low', '--policy', 'bfloat16')
FINE = {'verdict': 'harmless', 'cosine': '1', 'l2_share_lost': '0'}
harmless = {n: [dict(r, **(FINE if 'verdict' in r and r['verdict'] != '-' else {})) for r in low[n][1]]
            for n in ('state', 'underflow', 'weights', 'swamping')}
harmless['weights'] = [dict(r, nonfinite='0', kept_unjudged='0', length='1' if r['length'] != '-' else '-')
                       for r in harmless['weights']]
whole = [dict(r, l2_share_judged='1', updates_judged=r['weights'], update_elements_judged=r['elements'],
              silent_elements='0', judged=r['calls']) for r in low['coverage'][1]]
cells = '0', 'what was not kept', '23', '0', '0', 'only some layers were kept'
dropped = dict(zip(('step', 'operator', 'calls', 'tainting', 'weights', 'reason'), cells))
sentences, word = told('low', low, **harmless, coverage=whole, unjudged=[])
ok(word == 'harmless', 'a run that is harmless', sentences[0])
sentences, word = told('low', low, **harmless, coverage=whole, unjudged=[dropped])
ok(word == 'unknown' and sentences[0].startswith('No verdict: 23 calls of the traced steps were not kept in the trace, '
   'and an all-clear needs all; what was judged is harmless: in the 2 traced steps '), 'calls that were not kept',
   sentences[0])
nothing = dict(harmless, **{n: [r for r in harmless[n] if r['tensor'] != 'all'] for n in ('underflow', 'swamping')},
               weights=[], state=[])
sentences, word = told('low', low, **nothing, coverage=whole, unjudged=[dropped])
ok(word == 'unknown' and sentences[0].startswith('No verdict: 23 calls of the traced steps were not kept in the trace, '
   'and no update of a weight was judged.'), 'and no update was judged', sentences[0])
nothing.update(weights=[dict(r, cosine='0.9985' if r['cosine'] != '-' else '-') for r in harmless['weights']])
sentences, word = told('low', low, **nothing, coverage=whole, unjudged=[])
ok(word == 'unknown' and sentences[0].startswith("No verdict: the weights' updates that were judged kept a cosine of "
   "0.9985 or better to those of the exact step, but what the weights' gradients should have been was not computed, "
   'and an all-clear needs it. '), 'updates of weights that have no gradient', sentences[0])
zeros = [dict(r, nonzeros='0', became_zero='0') for r in harmless['underflow']]
sentences, word = told('low', low, **dict(harmless, underflow=zeros), coverage=whole, unjudged=[])
ok(sentences[1].startswith('By count, no nonzero gradient values were there to become zero and '),
   'gradients that are all 0', sentences[1])

# --- why there is no verdict
skipped = [dict(r, skipped='1') for r in whole]
nothing.update(weights=[])
sentences, word = told('low', low, **nothing, coverage=skipped, unjudged=[])
ok(word == 'unknown' and sentences[0].startswith('No verdict: the loss scaler skipped all 2 traced steps, because a '
   'gradient was not finite; a loss scale from 2^'), 'every step was skipped', sentences[0])
sentences, word = told('low', low, **nothing, coverage=whole, unjudged=[])
ok(word == 'unknown' and sentences[0].startswith('No verdict: no traced step moved the weights, or what their '
   'gradients should have been was not computed.'), 'nothing was judged', sentences[0])
unmoved = [dict(whole[0], elements='0', weights='0', updates_judged='0', update_elements_judged='0')] + whole[1:]
sentences, word = told('low', low, **harmless, coverage=unmoved, unjudged=[])
ok(word == 'unknown' and sentences[0].startswith('No verdict: in 1 of 2 traced steps no update of a weight was '
   'recorded, and an all-clear needs all; what was judged is harmless: in the 2 traced steps '), 'a step has no update',
   sentences[0])
silent = [dict(whole[0], silent_elements='7')] + whole[1:]
sentences, word = told('low', low, **harmless, coverage=silent, unjudged=[])
ok(word == 'unknown' and sentences[0].startswith('No verdict: 7 elements of weights have gradients that are all 0, and '
   'what these should have been is not known; what was judged is harmless: in the 2 traced steps '),
   'gradients that are silent', sentences[0])

# --- an update that is too long, and outputs that overflowed
longer = [dict(r, verdict='costs', length='1.5') if (r['tensor'], r['role']) == ('all', 'parameter') else r
          for r in harmless['weights']]
sentences, word = told('low', low, **dict(harmless, weights=longer), coverage=whole, unjudged=[])
ok(word == 'costs' and sentences[0].startswith('It costs: at step 0 the weights did not take the update of the exact '
   'step (worst cosine 1.0000; 0.0 % of its L2 norm was lost; the update is 1.5 times as long).'),
   'the length of an update', sentences[0])
outputs = [dict(r, over_bound='0', ulp_max='inf' if k == 1 else '0.25', bound_ratio_max='0.5', condition_max='1')
           for k, r in enumerate(low['replay'][1])]
sentences, word = told('low', low, **harmless, coverage=whole, unjudged=[], replay=outputs)
ok(sentences[2].startswith('Outputs of 1 tensor of the traced steps overflowed, of %s first, so that their error is '
   'infinite. Of the other tensors the largest rounding error of a single call is 0.5 of its proven bound, 0.25 ulp, '
   'in %s, and every judged output is within its a-priori bound, which is infinite where it does not exclude overflow'
   % (outputs[1]['tensor'], outputs[0]['tensor'])), 'outputs that overflowed, within a bound that is infinite',
   sentences[2])

# --- calls that round stochastically: means of 1 and of 16 draws in two steps
COLUMNS = ('step tensor layer kind draws elements l2_error bits l2_noise l2_bias cosine gain l2_share_zero '
           'l2_share_lost verdict').split()
FIGURES = {('0', 'gradient', 1): ('0.9125', '0.41', '0.03'), ('0', 'gradient', 16): ('0.9985', '0.4', '0.0325'),
           ('2', 'gradient', 1): ('0.875', '0.5', '0.01'), ('2', 'gradient', 16): ('0.99625', '0.4875', '0.02'),
           ('0', 'update', 1): ('0.8375', '0.6', '0.02'), ('0', 'update', 16): ('0.99125', '0.6', '0.02')}
notes = ''.join(line for line in open('low/analysis/state.tsv') if line.startswith('#')).replace('table: state',
                                                                                              'table: stochastic')
for lost in ('-', '0'):
    lines = ['\t'.join(COLUMNS)]
    for (step, kind, draws), (cosine, noise, bias) in FIGURES.items():
        if kind == 'gradient' or lost != '-':
            cells = dict(dict.fromkeys(COLUMNS, '0'), step=step, tensor='all', layer='-', kind=kind, draws=str(draws),
                         elements='9', l2_noise=noise, l2_bias=bias, cosine=cosine, verdict='harmless',
                         l2_share_lost=lost if kind == 'update' else '-')
            lines.append('\t'.join(cells[c] for c in COLUMNS))
    open('low/analysis/stochastic.tsv', 'w').write(seal(unsealed(notes + '\n'.join(lines) + '\n')))
    sentences, word = told('low', low, **harmless, coverage=whole, unjudged=[])
    want = (' Calls round stochastically, and the verdict follows what 16 draws of a step are on average: the gradient '
            'of one draw has a cosine of 0.8750 and the expected one 0.9962; the noise of a draw is 0.487 of its L2 '
            'norm and averages out over steps, the bias is 0.0325 and stays')
    if lost != '-':
        want += ('; weights are rounded so too, and the update of one draw has a cosine of 0.8375, the expected one '
                 '0.9912')
    ok(want + '.' in sentences[0], 'draws of gradients%s' % ('' if lost == '-' else ' and of updates'), sentences[0])
finish()
