#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page of a model says of each file of --against what validation.json has: its values, the worst of them first, and
# on the graph, beside the policies, what each node of the file does and what arrives there.
import html, json, math, os, re, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import svgtext
import tap
from npzfile import npz
from onnxfile import *

os.chdir(tap.home())
K = 6
draw = [((i * 37 + 11) % 64 - 32) / 16 for i in range(K * K)]
port = lambda name: value(name, ['n', K])
net = lambda w: graph([node('MatMul', 'x w', 'a<&>', name='a'), node('Relu', 'a<&>', 'r', name='r'),
                       node('MatMul', 'r w', 'y', name='y')], [w], [port('x')], [port('y')])
write('f.onnx', net(floats('w', [K, K], draw)))
write('b.onnx', net(floats('w', [K, K], [v + (0.01 if i % 5 else 0.3) for i, v in enumerate(draw)])))
npz('x.npz', x=((4, K), [((i * 29 + 5) % 40 - 20) / 8 for i in range(4 * K)]))
ran = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--policy', 'bf16', '--exact', '0', '--against',
        'b.onnx', '--report', 'out')
tap.ok(ran.returncode == 0, 'validate writes the object', ran.stderr)
told = json.load(open('out/validation.json'))['against'][0]
ran = tap.halfulp('report', 'out')
made = 'out/report/index.html'
page = svgtext.plain(open(made, encoding='utf-8').read()) if os.path.exists(made) else ''
section = re.search(r'<section>\n<h2>What b\.onnx does.*?</section>', page, re.S)
tap.ok(ran.returncode == 0 and section is not None, 'the page has a section of the file', ran.stderr)
text = section.group(0) if section else ''
rows = [[html.unescape(re.sub('<.*?>', '', c)) for c in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', line)]
        for line in re.findall(r'<tr><th scope.*?</tr>', text)]
want = sorted((v for v in told['values'] if v['pair'] == 'same'), key=lambda v: -v['own'])
figure = lambda x: float('%.3g' % x)
tap.ok([r[0] for r in rows] == [v['value'] for v in want] and len(want) == 4 and want[0]['own'] > 0,
       'the values stand in the order of their own errors', [rows, want])
number = lambda t: float(t.replace('\u2212', '-').replace('\u202f', '').replace('×10', 'e').replace('–', 'nan'))
tap.ok(all(abs(figure(v['own']) - float(re.sub('[^0-9.e-]', '', r[2]) or 'nan')) <= 1e-3 * v['own'] for r,
        v in zip(rows, want)),
       'with these numbers', rows)
tap.ok('the file has 4 under the same name; 0 names have another' in re.sub('<.*?>', '', text),
        'and how many there are', text[:400])

# On the graph: a file whose first product is beyond float32, so that errors after it are not finite, beside the first
write('inf.onnx', graph([node('MatMul', 'x w', 'a<&>', name='a'), node('Mul', 'a<&> big', 'b', name='b'),
    node('Mul', 'b big', 'c', name='c'), node('Relu', 'c', 'r', name='r'), node('MatMul', 'r w', 'y', name='y')],
    [floats('w', [K, K], draw), floats('big', [1], [1e30])], [port('x')], [port('y')]))
ran = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--policy', 'bf16', '--exact', '0', '--sensitivity',
        '--against', 'b.onnx', '--against', 'inf.onnx', '--report', 'both')
v = json.load(open('both/validation.json'))
ran = tap.halfulp('report', 'both')
page = svgtext.plain(open('both/report/index.html', encoding='utf-8').read()) if ran.returncode == 0 else ''
graphs = re.search(r'<section class="whole" id="graph">.*?</section>', page, re.S)
graphs = graphs.group(0) if graphs else ''
words = lambda s: ' '.join(html.unescape(re.sub('<.*?>', '', s)).split())
tap.ok(re.findall(r'<label for="paint-\d+">(.*?)</label>', graphs) == ['bf16', 'b.onnx', 'inf.onnx'],
       'the graph has a switch for the policy and for each file', graphs[:600])
