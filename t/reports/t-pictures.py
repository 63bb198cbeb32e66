# SPDX-License-Identifier: Apache-2.0
# Pictures of commands (-o FILE.svg and its like): every command of pictures.def draws; texts can be read and colours are the
# gallery's; the message says what the command's own JSON says, computed here again; and what is refused leaves nothing.
import heapq
import json
import math
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import npzfile
import svgtext
import tap
from tap import none, ok

if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    tap.skip_all('gnuplot is absent')
home = tap.home()
os.environ['TMPDIR'] = home + '/tmp'
os.mkdir(home + '/tmp')
views = re.findall(r'^VIEW\("([^"]+)", "([^"]+)"\)', open(TOP + '/reports/pictures/pictures.def').read(), re.M)
palette = {c.upper() for n in ('gallery/gallery-style', 'pictures/picture-style')
        for c in re.findall(r'#[0-9A-Fa-f]{6}', open('%s/reports/%s.gp' % (TOP, n)).read())} | {'#000000', '#FFFFFF'}


def run(line):
    p = tap.halfulp(*line.split(), cwd=home)
    return p.returncode, p.stdout, p.stderr


def number(text):
    """A number as the pictures say it: 2.84·10⁻⁴, 65 536, 10⁻³."""
    text = text.replace('\u202f', '').replace('\u2009', '').replace(' ', '').replace('−', '-')
    m = re.fullmatch(r'(-?[\d.]*)·?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)', text)
    if not m:
        return float(text)
    return float(m[1] or 1) * 10.0 ** int(''.join('-0123456789'['⁻⁰¹²³⁴⁵⁶⁷⁸⁹'.index(c)] for c in m[2]))


def near(text, value):
    return math.isclose(number(text), value, rel_tol=6e-3)


# --- what messages must say, from the rows of the same line with --json
def accumulate(title, rows):
    stops = [r for r in rows if r['stagnation_term']]
    first = min((r['stagnation_term'] for r in stops), default=None)
    m = re.fullmatch(r'(\S+) (\S+): the sum stops at term (.+), at (\S+)', title)
    # circles stand over the first swamped terms: the axis of n has 14 powers of two from pixel 74 to 620
    circles = sorted(float(x) for x in re.findall(r"gpPt5' transform='translate\(([0-9.]+),", open(home + '/p.svg').read()))
    terms = sorted({(r['format'], r['sum']): r['first_swamped'] for r in rows if r['first_swamped']}.values())
    if len(terms) != 4 or any(abs(x - 74 - 39 * math.log2(n)) > 1.5 for x, n in zip(circles, terms)):
        return False
    return m is not None and len(circles) == 4 and any(number(m[3]) == first == r['stagnation_term'] and near(
        m[4], r['stagnation_value']) and r['format'] == m[1] for r in stops)


def spread(title, rows):
    """The lines are means over the seeds; the bands' corners are the least and the largest, on one scale of pixels."""
    at = {}
    for r in rows:
        at.setdefault((r['sum'], r['n']), []).append(r['backward'])
    mean = {s: sum(at[s, 1024]) / len(at[s, 1024]) for s in {s for s, _ in at}}
    m = re.fullmatch(r'On average over 6 seeds \S+ (\S+) is off by (\S+) of the terms’ magnitudes, \S+ (\S+) by (\S+)',
            title)
    if not m or len(rows) != 6 * len(at) or not near(m[2], mean[m[1]]) or not near(m[4], mean[m[3]]):
        return False
    svg = open(home + '/p.svg').read()
    bands = re.findall(r"fill-opacity = '0.2\d*' points = '([^']*)'", svg)
    corners = [tuple(map(float, c.split(','))) for p in bands for c in p.split()]
    ends = [(math.log2(n), math.log(e)) for (s, n), es in at.items() for e in (min(es), max(es)) if n > 1 and e]
    # a pixel is a + b log(error): so of the two furthest corners on the right, then of all
    x1 = max(x for x, _ in corners)
    right = sorted({y for x, y in corners if x > x1 - 1})
    top = [max(max(at[s, 1024]) for s in mean), min(min(at[s, 1024]) for s in mean)]
    b = (right[-1] - right[0]) / (math.log(top[1]) - math.log(top[0]))
    step = (x1 - min(x for x, _ in corners)) / 9    # from n = 2, since no error is below
    return len(ends) > 30 and all(any(abs(y - right[0] - b * (e - math.log(top[0]))) < 0.1
        and abs(x - x1 - (lg - 10) * step) < 1 for x, y in corners) for lg, e in ends)


