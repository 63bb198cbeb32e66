#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The graph on the page of a model: nodes and edges are the ONNX file's, every error, colour and number of a node is
# that of validation.json, the first node that is not finite is marked, accuracies of advise are computed again from the
# labels, and the commands that made it all are whole. Laid out by dot, and without it. HALFULP names the program.
import html, json, math, os, random, re, shlex, shutil, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import svgtext
import tap
from npzfile import npz, outputs
from onnxfile import *

home = tap.home()
os.chdir(home)
random.seed(5)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
N, D, C = 16, 12, 4
# A Reshape to the same shape, which is no node of the graph, a fork, a residual sum, a branch of its own to a second
# output, and a node whose square is beyond float16.
nodes = [
    node('Gemm', 'x w0 b0', 'h', name='stem<&>'),
    node('Relu', 'h', 'r', name='relu'),
    node('Gemm', 'r w1 b0', 'p', name='left'),
    node('Add', 'p r', 's', name='residual'),
    node('Mul', 's big', 'm', name='scaled'),
    node('Mul', 'm m', 'q', name='square'),
    node('Sqrt', 'q', 'root', name='root'),
    node('Reshape', 'root same', 'flat', name='moves nothing'),
    node('MatMul', 'flat wy', 'y', name='head'),
    node('MatMul', 'r wy', 'z', name='other head'),
]
edges = {
    ('stem<&>', 'relu'), ('relu', 'left'), ('left', 'residual'), ('relu', 'residual'), ('residual', 'scaled'),
    ('scaled', 'square'), ('square', 'root'), ('root', 'head'), ('relu', 'other head'),
}
write(
    'net.onnx',
    graph(
        nodes,
        [floats('w0', [D, D], draw(D * D, 0.4)), floats('b0', [D], draw(D, 0.1)),
         floats('w1', [D, D], draw(D * D, 0.4)),
         floats('big', [1], [300.0]), floats('wy', [D, C], draw(D * C, 0.3)), ints('same', [2], [-1, D])],
        [value('x', ['batch', D])],
        [value('y', ['batch', C]), value('z', ['batch', C])],
    ),
)
labels = [random.randrange(C) for _ in range(N)]
npz('x.npz', x=([N, D], draw(N * D, 1)))
npz('labels.npz', right=([N], labels))
told = ['--data', 'x.npz', '--labels', 'labels.npz:right', '--output', 'y', '--accept', 'flips<=50% at 60%']
ran = tap.halfulp('validate', 'net.onnx', *told, '--policy', 'fp16,int8,int4:g4', '--sensitivity', '--exact', '0',
                  '--outputs', 'o', '--report', 'out')
tap.ok(ran.returncode in (0, 1), 'validate', ran.stderr)
v = json.load(open('out/validation.json'))

# The graph in JSON
name = [n['node'] for n in v['graph']]
tap.ok(
    {(name[f], n['node']) for n in v['graph'] for f in n['from']} == edges
    and all(f < i for i, n in enumerate(v['graph']) for f in n['from'])
    and {(n['node'], n['operator']) for n in v['graph']} == {
        ('stem<&>', 'Gemm'), ('relu', 'Relu'), ('left', 'Gemm'), ('residual', 'Add'), ('scaled', 'Mul'),
        ('square', 'Mul'), ('root', 'Sqrt'), ('head', 'MatMul'), ('other head', 'MatMul')}
    and {(n['node'], p) for n in v['graph'] for p in n['inputs']} == {('stem<&>', 'x')}
    and {(n['node'], p) for n in v['graph'] for p in n['outputs']} == {('head', 'y'), ('other head', 'z')},
    'nodes, edges, inputs and outputs are those of the file', v['graph'])

# The commands are whole: a shell makes of them the words that were given
ran = tap.halfulp('advise', 'net.onnx', *told[:-1], 'flips<=60%', '--format', 'int8,bf16', '--out', 'out')
tap.ok(ran.returncode == 0, 'advise', ran.stderr)
a = json.load(open('out/advice.json'))
words = shlex.split(v['command'])
tap.ok(words[:3] == ['halfulp', 'validate', 'net.onnx'] and '--accept=flips<=50% at 60%' in words
       and '--policy=fp16,int8,int4:g4' in words and '--labels=labels.npz:right' in words and '--sensitivity' in words
       and '--exact=0' in words and '--data=x.npz' in words, 'the command of validate is whole', v['command'])
words = shlex.split(a['command'])
tap.ok(words[:3] == ['halfulp', 'advise', 'net.onnx'] and '--accept=flips<=60%' in words and '--out=out' in words
       and '--format=int8,bf16' in words and '--data=x.npz' in words, 'that of advise too', a['command'])

