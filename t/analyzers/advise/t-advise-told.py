#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What advise prints is what it says under --json, whose figures t-advise.py finds again by brute force; and files of
# --out for other tools name each node, or its module, under the scheme that the JSON has.
import ast, json, os, random, re, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(3)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
NODES, I, H, C, N = ('/layer1/fc/MatMul', 'a:b', '/head/MatMul'), 8, 16, 4, 40
npz('x.npz', x=([N, I], draw(N * I, 1)))
for name, classes in (('m.onnx', C), ('one.onnx', 1)):
    sizes = ((I, H), (H, H), (H, classes))
    nodes, weights, at = [], [], 'x'
    for k, (rows, columns) in enumerate(sizes):
        weights.append(floats('w%d' % k, [rows, columns], draw(rows * columns, 0.5 / (1 + k % 2))))
        nodes.append(node('MatMul', '%s w%d' % (at, k), 'y' if k == 2 else 'h%d' % k, name=NODES[k]))
        if k < 2:
            nodes.append(node('Tanh', 'h%d' % k, 't%d' % k, name='tanh%d' % k))
            at = 't%d' % k
    write(name, graph(nodes, weights, [value('x', ['n', I])], [value('y', ['n', classes])]), opset=19)


def run(*words):
    r = tap.halfulp('advise', *words)
    return r.returncode, r.stdout


def told(line, o, out):
    """The lines, from the object."""
    lines = [
        '%s: %d products to decide on, %d inputs to search on, %d held apart, %d assignments run in batches of %d'
        % (line[0], len(o['nodes']), N / 2, N / 2, o['runs'], o['batch']),
        '',
    ]
    if not o['found']:
        return lines + ['No assignment keeps the budget, not even float32 in all nodes.']
    lines += ['%-12s %s' % (n['scheme'], n['node']) for n in o['nodes']]
    lines += ['', 'Weights take %.4g MB, %.4g MB in float32.' % (o['bytes'] / 1e6, o['float32_bytes'] / 1e6)]
    if 'device' in o:
        lines.append(
            'Their products take %.4g us a batch on Tesla T4 by its roofline, %.4g us in float32.'
            % (1e6 * o['seconds'], 1e6 * o['float32_seconds'])
        )
    for word, e in (('Searched', o['searched']), ('Held apart', o['held_apart'])):
        flips = '' if e['flips'] is None else '%d flips, ' % e['flips']
        lines.append(
            '%s: %d inputs, %srel_l2 %.3g, sqnr %.1f dB, largest difference %.3g'
            % (
                word,
                e['inputs'],
                flips,
                e['rel_l2'],
                float('inf') if e['sqnr_db'] is None else e['sqnr_db'],
                e['max_error'],
            )
        )
    lines.append('All assignments that take less were tried, or break the budget: none is cheaper.')
    cost, unit, size = ('seconds', 'us', 1e6) if 'device' in o else ('bytes', 'MB', 1e-6)
    if o['greedy_' + cost] is not None and o['greedy_' + cost] > o[cost]:
        lines.append('A greedy search comes to %.4g %s.' % (size * o['greedy_' + cost], unit))
    if out:
        lines += ['%s: %s' % (k, proof(k, v)) for k, v in proven(out) if v]
        for w in json.loads(text(out + '/advice.json'))['remedies']:
            lines += whole(w) if w['needed'] else []
        lines += [
            '%s has model.onnx, policy.json, block_list.txt, trtexec.txt, keep.py, and' % out,
            'advice.json, of which halfulp report makes a page.',
        ]
    return lines


def text(path):
    return open(path).read()


def proven(out):
    """The lists of a plan with their proofs, by the names that they have in block_list.txt."""
    o = json.loads(text(out + '/advice.json'))
    return ('block_list', o['block_list']), ('nodes', o['nodes_to_quantize'])


def whole(w):
    """The lines about the whole model in a way that breaks the budget, where no change helps."""
    halves = []
    for which in 'searched', 'held_apart':
        e = w['before'][which]
        flips = '' if o['searched']['flips'] is None else '%d of %d inputs flip, ' % (e['flips'], e['inputs'])
        halves.append('%s %srel_l2 is %.3g' % (which.replace('_', ' '), flips, e['rel_l2']))
    return [
        'The whole model under %s breaks the budget: %s.' % (w['way'], ', and '.join(halves)),
        '  No change of the graph that is known here helps.',
    ]


def proof(name, p):
    """The sentence about a list."""
    if name == 'nodes' and not p['nodes']:
        return 'No list of nodes_to_quantize keeps the budget.'
    n, a, b = len(p['nodes']), p['searched'], p['held_apart']
    line = 'What %s writes with these %d node%s' % (p['tool'], n, 's'[n == 1 :])
    line += ' keeps the budget on both parts: ' if p['keeps'] else ' breaks the budget: '
    if a['flips'] is not None:
        line += '%d of %d and %d of %d inputs flip, ' % (a['flips'], a['inputs'], b['flips'], b['inputs'])
    return line + 'rel_l2 %.3g and %.3g.' % (a['rel_l2'], b['rel_l2'])