def lengths(title, rows):
    m = re.search(r'off by (.+) of the terms’ magnitudes$', title)
    return m is not None and near(m[1], [r for r in rows if r['length'] == 64][-1]['backward'])


def over_ranks(title, rows):
    """At the most ranks; an axis of ranks; a dotted line for each sum, whose bound is its own."""
    last = {'%s %s' % (r['format'], re.sub(':[^,]*', '', r['sum'])): r['backward'] for r in rows if r['length'] == 64}
    m = re.fullmatch(r'Over 64 ranks (\S+ \S+) is off by (\S+) of the terms’ magnitudes, (\S+ \S+) by (\S+)', title)
    svg = open(home + '/p.svg').read()
    dotted = set(re.findall(r"<path stroke='([^']*)' stroke-dasharray='1.0,", svg))
    return (m is not None and near(m[2], last[m[1]]) and near(m[4], last[m[3]]) and last[m[1]] == max(last.values())
        and last[m[3]] == min(last.values()) and '>ranks N<' in svg and len(dotted) == len(last))


def overflown(title, rows):
    svg = open(home + '/p.svg').read()
    return (all(r['overflowed'] for r in rows) and title == '%s, %s breaks at 2 ranks, by overflow' % (
        rows[0]['order'], rows[0]['wire']) and '>no sum is finite<' in svg)


def reduced(title, rows):
    broken = min(((r['ranks'], r['order'], r['wire']) for r in rows if r['broken']), default=None)
    whole = {(r['order'], r['wire']) for r in rows} - {(r['order'], r['wire']) for r in rows if r['broken']}
    m = re.fullmatch(r'(\S+), (\S+) breaks at (.+) ranks; (\S+), (\S+) holds up to (.+)', title)
    return m is not None and number(m[3]) == broken[0] and (m[4], m[5]) in whole and number(m[6]) == max(
            r['ranks'] for r in rows) and any(r['ranks'] == broken[0] and r['broken'] and (r['order'], r['wire']) == (m[1], m[2]) for r in rows)


def unfit(title, rows):
    return all(r['nonfinite'] for r in rows) and title == '%s, %s breaks at 2 ranks, as gradients are not finite' % (
            rows[0]['order'], rows[0]['wire'])


def values(title, rows):
    far = max((abs(r['value'] - float(r['exact'])) / float(r['exact']), r['format']) for r in rows)
    m = re.search(r'^\S+ in (\S+) is .*: off by (.+) of itself', title)
    return m is not None and near(m[2], far[0]) and m[1] == far[1]


def several(title, rows):
    spans = {r['name']: math.log2(r['max_finite']) - math.log2(r['min_positive']) for r in rows}
    m = re.fullmatch(r'(\S+) spans (\d+) powers of two, (\S+) has (\d+) significant bits', title)
    return m is not None and m[1] == max(spans, key=spans.get) and round(spans[m[1]]) == int(m[2]) and int(m[4]) == max(
            r['p'] for r in rows)


def rounded(title, rows):
    far = max((min(r['error_ulps'] % 1, 1) if r['error_ulps'] else 0, r['input'], r['format']) for r in rows)
    m = re.fullmatch(r'(\S+) in (\S+) becomes (\S+): (\S+) of the gap off', title)
    return m is not None and near(m[4], round(far[0], 2)) and (m[1], m[2]) == far[1:]


def inspected(title, rows):
    low = min(r['sqnr_db'] for r in rows if isinstance(r['sqnr_db'], float))
    worst = {(r['tensor'], r['to']) for r in rows if r['sqnr_db'] == low}
    m = re.fullmatch(r'(\S+) loses most in (\S+): (\S+) dB, a relative error of (.+)', title)
    return m is not None and (m[1], m[2]) in worst and abs(float(m[3]) - low) < 0.06 and near(m[4], 10 ** (-low / 20))


