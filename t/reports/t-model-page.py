#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page of a model: every number, colour and point on it is computed again from validation.json and advice.json, and
# what these hold beside validate's figures is computed again from the outputs, which are all of the model's tensors.
# HALFULP names the program.
import html, json, math, os, random, re, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import svgtext
import tap
from npzfile import npz, outputs
from onnxfile import *

os.chdir(tap.home())
random.seed(3)
draw = lambda n, s: [random.gauss(0, s) for _ in range(n)]
N, D, C, LAYERS = 12, 20, 4, 5
tensors, nodes, before = [], [], 'x'
for i in range(LAYERS):
    w = draw(D * D, 1.3 / D**0.5)
    if i == 2:  # one channel far above the others
        w = [v * (60 if k % D == 7 else 1) for k, v in enumerate(w)]
    tensors += [floats('w%d' % i, [D, D], w), floats('b%d' % i, [D], draw(D, 0.1))]
    nodes += [
        node('Gemm', '%s w%d b%d' % (before, i, i), 'h%d' % i, name='h%d' % i),
        node('Relu', 'h%d' % i, 'r%d' % i, name='r%d' % i),
    ]
    before = 'r%d' % i
tensors.append(floats('wy', [D, C], draw(D * C, 0.3)))
nodes.append(node('MatMul', before + ' wy', 'y', name='y<&>'))
inner = [t % i for i in range(LAYERS) for t in ('h%d', 'r%d')]
write(
    'net.onnx',
    graph(
        nodes, tensors, [value('x', ['batch', D])], [value('y', ['batch', C])] + [value(t, ['batch', D]) for t in inner]
    ),
)
npz('x.npz', x=([N, D], draw(N * D, 1)))
ran = tap.halfulp('validate', 'net.onnx', '--data', 'x.npz', '--policy', 'fp16,int8,int4', '--accept', 'sqnr>=30',
                  '--accept', 'flips<=50%', '--sensitivity', '--outputs', 'o', '--report', 'out', '--output', 'y',
                  '--exact', '2', '--json')
v = json.load(open('out/validation.json')) if os.path.exists('out/validation.json') else {}
tap.ok(ran.returncode == 1 and v == json.loads(ran.stdout), 'validation.json is what --json prints', ran.stderr)
ran = tap.halfulp('advise', 'net.onnx', '--data', 'x.npz', '--accept', 'sqnr>=25', '--output', 'y', '--out', 'out')
a = json.load(open('out/advice.json'))
tap.ok(ran.returncode == 0, 'advise writes into the same folder', ran.stderr)

# What is new in the objects
tap.ok(v['accept'] == ['sqnr>=30', 'flips<=50%'] and a['accept'] == ['sqnr>=25'], 'the budgets')
wrong, base = [], outputs('o/float32.npz')
for row in v['policies'][1:]:
    worst = min(float(o['sqnr_db']) for o in row['outputs'])  # a rule without a name holds for each output alone
    kept = {'sqnr>=30': worst >= 30, 'flips<=50%': row['flips'] <= 6}
    if [f['rule'] for f in row['fails']] != [r for r in v['accept'] if not kept[r]] or (
        row['verdict'] == 'pass'
    ) != all(kept.values()):
        wrong.append(row['fails'])
    wrong += [
        f
        for f in row['fails']
        if f['is'] != {'sqnr>=30': worst, 'flips<=50%': 100 * row['flips'] / N}[f['rule']]
    ]
    low = outputs('o/%s.npz' % row['policy'])
    for node_ in row['sensitivity']['nodes']:
        name = node_['node'][0] if node_['node'].startswith('y') else node_['node']
        y, y32 = low[name][1], base[name][1]
        rel = math.sqrt(math.fsum((p - q) ** 2 for p, q in zip(y, y32)) / math.fsum(q * q for q in y32))
        width = len(y32) // N
        most = [max(abs(y32[i * width + c]) for i in range(N)) for c in range(width)]
        joint = abs(node_['joint_rel_l2'] - rel) <= 1e-9 * rel
        if not joint or node_['channel_amax'] != most:
            wrong.append([row['policy'], name, rel, node_['joint_rel_l2']])
    places = [n['node'] for n in sorted(row['sensitivity']['nodes'], key=lambda n: n['position'])]
    order = [n for i in range(LAYERS) for n in ('h%d' % i, 'r%d' % i)] + ['y<&>']
    wrong += [] if places == [n for n in order if n in places] else [places]
tap.none(
    wrong, "broken rules, errors of all nodes' results where all are low, channels' maxima and places, from the outputs"
)

# The page
ran = tap.halfulp('report', 'out')
page = svgtext.plain(open('out/report/index.html').read()) if ran.returncode == 0 else ''
tap.ok(ran.returncode == 0 and not ran.stderr and page.endswith('</html>\n'), 'a page', ran.stderr)
text = lambda s: ' '.join(html.unescape(re.sub(r'<[^>]*>', '', s)).split())
form = lambda f, x: '–' if x is None else x if isinstance(x, str) else f % x
tap.ok(not re.search(r'src=|href="[^#]|url\([^#]|<script[^>]', page) and "default-src 'none'" in page,
       'which loads nothing')


