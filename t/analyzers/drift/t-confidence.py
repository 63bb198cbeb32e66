#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Rules on shares with a confidence: which are kept, the share that is told, and how many inputs are needed, held
# against binomial sums in exact fractions. A model of one Relu flips in bfloat16 on as many inputs as a case asks for.
# HALFULP names the program.
import html, json, math, os, re, sys
from fractions import Fraction as F

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
node_ = node('Relu', 'x', 'y', name='relu')
write('m.onnx', graph([node_], [], [value('x', ['n', 2])], [value('y', ['n', 2])], 'g'), opset=19)
TIE = [1, 1 + 2**-10]  # bfloat16 rounds both to 1, and the first of them wins


def tail(k, n, p):
    """P(X <= k) of n independent inputs, exactly."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def data(name, k, n):
    npz(name, x=([n, 2], sum((TIE if i < k else [0, 1] for i in range(n)), [])), y=([n], [1] * n, '<i8'))


def run(*words):
    got = tap.halfulp(*words)
    if got.returncode not in (0, 1) or got.stderr:
        tap.bail_out('%s: %s' % (' '.join(words), got.stderr))
    return got


CASES = [(0, 150), (0, 298), (0, 299), (0, 300), (1, 472), (1, 473), (1, 474), (3, 700), (3, 800), (7, 300), (2, 20)]
RULES = ['flips<=1% at 95%', 'flips<=1%', 'flips<=2% at 99%', 'top<=5% at 90%', 'flips<=0.75%', 'accuracy>=99% at 95%',
         'accuracy>=0.98', 'flips<=3']
asked = ('validate', 'm.onnx', '--policy', 'bf16', '--top-k', '1', '--exact', '0', '--labels')
kept = broken = undecided = 0
for k, n in CASES:
    data('x.npz', k, n)
    words = [*asked, 'x.npz:y', '--data', 'x.npz', *sum((['--accept', r] for r in RULES), [])]
    got = run(*words, '--json')
    row = json.loads(got.stdout)['policies'][1]
    wrong = [] if row['flips'] == k else ['%d flips' % row['flips']]
    fails = [f['rule'] for f in row['fails']]
    for rule, told in zip(RULES, row['rules']):
        figure, limit, c = re.fullmatch(r'(\w+)[<>]=([\d.]+%?)(?: at (\d+)%)?', rule).groups()
        share = not rule.endswith('<=3')
        allowed = F(limit.rstrip('%')) / (100 if '%' in limit else 1)
        allowed = 1 - allowed if figure == 'accuracy' else allowed
        alpha = 1 - F(c or 95) / 100
        here = F(k, n) <= allowed if share else k <= 3
        keeps = here and (c is None or tail(k, n, allowed) <= alpha)
        if told['rule'] != rule or told['keeps'] != keeps or (rule in fails) == keeps:
            wrong.append('%s: kept is %s' % (rule, told['keeps']))
        if told['confidence'] != (c and int(c) / 100):
            wrong.append('%s: confidence %s' % (rule, told['confidence']))
        if not share:
            wrong += (
                [told]
                if any(told[x] is not None for x in ('count', 'of', 'share_most', 'inputs_needed', 'shown'))
                else []
            )
            continue
        most, need = F(told['share_most']), told['inputs_needed']
        near = F(1, 10**9)
        if [told['count'], told['of']] != [k, n] or not tail(k, n, most * (1 + near)) < alpha < tail(
            k, n, most * (1 - near)
        ):
            wrong.append('%s: at most %s' % (rule, told['share_most']))
        if not tail(k, need, allowed) <= alpha < tail(k, need - 1, allowed):
            wrong.append('%s: %d inputs are needed' % (rule, need))
        sign = ('%d of %d: at least %.3g %%' % (n - k, n, 100 * (1 - most)) if figure == 'accuracy'
                else '%d of %d: at most %.3g %%' % (k, n, 100 * most)) + ' at %s %%' % (c or 95)
        what = {'flips': ('a flip', 'flips'), 'top': ('a class that left the first ones', 'of them'),
                'accuracy': ('a wrong answer', 'wrong answers')}[figure]
        if here and tail(k, n, allowed) > alpha:
            sign += ('; %d inputs with no more than %d %s are needed' % (need, k, what[1]) if k
                     else '; %d inputs without %s are needed' % (need, what[0]))
            undecided += 1
        wrong += [] if told['shown'] == sign else ['%s, not %s' % (told['shown'], sign)]
        kept, broken = kept + keeps, broken + (not keeps)
        text = run(*words).stdout
        percent = '%' in limit
        line = 'bf16 fails %s: it is %.4g%s (%s).' % (
            rule, told['is'] * (100 if figure == 'accuracy' and percent else 1), ' %' if percent else '', sign)
        wrong += [] if keeps or line in text.split('\n') else ['no line: ' + line]
    tap.none(wrong, '%d of %d inputs flip: %d rules, as binomial sums in fractions have them' % (k, n, len(RULES)))
tap.ok(
    kept > 20 and broken > 20 and undecided > 10,
    '%d kept, %d broken, %d that more inputs would decide' % (kept, broken, undecided),
)

# The words of the last line, of TAP and of the page
data('x.npz', 0, 150)
data('y.npz', 0, 299)
data('z.npz', 0, 1200)
few = '0 of 150: at most %.3g %% at 95 %%; 299 inputs without a flip are needed' % (100 * (1 - 0.05 ** (1 / 150)))
enough = '0 of 299: at most %.3g %% at 95 %%' % (100 * (1 - 0.05 ** (1 / 299)))
last = lambda *more: run('validate', 'm.onnx', '--policy', 'bf16', '--exact', '0', *more).stdout.split('\n')[-2]
for name, rules, want in [
    ('x.npz', ['flips<=1%'], 'bf16 keeps flips<=1%% (%s) on these inputs.' % few),
    ('y.npz', ['flips<=1%'], 'bf16 keeps flips<=1%% (%s) on these inputs.' % enough),
    ('x.npz', ['flips<=1% at 95%'], 'No policy keeps flips<=1% at 95%.'),
    ('y.npz', ['flips<=1% at 95%'], 'bf16 keeps flips<=1%% at 95%% (%s).' % enough),
    (
        'y.npz',
        ['flips<=1%at  95%', 'flips<=0'],
        'bf16 keeps flips<=1%%at  95%% (%s) and flips<=0 (0) on these inputs.' % enough,
    ),
]:
    said = last('--data', name, *sum((['--accept', r] for r in rules), []))
    tap.ok(said == want, want, said)
said = run('validate', 'm.onnx', '--policy', 'bf16', '--exact', '0', '--data', 'x.npz', '--accept',
           'flips<=1% at 95%', '--tap')
tap.ok(
    said.returncode == 1
    and said.stdout
    == '1..2\n'
    + ''.join(
        'not ok %d - %s: flips<=1%% at 95%%, it is 0 %%; %s\n' % (i, p, few) for i, p in ((1, 'float32'), (2, 'bf16'))
    ),
    'TAP: too few inputs prove nothing, of float32 either',
    said.stdout,
)
for name, rule, want in [
    ('y.npz', 'flips<=1% at 95%', 'is kept (%s)' % enough),
    ('x.npz', 'flips<=1%', 'is kept on these inputs (%s)' % few),
]:
    run('validate', 'm.onnx', '--policy', 'bf16', '--exact', '0', '--data', name, '--accept', rule, '--report', 'page')
    run('report', 'page')
    page = html.unescape(re.sub('<[^>]*>', '', open('page/report/index.html').read()))
    tap.ok('%s %s.' % (rule, want) in page, 'the page: %s %s' % (rule, want))

# advise: the confidence is asked of the half that is held apart
write(
    'p.onnx',
    graph(
        [node('MatMul', 'x w', 'y', name='p')], [floats('w', [2, 2], [1, 0, 0, 1])], [value('x', ['n', 2])],
        [value('y', ['n', 2])], 'g'
    ),
    opset=19,
)
for name, n, found in [('y.npz', 299, False), ('z.npz', 1200, True)]:
    got = tap.halfulp('advise', 'p.onnx', '--data', name, '--accept', 'flips<=1% at 95%', '--format', 'bf16', '--json')
    o = json.loads(got.stdout)
    rule = (o['held_apart'] or {'rules': [{}]})['rules'][0]
    good = (
        o['found'] == found
        and got.returncode == (not found)
        and (
            not found
            or rule['of'] == n // 2
            and rule['keeps']
            and abs(rule['share_most'] - 1 + 0.05 ** (2 / n)) < 1e-9
        )
    )
    tap.ok(good and o['held_apart_runs'] >= 1, 'advise on %d inputs: found is %s, after %d runs on those held apart'
           % (n, found, o['held_apart_runs']), got.stdout)
text = run('advise', 'p.onnx', '--data', 'y.npz', '--accept', 'flips<=1% at 95%', '--format', 'bf16').stdout
tap.ok(text.endswith('flips<=1% at 95% takes 299 inputs held apart, even without an exception, and there are 149.\n'),
       'advise says how many inputs are needed', text)
text = run('advise', 'p.onnx', '--data', 'z.npz', '--accept', 'flips<=1% at 95%', '--accept', 'flips<=0.1%',
           '--format', 'bf16').stdout
most = 100 * (1 - 0.05 ** (1 / 600))
tap.ok(
    'The inputs held apart keep flips<=1%% at 95%% (0 of 600: at most %.3g %% at 95 %%).\n' % most in text
    and 'The inputs held apart keep flips<=0.1%%, which is told of these inputs (0 of 600: at most %.3g %% at 95 %%; '
        '2995 inputs without a flip are needed).\n'
    % most
    in text
    and tail(0, 2995, F(1, 1000)) <= F(5, 100) < tail(0, 2994, F(1, 1000)),
    'the text of advise has the limit and the inputs needed',
    text,
)
looks = re.search(r'(\d+) assignments were run on them, .* together it is at least (.*) %\.', text)
tap.ok(looks and float(looks[2]) == 100 - 5 * int(looks[1]),
       'and the confidence of all choices that were run on them together', text)

for rule, why in [
    ('flips<=1% at 95', 'a confidence is a percentage'),
    ('flips<=1% at 100%', 'a confidence is a percentage'),
    ('flips<=1% at x%', 'a confidence is a percentage'),
    ('flips<=1% at nan%', 'a confidence is a percentage'),
    ('flips<=3 at 95%', 'only a share has a confidence'),
    ('sqnr>=30 at 95%', 'only a share has a confidence'),
    ('flips<=0% at 95%', 'no number of inputs shows'),
    ('accuracy>=100% at 95%', 'no number of inputs shows'),
]:
    got = tap.halfulp(*asked, 'x.npz:y', '--data', 'x.npz', '--accept', rule)
    tap.ok(got.returncode == 2 and why in got.stderr and got.stderr.count('\n') == 1, rule + ' is refused', got.stderr)
tap.finish()