def files(title, j):
    differ = [r for r in j['rows'] if r.get('l2')]
    far = max(differ, key=lambda r: r['l2'])
    return title.startswith('%d of %d tensors differ, %s most: by ' % (len(differ), len(j['rows']), far['name'])) and near(
            re.search(r'by (\S+) of itself', title)[1], far['l2'])


def runs(title, j):
    first, far = j['tensors'][0], max(j['tensors'], key=lambda r: r['ulps'])
    m = re.fullmatch(r'The runs diverge at step (\d+), (\S+), by (.+) ulps; farthest apart is (\S+)', title)
    return m is not None and (int(m[1]), m[2], m[4]) == (first['step'], first['tensor'], far['tensor']) and near(m[3],
            first['ulps'])


def shortest(x):
    return repr(x) if x % 1 else '%d' % x


def compared(title, rows):
    worst = min(rows, key=lambda r: r['accuracy']['mean'])
    if worst['lr'] is not None:  # where rates differ, the difference at one of them counts
        worst = min(rows, key=lambda r: r['accuracy']['difference'])
        worst = dict(worst, policy='%s, lr %s' % (worst['policy'], shortest(worst['lr'])))
    less = 100 * worst['accuracy']['difference']
    return title == ('%s is %.2g points of accuracy below %s' % (worst['policy'], -less, rows[0]['policy']) if less < 0
            else 'No policy is below ' + rows[0]['policy'])


def trees(title, rows):
    return title == '%d sums follow %d orders' % (len(rows), len({r['hash'] for r in rows if r.get('hash')}))


def probed(title, j):
    return title == '%s adds %d products at once and keeps %d extra bits' % (j['model'], j['products in a block'],
            j['extra alignment bits'])


def scheduled(title, rows):
    """Units dealt the largest first, each to who has the least, from the part's own seconds."""
    took = [float(x.split('\t')[2]) for x in open(home + '/p.part') if x[0] not in '#u']
    good, ends = 1, {}
    for n in (2**k for k in range(11)):
        loads = [0.0] * n
        for x in sorted(took, reverse=True):
            heapq.heapreplace(loads, loads[0] + x)
        ends[n] = max(loads)
        good = n if sum(took) / n / ends[n] >= 0.9 else good
    least = min(n for n in ends if ends[n] <= min(ends.values()) * (1 + 1e-9))
    m = re.fullmatch(r'(\S+) process(?:es are| is) 90 % efficient; more than (\S+) gain nothing', title)
    return m and (number(m[1]), number(m[2])) == (good, least) and len(rows) == 11


def timed(title, rows):     # times differ from run to run: the sentence alone
    return re.search(r'\d', title) is not None or title.startswith('All take')


for name, more in (('a', ''), ('b', ' --seed 2')):
    run('train --data size=8,train=48,eval=16 --batch 16 --model width=0.05 --steps 2 --trace steps=0 --quiet %s%s' % (name, more))
run('analyze --shard 1/1:part=p.part a')
run('train --data size=8,train=48,eval=16 --batch 16 --model width=0.05 --steps 1 --trace steps=0 --quiet --policy mixed_float16 --loss-scale dynamic '
        '--loss-scale init=2^60 skipped')