def tables(kind):
    for t in re.findall(r'<table class="%s">(.*?)</table>' % kind, page, re.S):
        yield [[text(c) for c in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', row, re.S)]
               for row in re.findall(r'<tr>(.*?)</tr>', t, re.S)]


def of(f, key, factor=1):
    return lambda r: form(f, r[key] if r[key] is None or isinstance(r[key], str) else factor * r[key])


columns = {
    'policy': lambda r: r['policy'],
    'budget': lambda r: {'pass': 'keeps it', 'fail': 'breaks it'}[r['verdict']],
    'weights, MB': of('%.4g', 'weight_bytes', 1e-6),
    'decisions changed': lambda r: '%d of %d' % (r['flips'], r['inputs']),
    '95 % interval': lambda r: '%.2f to %.2f %%' % (100 * r['flips_low'], 100 * r['flips_high']),
    'open in float32': lambda r: '%d of %d' % (r['open'], r['flips_judged']) if r['flips_judged'] else '–',
    'SQNR, dB': of('%.1f', 'sqnr_db'),
    'relative L2': of('%.3g', 'rel_l2'),
    'largest error': of('%.3g', 'max_error'),
    'KL': of('%.3g', 'kl'),
    'not finite': of('%d', 'nonfinite'),
}
if not any(r['flips_judged'] for r in v['policies']):
    del columns['open in float32']
(table,) = tables('decision')
tap.ok(table == [list(columns)] + [[f(r) for f in columns.values()] for r in v['policies']], 'the decision table',
       table[:2])
(table,) = tables('proof')
halves = [['searched on', a['searched']], ['held apart', a['held_apart']]]
tap.ok(table[1:] == [[n, str(h['inputs']), str(h['flips']), '%.1f' % h['sqnr_db'], '%.3g' % h['rel_l2'], '%.3g'
                      % h['max_error']] for n, h in halves], 'the proof')
passing = [r for r in v['policies'][1:] if r['verdict'] == 'pass']
best = min(passing, key=lambda r: r['weight_bytes'])
words = text(page)
tap.ok(
    '%s keeps the budget %d of 3 policies keep sqnr>=30 and flips<=50%%. This one takes the fewest bytes of them: '
    '%.4g MB of weights in place of %.4g MB'
    % (best['policy'], len(passing), best['weight_bytes'] / 1e6, v['policies'][0]['weight_bytes'] / 1e6)
    in words,
    'the verdict',
)
tap.ok(all('%s breaks %s: it is %.4g' % (r['policy'], f['rule'], f['is']) in words for r in v['policies']
           for f in r['fails']), 'what is broken, and by how much')
tap.ok(
    'The weights take %.4g MB in place of %.4g MB, %.1f times less'
    % (a['bytes'] / 1e6, a['float32_bytes'] / 1e6, a['float32_bytes'] / a['bytes'])
    in words
    and 'The search ran %d assignments' % a['runs'] in words,
    "the plan's figures",
)
plan = re.search(r'<section class="plan">(.*?)</section>', page, re.S)[1]
tap.ok(
    [text(l) for l in re.findall(r'<li.*?</li>', plan, re.S)]
    == ['%s %s' % (n['scheme'], n['node']) for n in a['nodes']],
    "each product's format",
)
tap.ok('y<&>' not in page and 'y&lt;&amp;&gt;' in page, 'names are escaped')

sections = re.findall(r'<section class="nodes">(.*?)</section>', page, re.S)
tap.ok(len(sections) == 3, 'a section a policy that was surveyed')
for section, row in zip(sections, v['policies'][1:]):
    s, name, wrong = row['sensitivity'], row['policy'], []
    nodes = sorted(s['nodes'], key=lambda n: n['position'])
    lows = [n['low_rel_l2'] for n in nodes]
    worst, least = max(lows), max(min(lows), max(lows) * 1e-4)
    heats = [75 * math.log(x / least) / math.log(worst / least) if x > least else 0 for x in lows]
    cells = re.findall(r'<li style="--h:([-\d.]+)%" title="([^"]*)">([^<]*)</li>', section)
    tap.ok(
        [(c[1], c[2]) for c in cells]
        == [(html.escape(n['node']) + ': %.3g' % n['low_rel_l2'], n['operator']) for n in nodes]
        and all(abs(float(c[0]) - h) <= 0.51 for c, h in zip(cells, heats)),
        "%s: the network's colours" % name,
        cells[:3],
    )
    legend = [
        float(h) for h in re.findall(r'<i style="--h:([-\d.]+)%"', re.search(r'legend">(.*?)</p>', section, re.S)[1])
    ]
    tap.ok(legend == [0, 25, 50, 75] and '%.2g' % worst in text(section), '%s: its legend' % name)
    high = max(math.ceil(math.log10(x)) for n in nodes for x in (n['joint_rel_l2'], n['local_rel_l2']) if x > 0)
    bottom = min(math.floor(math.log10(x)) for n in nodes for x in (n['joint_rel_l2'], n['local_rel_l2']) if x > 0)
    for key in ('joint_rel_l2', 'local_rel_l2'):
        points = [
            tuple(map(float, p.split(',')))
            for p in re.search(r'<polyline class="%s" points="([^"]*)"' % key, section)[1].split()
        ]
        want = [(64 + i / (len(nodes) - 1) * 824, 12 + (high - math.log10(n[key])) / (high - bottom) * 218) for i,
                n in enumerate(nodes) if n[key] > 0]
        tap.ok(
            len(points) == len(want) and all(abs(p - q) < 0.06 for x, y in zip(points, want) for p, q in zip(x, y)),
            '%s: the curve of %s' % (name, key),
        )
    stands = []
    for n in nodes:
        median = sorted(n['channel_amax'])[len(n['channel_amax']) // 2]
        if median > 0 and max(n['channel_amax']) > 2 * median:
            stands.append((n, median))
    stands = sorted(sorted(stands, key=lambda b: -max(b[0]['channel_amax']) / b[1])[:12],
                    key=lambda b: b[0]['position'])
    bands = re.findall(r'<span>(.*?)</span><div>(.*?)</div>', section, re.S)
    for (label, cells), (n, median) in zip(bands, stands):
        heat = [float(h) for h in re.findall(r'--h:([-\d.]+)%', cells)]
        want = [min(100, max(0, 100 * math.log2(x / median) / 6)) if x > 0 else 0 for x in n['channel_amax']]
        if (
            text(label) != '%s %.3g times' % (n['node'], max(n['channel_amax']) / median)
            or any(abs(p - q) > 0.51 for p, q in zip(heat, want))
            or len(heat) != len(want)
        ):
            wrong.append([text(label), heat[:4], want[:4]])
    tap.ok(len(bands) == len(stands) and not wrong and any('h2' in text(l) for l, _ in bands),
           '%s: channels that stand out' % name, wrong)
    table = list(tables('worst'))[v['policies'][1:].index(row)]
    share = lambda n, k: '–' if not n['operands'] else '%.3g' % (100 * n[k] / n['operands'])
    want = [
        [
            n['node'], n['operator'], '%.3g' % n['low_rel_l2'], '%d' % n['low_flips'], '%.3g' % n['high_rel_l2'],
            '%d' % n['high_flips'], '%.3g' % n['local_rel_l2'], form('%.3g', n['amplification']), '%.3g' % n['amax'],
            '%.3g' % n['p99_9'], share(n, 'zeroed'), share(n, 'saturated')
        ]
        for n in sorted(nodes, key=lambda n: -n['low_rel_l2'])[:12]
    ]
    tap.ok(table[1:] == want, '%s: the worst nodes' % name, [table[1], want[0]])
    tap.ok(
        'all nodes together %.3g; were the nodes’ errors independent, it would be %.3g'
        % (s['joint_rel_l2'], s['additive_rel_l2'])
        in text(section),
        '%s: joint and additive' % name,
    )

# An infinite damage, which JSON has as null, has the full colour and comes first
first = v['policies'][1]['sensitivity']['nodes'][-1]
first['low_rel_l2'] = None
os.makedirs('wild')
with open('wild/validation.json', 'w') as f:
    json.dump(v, f)
ran = tap.halfulp('report', 'wild')
section = svgtext.plain(open('wild/report/index.html').read()) if ran.returncode == 0 else ''
section = section.partition('<section class="nodes">')[2].partition('<section class="nodes">')[0]
tap.ok('<li style="--h:75%%" title="%s: ∞">' % html.escape(first['node']) in section
       and re.search(r'<tbody>\s*<tr><th scope="row">%s<' % re.escape(html.escape(first['node'])), section),
       'a node whose damage is not finite')

# What is refused
os.makedirs('bad')
for body in (
    '{', '[]', '{"policies": 3}', '{"policies": [3]}', '{"policies": [{"sensitivity": {"nodes": [{}]}}, {"policy": 3}]}'
):
    with open('bad/validation.json', 'w') as f:
        f.write(body)
    ran = tap.halfulp('report', 'bad')
    tap.ok(ran.returncode in ((0,) if '[{' in body else (3,)) and ran.stderr.count('\n') == (ran.returncode == 3),
           '%s: exit %d: %s' % (body, ran.returncode, ran.stderr.strip()))
for option in (['-o', '-'], ['--format', 'png']):
    ran = tap.halfulp('report', 'out', *option)
    tap.ok(ran.returncode == 2 and option[0] in ran.stderr, '%s has no effect: exit 2' % option[0])
ran = tap.halfulp('validate', 'net.onnx', '--data', 'x.npz', '--policy', 'fp16', '--exact', '0', '--report', 'plain')
ran = tap.halfulp('report', 'plain', '--out', 'there', '--json')
plain = svgtext.plain(open('there/index.html').read())
tap.ok(json.loads(ran.stdout) == {'page': 'there/index.html'} and 'No budget was named' in plain
       and 'Nobody looked' in plain and 'The plan' not in plain, 'a page says what nobody asked for')
tap.finish()