# Accuracies, from the labels and the outputs
def right(y, which):
    return sum(max(range(C), key=lambda c: y[C * i + c]) == labels[i] for i in which) / len(which)
full = outputs('o/float32.npz')['y'][1]
halves = [a['searched'], a['held_apart']]
tap.ok(sum(h['inputs'] * h['float32_accuracy'] for h in halves) / N == right(full, range(N))
       and [h['inputs'] for h in halves] == [N // 2, N // 2], 'float32 accuracy of both halves together', halves)
os.makedirs('planned')
shutil.copy('out/policy.json', 'planned/plan.json')
ran = tap.halfulp('validate', 'net.onnx', *told, '--policy', 'planned/plan.json', '--exact', '0', '--outputs', 'po')
low = [f for f in os.listdir('po') if f.endswith('.npz') and f != 'float32.npz'] if os.path.isdir('po') else []
tap.ok(len(low) == 1 and sum(h['inputs'] * h['accuracy'] for h in halves) / N
       == right(outputs('po/' + low[0])['y'][1], range(N)), 'accuracy of the plan', [halves, low, ran.stderr])
ran = tap.halfulp('advise', 'net.onnx', *told[:2], '--output', 'y', '--accept', 'flips<=60%', '--format', 'bf16',
                  '--json')
tap.ok(json.loads(ran.stdout)['held_apart']['accuracy'] is None
       and json.loads(ran.stdout)['held_apart']['float32_accuracy'] is None, 'without labels accuracy is null')


def without_spans(path):
    """A page whose commands, and powers of ten, are as they are typed."""
    return re.sub('</?span>', '', svgtext.plain(open(path).read()))


def page_of(into, **environment):
    ran = tap.halfulp('report', 'out', '--out', into, env={**os.environ, **environment})
    tap.ok(ran.returncode == 0 and not ran.stderr, 'a page (%s)' % into, ran.stderr)
    return without_spans(into + '/index.html') if ran.returncode == 0 else ''


text = lambda s: ' '.join(html.unescape(re.sub(r'<[^>]*>', ' ', s)).split())
form = lambda x: '–' if x is None else 'not finite' if isinstance(x, str) else '%.3g' % x
surveys = [p['sensitivity'] for p in v['policies'][1:]]
at = [{n['node']: n for n in s['nodes']} for s in surveys]
finite = [n[k] for s in at for n in s.values() for k in ('local_rel_l2', 'joint_rel_l2')
          if not isinstance(n[k], str) and n[k] > 0]
worst, least = max(finite), max(min(finite), max(finite) * 1e-4)
heat = lambda x: (75 if isinstance(x, str) else 0 if x <= least
                  else 75 * math.log(x / least) / math.log(worst / least))
tap.ok(any(isinstance(n['joint_rel_l2'], str) for n in at[0].values())
       and v['policies'][1]['first_nonfinite'] == 'square', 'fp16 is not finite from the square on, told as texts',
       v['policies'][1]['first_nonfinite'])


def check(page, how):
    section = re.search(r'<section class="whole" id="graph">.*?</section>', page, re.S)
    section = section[0] if section else ''
    boxes = re.findall(r'<a class="node" href="#node-(\d+)" id="box-(\d+)" style="([^"]*)">(.*?)</a>\n', section, re.S)
    wrong = [] if [int(b[0]) for b in boxes] == list(range(len(name))) else ['boxes']
    for i, _, style, body in boxes:
        n = v['graph'][int(i)]
        if text(re.search(r'<title>(.*?)</title>', body)[1]) != '%s, %s' % (n['node'], n['operator']):
            wrong.append([n['node'], 'title'])
        for k in range(len(at)):
            layer = re.search(r'<g class="p p%d">(.*?)</g>' % k, body)[1]
            row = at[k].get(n['node'])
            first = v['policies'][1 + k]['first_nonfinite'] == n['layer']
            want = ('first not finite ' if first else '') + ('own %s, arrives %s' % (
                form(row['local_rel_l2']), form(row['joint_rel_l2'])) if row else '')
            if ' '.join(text(layer).replace(' ,', ',').split()) != want.strip():
                wrong.append([n['node'], k, text(layer), want])
            colours = [re.search(r'--%s%d:([\d.]+)%%' % (w, k), style) for w in 'oa']
            if row is None and any(colours) or row and any(
                    not c or abs(float(c[1]) - heat(row[e])) > 0.51
                    for c, e in zip(colours, ('local_rel_l2', 'joint_rel_l2'))):
                wrong.append([n['node'], k, style])
    tap.none(wrong, how + ': boxes, their colours and errors')
    paths = re.findall(r'<path class="edge"[^>]* d="M([-\d.]+) ([-\d.]+)C([-\d. ]+)"', section)
    middle = {}
    for i, body in [(int(b[0]), b[3]) for b in boxes]:
        box = re.search(r'class="arrived" x="([-\d.]+)" y="([-\d.]+)" width="(\d+)" height="(\d+)"', body)
        middle[name[i]] = tuple(map(float, box.groups()))
    touches = lambda p, box, far: all(box[i] - far <= p[i] <= box[i] + box[2 + i] + far for i in range(2))
    drawn = set()
    for x, y, rest in paths:
        last = [float(s) for s in rest.split()][-2:]
        for f in middle:
            for t in middle:
                if touches((float(x), float(y)), middle[f], 1) and touches(last, middle[t], 12):
                    drawn.add((f, t))
    apart = all(p[0] + p[2] <= q[0] or q[0] + q[2] <= p[0] or p[1] + p[3] <= q[1] or q[1] + q[3] <= p[1]
                for a_, p in middle.items() for b_, q in middle.items() if a_ < b_)
    tap.ok(drawn == edges and len(paths) == len(edges) + 3 and apart, how + ': the edges join their boxes, and no two '
           'boxes overlap', [drawn ^ edges, len(paths), apart])
    facts = re.findall(r'<div id="node-(\d+)" tabindex="-1">(.*?)</div>\n(?=<div id|</div>)', section, re.S)
    wrong = [] if len(facts) == len(name) else [len(facts)]
    plan = {x: n['scheme'] for n in a['nodes'] for x in [n['node']] + n['tied']}
    share = lambda n, k: '–' if not n['operands'] else '%.3g' % (100 * n[k] / n['operands'])
    for i, body in facts:
        n = v['graph'][int(i)]
        rows = [[text(c) for c in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', r, re.S)] for r in
                re.findall(r'<tr>(.*?)</tr>', body, re.S)][1:]
        want = [[p['policy'], r['scheme'], form(r['local_rel_l2']), form(r['joint_rel_l2']), form(r['low_rel_l2']),
                 '%d' % r['low_flips'], form(r['high_rel_l2']), '%d' % r['high_flips'], '%.3g' % r['amax'],
                 share(r, 'zeroed'), share(r, 'saturated')]
                for p, s in zip(v['policies'][1:], at) for r in [s.get(n['node'])] if r]
        planned = re.search(r'gives this node the scheme <code>([^<]*)</code>', body)
        first = [p['policy'] for p in v['policies'] if p['first_nonfinite'] == n['layer']]
        if (rows != want or (planned[1] if planned else None) != plan.get(n['node'])
                or not all('Under %s the first value that is not finite' % f in text(body) for f in first)):
            wrong.append([n['node'], rows, want])
    tap.none(wrong, how + ': all numbers of each node')
    return section


page = page_of('there')
section = check(page, 'by dot' if shutil.which('dot') else 'without dot')
tap.ok(('plain layers' in text(section)) == (not shutil.which('dot')), 'plain layers are told where there is no dot')
plain = check(page_of('plain', DOT=home + '/absent'), 'in plain layers')
tap.ok('dot is not installed, so the nodes stand in plain layers' in text(plain), 'why there are plain layers')
for body, why in (('echo junk', 'gave no layout'), ('exit 3', 'failed with code 3'),
                  ('echo "graph 1 9 9"; echo "node 0 1 1"; echo "edge 0 1 4 1 1"', 'gave no layout')):
    with open('dot.sh', 'w') as f:
        f.write('#!/bin/sh\n%s\n' % body)
    os.chmod('dot.sh', 0o755)
    tap.ok(why in text(page_of('odd', DOT=home + '/dot.sh')), 'a dot that does not work: ' + why)
tap.ok(all(html.escape(o['command']).replace('&#x27;', '&#39;') in page for o in (v, a)),
       'the page has both commands whole')
proof = re.search(r'<table class="proof">(.*?)</table>', page, re.S)[1]
cells = [re.findall(r'<td>([^<]*)</td>', r)[-2:] for r in re.findall(r'<tr>(.*?)</tr>', proof, re.S)][1:]
tap.ok(cells == [['%.2f' % (100 * h['accuracy']), '%.2f' % (100 * h['float32_accuracy'])] for h in halves],
       'the accuracies in the table of the proof', cells)

# With a keyboard
chromium = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
if not chromium:
    tap.skip('the keyboard', 'Chromium is absent')
else:
    script = '''<script>addEventListener("load", () => { const out = [];
const send = event => document.activeElement.dispatchEvent(event);
const press = key => { send(new KeyboardEvent("keydown", { key, bubbles: true }));
out.push(document.activeElement.id + location.hash); };
const shown = () => out.push([...document.querySelectorAll(".chosen > div")]
.filter(d => getComputedStyle(d).display !== "none").map(d => d.id).join());
const painted = k => out.push(getComputedStyle(document.querySelector("#box-0 .p" + k)).display);
document.getElementById("box-0").focus(); press("ArrowDown"); press("ArrowUp"); press("ArrowUp"); shown();
document.getElementById("box-2").focus(); 
send(new MouseEvent("click", { bubbles: true, cancelable: true }));
setTimeout(() => { shown(); press("ArrowRight"); shown(); press("Escape"); shown(); painted(0); painted(1);
document.getElementById("paint-1").click(); painted(0); painted(1);
out.push(getComputedStyle(document.querySelector("#graph .legend")).display);
document.body.innerHTML = "<pre>" + out.join("|") + "|</pre>"; }, 50); });</script>'''
    with open('keys.html', 'w') as f:
        f.write(page.replace('</body>', script + '</body>'))
    p = subprocess.run([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=3000',
                        '--user-data-dir=' + home + '/profile', '--dump-dom', 'file://%s/keys.html' % home],
                       capture_output=True, text=True, timeout=240)
    said = re.search(r'<pre>(.*?)</pre>', p.stdout, re.S)
    want = 'box-1|box-0|box-0||node-2|node-3#node-3|node-3|box-3#box-3||inline|none|none|inline|block|'
    tap.ok(said and said[1] == want, 'arrow keys, a click, Escape, the switch of policies, and a legend that shows',
           [said and said[1], p.stderr[-300:]])

# A block for a model card
def cells(line):
    return [re.sub(r'\\\\(.)', r'\\1', c.strip()) for c in line.strip().strip('|').split('|')]
ran = tap.halfulp('report', 'out', '-o', 'card.md')
card = open('card.md').read() if ran.returncode == 0 else ''
table = [cells(line) for line in card.splitlines() if line.startswith('|')]
dash = lambda f, x: '–' if x is None else x if isinstance(x, str) else f % x
want = [[p['policy'], {'pass': 'kept', 'fail': 'broken'}[p['verdict']], '%d of %d' % (p['flips'], p['inputs']),
         '%.2f to %.2f' % (100 * p['flips_low'], 100 * p['flips_high']), '%.2f' % (100 * p['accuracy']),
         dash('%.1f', p['sqnr_db']), '%.4g' % (p['weight_bytes'] / 1e6)] for p in v['policies']]
tap.ok(ran.stdout == 'card.md: a block for a model card\n' and table[2:] == want and len(table[0]) == 7,
       'the card', [ran.stderr, table])
kept = sum(n['scheme'] == 'float32' for n in a['nodes'])
h = a['held_apart']
tap.ok('keeps %d of %d products in float32' % (kept, len(a['nodes'])) in card
       and 'On %d inputs that the search never saw %d decision%s, %.2f %% are right (%.2f %% in float32), '
       'and the relative L2 error is %.3g.' % (
           h['inputs'], h['flips'], ' changes' if h['flips'] == 1 else 's change', 100 * h['accuracy'],
           100 * h['float32_accuracy'], h['rel_l2']) in card
       and 'Under fp16 the first value that is not finite comes from square.' in card,
       'its sentences', card)
tap.ok(card.startswith('## Numerical precision of net.onnx\n')
       and '    %s\n    %s\n' % (v['command'], a['command']) in card
       and card.endswith('    halfulp report --out card.md out\n'), 'its commands')

# Nobody measured nodes
tap.halfulp('validate', 'net.onnx', *told, '--policy', 'bf16', '--exact', '0', '--report', 'bare')
ran = tap.halfulp('report', 'bare')
bare = without_spans('bare/report/index.html')
tap.ok('No policy’s nodes were measured' in bare and bare.count('<a class="node"') == len(name),
       'a graph without paint')
ran = tap.halfulp('report', 'bare', '-o', 'bare.html')
tap.ok(ran.stdout == 'bare.html: the page of a model\n' and os.path.isfile('bare.html')
       and without_spans('bare.html') == bare.replace('halfulp report bare', 'halfulp report --out bare.html bare'),
       'the page as a file', ran.stderr)
tap.finish()