W = 'checkpoint/step-000002.safetensors'
small = '--data size=8,train=48,eval=16 --batch 16 --model width=0.05'
lines = [
    ('accumulate', 'accumulate --terms uniform:0,1 --n 16384 --format fp16,bf16 --sum fma --sum kahan', '--table', accumulate),
    ('accumulate', 'accumulate --terms uniform:0,1 --n 4096 --format fp16 --sum chunk:1..64', '--table', lengths),
    ('accumulate', 'accumulate --terms uniform:0,1 --n 64 --format bf16 --sum ring:2..64 --sum tree:2..64', '--table',
        over_ranks),
    ('accumulate', 'accumulate --terms uniform:0,1 --n 1024 --format bf16 --sum fma,mode=SR --sum kahan --seeds 6',
        '--table', spread),
    ('allreduce', 'allreduce a b --ranks 2..1024 --all-reduce wire=bf16,e4m3', '', reduced),
    ('allreduce', 'allreduce skipped --ranks 2..8 --all-reduce wire=fp16,bf16 --all-reduce tree', '', unfit),
    ('allreduce', 'allreduce a b --ranks 2..8 --all-reduce wire=e4m3 --all-reduce scale=2^60', '', overflown),
    ('formats-values', 'formats', '', values),
    ('formats-map', 'formats fp32 fp16 bf16 e4m3 mxfp4', '', lambda t, rows: several(t, [r for r in rows if 'p' in r])),
    ('round', 'round 1.03 0.1 --format fp16,e4m3', '', rounded),
    ('inspect', 'inspect a/%s --to fp16,e4m3' % W, '', inspected),
    ('diff-files', 'diff a/%s b/%s' % (W, W), '--all', files),
    ('diff-runs', 'diff a b', '--all', runs),
    ('compare', 'compare %s --policy float32,float16 --steps 8' % small, '', compared),
    ('compare', 'compare %s --policy float32,float16 --optimizer lr=0.001,100 --steps 8' % small, '', compared),
    ('merge', 'merge --list p.part', '', scheduled),
    ('tree', 'tree --n 8 --backend cpu --op matmul', '--full', trees),
    ('probe', 'probe --model tc:volta', '', probed),
    ('bench-why', 'bench why %s --steps 1' % small.replace(',train=48,eval=16', ''), '', timed),
    ('bench-train', 'bench train %s --steps 1' % small.replace(',train=48,eval=16', ''), '', timed),
    ('bench-gemm', 'bench gemm --sizes 16 --trials 1 --format fp32', '', timed),
    ('bench-cast', 'bench cast --sizes 1 --trials 1 --no-python --format fp16 --backend simd=scalar --op round', '',
        timed),
]
none(sorted({s for _, s in views} - {s for s, *_ in lines}), 'every view is drawn below')
for script, line, more, check in lines:
    code, out, err = run(line + ' -o p.svg --json ' + more)
    svg = home + '/p.svg'
    drawn = os.path.exists(svg) and open(svg, encoding='utf-8').read()
    if not ok(code in (0, 1) and drawn, line + ' -o p.svg', [err]):
        continue
    rows = json.loads(out)
    code, out, err = run(line + ' -o q.svg')
    first, _, said = out.partition('\n')
    title = said.split('. ' + open('%s/reports/pictures/%s.gp' % (TOP, script)).read().split('\n# caption: ')[1][:10])[0]
    ok(first == 'q.svg' and check(title, rows), 'it says: ' + title, [said])
    wrong, texts = svgtext.faults(svg, 8 / 0.75)
    ok(not wrong and texts > 4, '%d texts, each to be read' % texts, wrong)
    none(sorted(svgtext.colours(svg) - palette), 'the gallery\'s colours alone')
    os.remove(svg)
    run(line + ' -o p.svg --width 84mm')
    wrong, texts = svgtext.faults(svg, 8 / 0.75)
    ok(not wrong and texts > 4 and svgtext.read(svg)[0][0] == 317, 'in a column of 84 mm: %d texts' % texts, wrong)
    os.remove(svg)

# --- axes over many powers, and names of any length: names of one to four letters are whole, tics apart
for digits in 1, 2, 3, 4:
    names = ['%s%d' % ('abcd'[: digits - 1], i) for i in range(8)]
    npzfile.npz(home + '/one.npz', **{n: ((4,), [1.0, 2.0, 3.0, 4.0]) for n in names})
    npzfile.npz(home + '/two.npz', **{n: ((4,), [1.0 + 10.0 ** (i - 7), 2.0, 3.0, 4.0]) for i, n in enumerate(names)})
    run('diff one.npz two.npz -o p.svg --width 84mm')
    wrong, texts = svgtext.faults(svg, 8 / 0.75)
    words = [t.words for t in svgtext.read(svg)[1]]
    tics = [w for w in words if re.fullmatch(r'10[^.]*', w)]
    ok(not wrong and not set(names) - set(words) and len(tics) > 2,
       'differences from 10⁻⁷ to 1, names of %d letters' % digits, [wrong, words])