for what, line, out in (
    ('classes', ('m.onnx', '--accept', 'rel_l2<=0.01', '--format', 'int8,bf16,int4:g8'), 'plan'),
    (
        'an output without classes',
        ('one.onnx', '--accept', 'sqnr>=40', '--format', 'int8,float16,e4m3:static'),
        'other',
    ),
    (
        'by time',
        ('m.onnx', '--accept', 'rel_l2<=0.02', '--format', 'int8,bf16', '--by', 'time', '--device', 't4'),
        None,
    ),
    ('a budget that float32 breaks', ('m.onnx', '--accept', 'nonfinite<=-1', '--format', 'int8'), None),
):
    line += ('--data', 'x.npz')
    _, told_json = run(*line, '--json')
    o = json.loads(told_json) if told_json else tap.bail_out('advise %s says nothing' % ' '.join(line))
    got = run(*line, *(['--out', out] if out else []))[1].split('\n')
    want = told(line, o, out) + ['']
    tap.ok(
        got == want,
        '%s: %d lines as --json has them' % (what, len(want)),
        [(a, b) for a, b in zip(got, want) if a != b][:2],
    )
    if not out:
        continue
    chosen = {n['node']: n['scheme'] for n in o['nodes']}
    low = {n: s for n, s in chosen.items() if s != 'float32'}
    tap.ok(
        json.loads(text(out + '/policy.json')) == {'name': 'advised', 'default': 'float32', 'nodes': low},
        '%s: policy.json has the %d nodes that are not float32' % (what, len(low)),
    )
    written = json.loads(text(out + '/advice.json'))
    both = {k: written.pop(k) for k in ('block_list', 'nodes_to_quantize', 'remedies')}
    asked = written.pop('command')
    tap.ok(
        written == {k: v for k, v in o.items() if k not in both and k != 'command'}
        and asked.replace(' --out=' + out, ' --json') == o['command'] and not any(o[k] for k in both),
        '%s: advice.json is what --json prints, and what is tried where files are written' % what,
    )
    lists = {}
    exec(text(out + '/block_list.txt'), lists)
    named = lambda v, plan: v['nodes'] if v and v['keeps'] else None if v else plan
    tap.ok(
        lists.get('block_list') == named(both['block_list'], [n for n in chosen if n not in low])
        and lists.get('nodes') == named(both['nodes_to_quantize'], list(low))
        and all(proof(k, v) in text(out + '/block_list.txt') for k, v in proven(out) if v and v['nodes']),
        '%s: the lists for converters' % what,
        text(out + '/block_list.txt'),
    )
    name = lambda s: 'int8' if s.startswith('int8:') else s
    short = {'float32': 'fp32', 'fp16': 'fp16', 'bf16': 'bf16', 'int8': 'int8', 'float16': 'fp16'}
    layers = {n: short.get(name(s)) for n, s in chosen.items()}
    layers = {n: p for n, p in layers.items() if p and ':' not in n}
    lines = text(out + '/trtexec.txt').split('\n')
    line = (
        ''.join('--%s ' % f for f in ('fp16', 'bf16', 'int8') if f in layers.values())
        + '--precisionConstraints=obey --layerPrecisions=*:fp32'
        + ''.join(',%s:%s' % p for p in layers.items())
    )
    tap.ok(
        lines[-2] == line
        and lines[2:-2]
        == ['# %s: %s cannot be given to a layer of this name' % (n, s) for n, s in chosen.items() if n not in layers],
        '%s: the options of trtexec, and who has none' % what,
        lines,
    )
    modules = [n.lstrip('/').rpartition('/')[0].replace('/', '.') or n.lstrip('/') for n in chosen if n not in low]
    page = text(out + '/keep.py')
    ast.parse(page)
    tap.ok(
        re.findall(r'^    ("[^"]*"),$', page, re.M) == ['"%s"' % m for m in modules],
        '%s: keep.py names the modules %s' % (what, ' '.join(modules)),
        page,
    )
# Labels that float32 has right in both halves, and in the half to search on alone
tap.halfulp('validate', 'm.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0', '--outputs', 'out')
y = outputs('out/float32.npz')['y'][1]
right = [max(range(C), key=lambda c: y[i * C + c]) for i in range(N)]
for labels, found in ((right, True), (right[: N // 2] + [(c + 1) % C for c in right[N // 2 :]], False)):
    npz('labels.npz', y=([N], labels, '<i8'))
    code, out = run(
        'm.onnx',
        '--data',
        'x.npz',
        '--labels',
        'labels.npz:y',
        '--accept',
        'accuracy>=0.99',
        '--format',
        'bf16',
        '--json',
    )
    tap.ok(
        code == (0 if found else 1) and json.loads(out)['found'] == found, 'labels: each half is held to its own', out
    )
tap.finish()