form = lambda x: 'not finite' if isinstance(x, str) else '%.3g' % x
survey = {n['node']: n for n in v['policies'][1]['sensitivity']['nodes']}
files = [{x['node']: x for x in f['values'] if x['pair'] == 'same' and x['node']} for f in v['against']]
errors = [x[k] for f in files for x in f.values() for k in ('own', 'arrived')]
errors += [n[k] for n in survey.values() for k in ('local_rel_l2', 'joint_rel_l2')]
finite = [e for e in errors if not isinstance(e, str) and e > 0]
worst, least = max(finite), max(min(finite), max(finite) * 1e-4)
heat = lambda x: 75 if isinstance(x, str) else 0 if x <= least else 75 * math.log(x / least) / math.log(worst / least)
boxes = re.findall(r'<a class="node" href="#node-(\d+)" id="box-\d+" style="([^"]*)">(.*?)</a>\n', graphs, re.S)
wrong, bad = [], 0
for i, style, body in boxes:
    name = v['graph'][int(i)]['node']
    for k, f in enumerate(files, 1):
        said, row = words(re.search(r'<g class="p p%d">(.*?)</g>' % k, body)[1]), f.get(name)
        told = 'own %s, arrives %s' % (form(row['own']), form(row['arrived'])) if row else ''
        begins = row is not None and row['nonfinite'] > 0
        bad += begins
        colours = [re.search(r'--%s%d:([\d.]+)%%' % (w, k), style) for w in 'oa']
        if said not in (told, 'first not finite' + told, 'first not finite ' + told) or (row is None) != (
                not any(colours)) or row and any(abs(float(c[1]) - heat(x)) > 0.51 for c, x in zip(colours,
                    (row['own'], row['arrived']))):
            wrong.append([name, k, said, told, style])
        facts = re.search(r'<div id="node-%s" tabindex.*?</div>\n</div>|<div id="node-%s" tabindex.*?</table>' % (i, i),
                graphs, re.S)
        cells = [[words(c) for c in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', r)] for r in re.findall(r'<tr>(.*?)</tr>',
                facts.group(0) if facts else '', re.S)]
        share = lambda n: '%.3g' % (100 * n / row['elements'])
        want = [v['against'][k - 1]['file'], 'as the file has it', form(row['own']), form(row['arrived']), '–', '–',
                '–', '–', '–', share(row['zeroed']), share(row['saturated'])] if row else None
        if row and want not in cells:
            wrong.append([name, want, cells])
tap.ok(len(boxes) == 3 and not wrong, 'its boxes have the errors and colours of each file, and all numbers', wrong)
marks = [i for i, _, body in boxes if 'first not finite' in (re.search(r'<g class="p p2">(.*?)</g>', body) or [''])[0]]
bad = [i for i, _, _ in boxes if files[1].get(v['graph'][int(i)]['node'], {}).get('nonfinite')]
tap.ok(bad and marks == bad[:1], 'the first node whose value is not finite in the file is marked', [marks, bad])

# What a tool writes is painted too: what arrives at the output is what its row in the table says
ran = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--policy', 'bf16,occ-fp16,ort-static', '--exact', '0',
        '--sensitivity', '--report', 'tools')
v = json.load(open('tools/validation.json')) if ran.returncode == 0 else {'against': [], 'policies': []}
tools = {f['file']: {x['value']: x for x in f['values']} for f in v['against']}
rows = {p['policy']: p for p in v['policies']}
off = [[n, f['y']['arrived'], rows[n]['rel_l2']] for n, f in tools.items()
       if not abs(f['y']['arrived'] - rows[n]['rel_l2']) <= 1e-6 * rows[n]['rel_l2']]
tap.ok(list(tools) == ['occ-fp16', 'ort-static'] and not off, 'a tool is told value by value as a file is', [off, v])
ran = tap.halfulp('report', 'tools')
page = svgtext.plain(open('tools/report/index.html', encoding='utf-8').read()) if ran.returncode == 0 else ''
switches = re.findall(r'<label for="paint-\d+">(.*?)</label>', page)
tap.ok(switches == ['bf16', 'occ-fp16', 'ort-static'], 'and its nodes are painted on the graph', switches)
tap.finish()
