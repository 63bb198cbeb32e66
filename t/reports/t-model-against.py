#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page of a model says of each file of --against what validation.json has: its values, the worst of them first.
import html, json, os, re, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, os.path.join(TOP, 't/tool'))
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
ran = tap.halfulp('validate', 'f.onnx', '--data', 'x.npz', '--policies', 'bf16', '--exact', '0', '--against',
        'b.onnx', '--report', 'out')
tap.ok(ran.returncode == 0, 'validate writes the object', ran.stderr)
told = json.load(open('out/validation.json'))['against'][0]
ran = tap.halfulp('report', 'out')
page = open('out/report/index.html', encoding='utf-8').read() if os.path.exists('out/report/index.html') else ''
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
tap.finish()