with open(home + '/gnuplot', 'w') as f: # sets times of the table that it is given, then draws
    f.write('''#!/bin/sh
test ! -f bench-cast.tsv || awk -F'\\t' -v OFS='\\t' '/^#/ { print; next } !c { for (i = 1; i <= NF; i++) if ($i == "memcpy") c = i; print; next }
	{ $c = n++ % 2 ? ENVIRON["SLOW"] : ENVIRON["FAST"]; print }' bench-cast.tsv >set.tsv && { test ! -f set.tsv || mv set.tsv bench-cast.tsv; }
exec ''' + (os.environ.get('GNUPLOT') or 'gnuplot') + ' "$@"\n')
os.chmod(home + '/gnuplot', 0o755)
was = os.environ.get('GNUPLOT')
for fast, slow in ('0.9', '1.1'), ('0.5', '80'), ('0.004', '300'), ('1e-6', '1e6'):
    os.environ.update(GNUPLOT=home + '/gnuplot', FAST=fast, SLOW=slow)
    run('bench cast --sizes 1 --trials 1 --no-python --format fp16 --backend simd=scalar -o p.svg --width 84mm')
    wrong, texts = svgtext.faults(svg, 8 / 0.75)
    words = [t.words for t in svgtext.read(svg)[1]]
    tics = [w for w in words if re.fullmatch(r'[0-9.]+|2[-−0-9]+', w)]
    ok(not wrong and len(tics) > 1, 'times from %s to %s of a copy' % (fast, slow), [wrong, words])
del os.environ['GNUPLOT']
if was:
    os.environ['GNUPLOT'] = was

# --- the other files, styles and sizes, of every command
for command in sorted({c for c, _ in views}):
    line = next(l for _, l, *_ in lines if l.split()[0] == command and not l.startswith('bench train'))
    code, out, err = run(line + ' -o o.svg -o o.png -o sub_1.pdf -o sub_1.tex --style dark --width 90x70mm')
    names = ['o.svg', 'o.png', 'sub_1.pdf', 'sub_1.tex']
    heads = [open(home + '/' + n, 'rb').read(5) if os.path.exists(home + '/' + n) else b'' for n in names]
    ok(heads == [b'<?xml', b'\x89PNG\r', b'%PDF-', b'% nee'], command + ': svg, png, pdf and tex', [err, heads])
    text = open(home + '/o.svg').read() if heads[0] else ''
    size = re.search(r'viewBox="0 0 340 (\d+)"', text) # a picture of rows is as high as these need
    ok(size and int(size[1]) >= 265 and '#15171A' in text.upper(), command + ': --width and --style', [text[:300]])
    tex = open(home + '/sub_1.tex', encoding='utf-8').read() if heads[3] else ''
    framed = '\\includegraphics[width=\\linewidth,' in tex and 'keepaspectratio]{\\halfulpfolder sub_1.pdf}' in tex
    ok(framed and not set(re.sub('[ -~\\n’…–é]', '', tex)),
            command + ': the LaTeX figure names its picture, in letters that LaTeX has', sorted(set(re.sub('[ -~\\n]', '', tex))))
code, out, err = run('accumulate --n 100 -o only.pdf')
ok(code == 0 and open(home + '/only.pdf', 'rb').read(5) == b'%PDF-' and not os.path.exists(home + '/only.svg'), '-o FILE.pdf alone', [err])

# --- refused
for line, why, code in (('round 1 --style dark', '--style has no effect without -o FILE.svg', 2), ('round 1 -o x.svg --style pale', 'none of print, dark, talk', 2),
        ('round 1 -o x.svg --width 5x5', 'WIDTHxHEIGHT', 2), ('round 1 -o x.svg --width 300x300cm', 'WIDTHxHEIGHT', 2), ('round 1 -o rows=x.pdf', 'leave it out', 2), ('calc 1 -o x.png', 'calc has no picture', 2),
        ('round 1 -o nowhere/x.svg', 'nowhere/x.svg', 4), ('round wrong+ -o x.svg', 'wrong+', 2), ('formats int8 -o x.svg', 'no block format', 4),
        ('inspect none.npy -o x.svg', 'none.npy', 3)):
    got, out, err = run(line)
    ok(got == code and why in err and err.count('\n') == 1 and not os.path.exists(home + '/x.svg'), 'refused: ' + line, [got, out, err])
none(os.listdir(home + '/tmp'), 'nothing is left in TMPDIR')
tap.finish()
