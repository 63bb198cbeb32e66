#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Which rules a policy breaks, each figure that a rule can ask for taken from --json; the two ratios that text alone
# has; values that are not finite; names of policies and of files; and an array that the data lack. What stands around
# these numbers is t/golden/outputs/validate.txt's.
import json
import math
import os
import random
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import floats, graph, node, value, write

os.chdir(tap.home())
random.seed(11)
N, I, H, C = 36, 10, 12, 5
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
x = draw(N * I, 1)
npz('x.npz', x=([N, I], x), y=([N], [random.randrange(C) for _ in range(N)], '<i8'))


def mlp(name, scale):
    weights = [floats('w1', [I, H], draw(I * H, 0.4)), floats('w2', [H, C], draw(H * C, scale))]
    nodes = [node('MatMul', 'x w1', 'h', name='first'), node('Relu', 'h', 'r', name='relu'),
             node('MatMul', 'r w2', 'y', name='second')]
    write(name, graph(nodes, weights, [value('x', ['n', I])], [value('y', ['n', C])]))


def run(code, *words):
    r = tap.halfulp('validate', *words)
    if r.returncode != code:
        tap.bail_out('%s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr))
    return r.stdout


def policies(*words):
    """The rows of --json, float32's first."""
    return json.loads(run(0, *words, '--exact', '0', '--json'))['policies']


# Ratios that --json leaves to its readers
mlp('m.onnx', 0.3)
line = ('m.onnx', '--data', 'x.npz', '--policy', 'float16,int8', '--sensitivity', '--exact', '0', '--accept',
        'rel_l2<=1', '--accept', 'nonfinite<=0')
text, rows = run(0, *line), json.loads(run(0, *line, '--json'))['policies']
least = min(rows[1:], key=lambda r: r['weight_bytes'])
ratio = '%.1f' % (rows[0]['weight_bytes'] / least['weight_bytes'])
tap.ok(re.findall(r'^(\w+) keeps .*, (\S+) times smaller\.$', text, re.M) == [(least['policy'], ratio)]
       and ratio > '1.5', 'the decision names the policy of fewest bytes, %s times smaller' % ratio, text)
times = ['%.3g' % (s['joint_rel_l2'] / s['additive_rel_l2']) for s in (r['sensitivity'] for r in rows[1:])]
tap.ok(re.findall(r'(\S+) times as much\.$', text, re.M) == times, 'errors of nodes add up to %s' % times, text)

# Where the first value that is not finite comes from, by the network and not by what the batches before it had
mlp('large.onnx', 1e5)
rows = policies('large.onnx', '--data', 'x.npz', '--policy', 'float16,bfloat16')
tap.ok([bool(r['nonfinite']) for r in rows] == [False, True, False] and rows[1]['first_nonfinite'] == 'second',
       'float16 overflows from the second layer on', rows)
npz('late.npz', x=([N, I], x[:-1] + [1e6]))
late = policies('m.onnx', '--data', 'late.npz', '--policy', 'float16', '--batch', '5')[1]
tap.ok(late['nonfinite'] > 0 and late['first_nonfinite'] == 'first', 'of the last batch from the first layer on', late)

# NaN for NaN and equal infinities are no error, NaN for a number is one: both distances from the outputs themselves
nodes = [node('MatMul', 'x w', 'h'), node('Sqrt', 'h', 's'), node('Mul', 'h large', 'f'), node('Exp', 'f', 'e'),
         node('Concat', 's e', 'y', axis=1)]
write('roots.onnx', graph(nodes, [floats('w', [I, 3], draw(I * 3, 0.4)), floats('large', [1], [70])],
                          [value('x', ['n', I])], [value('y', ['n', 6])]))
for policy in 'bfloat16', 'fp16':
    one = policies('roots.onnx', '--data', 'x.npz', '--policy', policy, '--outputs', policy)[1]
    now, was = outputs('%s/%s.npz' % (policy, policy))['y'][1], outputs(policy + '/float32.npz')['y'][1]
    off = [0 if a == b or a != a and b != b else abs(a - b) if math.isfinite(a - b) else math.inf
           for a, b in zip(now, was)]
    size = math.sqrt(math.fsum(b * b for b in was if math.isfinite(b)))
    same = lambda a, b: math.isclose(float(a), b, rel_tol=1e-9)
    tap.ok(any(b != b for b in was) and math.inf in was and same(one['max_error'], max(off))
           and same(one['rel_l2'], math.hypot(*off) / size),
           '%s: NaN for NaN is no error: %s, %s' % (policy, one['max_error'], one['rel_l2']),
           (max(off), math.hypot(*off) / size))

# Every figure that a rule can ask for, by its value in the row and by the limit as it is written
rules = ['sqnr>=30', 'flips<=1%', 'accuracy>=15%', 'accuracy>=99%', 'accuracy>=0.9', 'accuracy<=0.18', 'kl<=1e-3',
         'rel_l2<=0.05', 'max_error<=0.02', 'nonfinite<=0', 'flips<=0', 'sqnr_db>=20.5', 'rel_l2>=1e-4']
asked = ('m.onnx', '--data', 'x.npz', '--labels', 'x.npz:y', '--policy', 'fp16,mxfp4', '--exact', '0',
         *(word for rule in rules for word in ('--accept', rule)))
told = json.loads(run(1, *asked, '--json', '--report', 'page'))
want, wrong = [], []
for r in told['policies']:
    fails = {f['rule']: f['is'] for f in r['fails']}
    for rule in rules:
        figure, least, limit = re.fullmatch(r'(\w+)([<>])=(.*)', rule).groups()
        of = r.get({'sqnr': 'sqnr_db'}.get(figure, figure))
        of = 100 * of / N if rule == 'flips<=1%' else math.inf if of is None else float(of)
        limit = float(limit.rstrip('%')) / (100 if rule.startswith('accuracy') and rule[-1] == '%' else 1)
        bad = of < limit if least == '>' else of > limit
        wrong += [(rule, r['policy'], of)] if bad != (rule in fails) else []
        of = 100 * of if rule.startswith('accuracy') and rule[-1] == '%' else of
        want.append(('not ' * bad + 'ok', r['policy'], rule, '%.4g' % of))
        shown = {f['rule']: f['figure'] for f in r['fails']}.get(rule)
        wrong += [(rule, shown)] if bad and shown != '%.4g' % of + ' %' * rule.endswith('%') else []
tap.none(wrong, 'rules are broken by what is beyond their limits, told in the unit of the rule, and by nothing else')
lines = re.findall(r'^(ok|not ok) \d+ - (\w+): (\S+), it is ([^ ;\n]+)', run(1, *asked, '--tap'), re.M)
tap.ok(lines == want and len(want) == 39, 'TAP: %d verdicts and figures' % len(want),
       [p for p in zip(lines, want) if p[0] != p[1]])
tap.ok(json.load(open('page/validation.json')) == told, '--report writes what --json prints')
tap.halfulp('report', 'page')
page = open('page/report/index.html', encoding='utf-8').read()
said = re.findall(r'<li>(\w+) breaks <code>(accuracy&gt;=99%)</code>: it is ([\d.]+) %\.</li>', page)
tap.ok(said and said == [(r['policy'], 'accuracy&gt;=99%', '%.4g' % (100 * r['accuracy'])) for r in told['policies']],
       'the page has a broken share in percent, as the rule has it', said)

# Names of policies that would share a file
os.mkdir('a')
for path in ('a/p.json', 'a_p.json'):
    with open(path, 'w') as f:
        json.dump({'default': 'int8', 'nodes': {}}, f)
with open('p.json', 'w') as f:
    json.dump({'name': 'exact', 'compute': 'float16'}, f)
for names, name, whose in (('p.json', 'exact', 'the exact network'), ('a/p.json,a_p.json', 'a_p.json',
                                                                      'another policy')):
    r = tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', names, '--outputs', 'two')
    said = "two/%s.npz would hold the outputs of policy '%s' and of %s" % (name, name, whose)
    tap.ok(r.returncode == 2 and said in r.stderr and not os.path.exists('two'), 'no file for two: %s' % whose,
           r.stderr)
run(0, 'm.onnx', '--data', 'x.npz', '--policy', 'a/p.json,p.json', '--outputs', 'two', '--exact', '0')
tap.ok(sorted(os.listdir('two')) == ['a_p.json.npz', 'exact.npz', 'float32.npz', 'validation.json'],
       'a file for one each', os.listdir('two'))

# The name of a format that is no scheme stands for a policy; a constant that is listed as an input needs no array
nodes = [node('MatMul', 'x w1', 'h'), node('Add', 'h b1', 'y')]
write('old.onnx', graph(nodes, [floats('w1', [I, C], draw(I * C, 0.4)), floats('b1', [C], draw(C, 0.4))],
                        [value('x', ['n', I]), value('w1', [I, C]), value('b1', [C])], [value('y', ['n', C])]))
for name, policy in (('fp64', 'compute=fp64,variable=fp64,list=all'),
                     ('e3m4', 'compute=e3m4,variable=float32,list=autocast')):
    both = [policies('old.onnx', '--data', 'x.npz', '--policy', p)[-1] for p in (name, policy)]
    same = [{k: v for k, v in b.items() if k != 'policy'} for b in both]
    tap.ok(same[0] == same[1] and same[0]['rel_l2'] > 0, '%s is the policy %s' % (name, policy), both)
npz('other.npz', a=([2, I], x[: 2 * I]), b=([1], [1.0]), c=([1], [1.0]))
r = tap.halfulp('validate', 'm.onnx', '--data', 'other.npz')
there = "other.npz: no array is called 'x' as the model's input is; there are: a, b, c\n"
tap.ok(r.returncode == 3 and r.stderr.endswith(there), 'an array that is missing: those that are there', r.stderr)
tap.finish()
