# SPDX-License-Identifier: Apache-2.0
# halfulp figures: what it lists and refuses; then all figures. Each says its formats, uses the gallery's colours alone,
# has texts that can be read in every style, and means what t/reports/gallery_numbers.py computes again. Made again it
# is the same.
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/t/reports']
import gallery_numbers
import paper
import svgtext
import tap
from tap import ok

GNUPLOT = os.environ.get('GNUPLOT') or 'gnuplot'
if not shutil.which(GNUPLOT):
    tap.skip_all('gnuplot is absent')
home = tap.home()


def run(*words):
    p = tap.halfulp('figures', *words, cwd=home)
    return p.returncode, p.stdout, p.stderr


class Figure:
    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.title, self.caption = open(self.path('txt'), encoding='utf-8').read().split('\n')[:2]
        self.quoted = []

    def path(self, end):
        return '%s/%s.%s' % (self.folder, self.name, end)

    def table(self, part=''):
        lines = [line.rstrip('\n').split('\t') for line in open(self.path(part + '.tsv' if part else 'tsv'),
                encoding='utf-8') if not line.startswith('#')]
        return [dict(zip(lines[0], line)) for line in lines[1:]]

    def says(self, words):
        self.quoted.append(words)
        return words in self.title or words in self.caption

    def unchecked(self, held, rows):
        """The sentences of title and caption that no check quotes, nor a row of captions.tsv gives to one."""
        sentences = [self.title] + re.split(r'(?<=\.) (?=[^a-z])', self.caption)
        return [s for s in sentences if not any(w in s or s in w for w in self.quoted) and not any(
            part in s and (check == '-' or any(what.startswith(check) for what in held)) for part, check in rows)]


def digests(folder):
    return {n: hashlib.sha256(open(os.path.join(folder, n), 'rb').read()).hexdigest()
            for n in sorted(os.listdir(folder))}


# --- the list, and what is refused
rows = re.findall(r'^PICTURE\("([^"]+)", "([^"]+)"\)', open(TOP + '/reports/gallery/gallery.def',
        encoding='utf-8').read(), re.M)
names = [name for name, _ in rows]
code, out, err = run('--list')
ok(code == 0 and [line.split(None, 1) for line in out.splitlines()] == [list(r) for r in rows],
        '--list: the rows of gallery.def', out)
scripts = sorted(n[:-3] for n in os.listdir(TOP + '/reports/gallery') if n.endswith('.gp') and n != 'gallery-style.gp')
ok(scripts == sorted(names), 'a script for every row, and a row for every script', str(set(scripts) ^ set(names)))
for words, what in ((['swamped-adend', '--out', 'x'], 'did you mean swamped-addend'),
    (['zzz', '--out', 'x'], '--list names them'), ([], 'where to?'),
                    (['--out', 'x', '--style', 'blue'], 'none of print, dark, talk'),
                        (['--out', 'x', '--format', 'gif'], "'gif' is none of"),
                            (['--list', '--out', 'x'], '--out has no effect'),
                                (['--out', 'x', '--width', 'wide', '--format', 'pdf'], 'page (169 mm) or column'),
                                    (['--out', 'x', '--width', 'column'], '--width has no effect')):
    code, out, err = run(*words)
    ok(code == 2 and not out and err.count('\n') == 1 and what in err and os.listdir(home) == [],
            '%s: exit 2, one line, nothing written' % ' '.join(words), err)
open(home + '/file', 'w').close()
code, out, err = run('swamped-addend', '--out', 'file')
ok(code == 4 and err.count('\n') == 1, 'a file in the place of the folder: exit 4', err)

captions = [line.rstrip('\n').split('\t') for line in open(TOP + '/t/reports/captions.tsv', encoding='utf-8')
        if not line.startswith('#')]
DRAWN = 11                                       # sentences that only say what is drawn; this number only goes down
ok(sum(r[2] == '-' for r in captions) <= DRAWN and all(len(r) == 3 and r[0] in names for r in captions),
        'at most %d sentences of captions have no check' % DRAWN)

# --- all of them
start = time.time()
code, out, err = run('--out', 'all', '--format', 'svg')
took = time.time() - start
ok(code == 0 and out == 'all/index.html: %d figures\n' % len(rows) and not err, 'all figures are made', out + err)
if code:
    tap.finish()
print('# in %.1f s' % took)
ok(not [n for n in os.listdir(home + '/all') if n.startswith('.')], 'nothing is left of what was on the way')
page = open(home + '/all/index.html', encoding='utf-8').read()
ok(not re.search(r'<script|<link|https?://(?!www.w3)', page) and page.count('<figure>') == len(rows)
        and page.count('alt="') == 2 * len(rows), 'the page has them all, with words for each, and fetches nothing')
style = open(TOP + '/reports/gallery/gallery-style.gp', encoding='utf-8').read()
palette = {c.upper() for c in re.findall(r'#[0-9A-Fa-f]{6}', style)} | {'#000000', '#FFFFFF'}
for name in names:
    g = Figure(name, home + '/all')
    source = open('%s/reports/gallery/%s.gp' % (TOP, name), encoding='utf-8').read()
    wrong, texts = svgtext.faults(g.path('svg'), 8 / 0.75)
    ok(not wrong and texts > 4, '%s: %d texts, each to be read' % (name, texts), wrong)
    strange = svgtext.colours(g.path('svg')) - palette
    ok(not strange, '%s: no colour but the gallery\'s' % name, str(strange))
    words = g.title + ' ' + ' '.join(t.words for t in svgtext.read(g.path('svg'))[1])
    ok(re.search(r'fp\d|bf16|e\dm\d|float|mx|int|formats|tc:|Tensor|tensor', words) is not None,
            '%s: its image names formats' % name, words)
    ok(len(g.title) <= 80 and len(g.caption) > 80 and '{' not in g.title + g.caption and g.caption.endswith('.'),
            '%s: a title and a caption' % name, g.title + '\n# ' + g.caption)
    ok('missing NaN' not in source and 'smooth' not in source, '%s: no gap is bridged' % name)
    ok(g.title in html.unescape(page), '%s: the page says its title' % name)
    drawing = open(g.path('svg'), encoding='utf-8').read()
    ok(html.unescape(re.search('<title>(.*?)</title>', drawing)[1]) == g.title, '%s: and so does the picture' % name)
    ok(not re.search(r'(?<![\w^])-\d', g.title + ' ' + g.caption), '%s: and so in its texts' % name, g.caption)
    hyphens = re.findall(r'<text><tspan[^>]*>([^<]*(?:^|[ ^])-\d[^<]*)</tspan>|>(-\d[\d.]*)<', drawing)
    ok(not hyphens, '%s: numbers below 0 have a minus sign' % name, str(hyphens))
    ok('href="#%s"><img src="%s.svg"' % (name, name) in page, '%s: its thumbnail leads to it' % name)
    check = getattr(gallery_numbers, name.replace('-', '_'), None)
    if not check:
        ok(False, '%s: nothing computes its numbers again; write %s() in t/reports/gallery_numbers.py' % (name,
                name.replace('-', '_')))
        continue
    held = []
    for holds, what in check(g):
        ok(holds, '%s: %s' % (name, what), [g.title, g.caption])
        held.append(what)
    given = [r[1:] for r in captions if r[0] == name]
    tap.none(g.unchecked(held, given), '%s: a check quotes each sentence, or captions.tsv names it' % name)
    tap.none([part for part, _ in given if part not in g.title + ' ' + g.caption], '%s: and none that is gone' % name)

# --- the other styles, from the same data: texts stand alike in all, so half of the figures are drawn in each
for half, style in enumerate(('dark', 'talk')):
    shutil.copytree(home + '/all', home + '/' + style)
    for name in names[half::2]:
        p = subprocess.run([GNUPLOT, '-d', '-e', "style = '%s'; formats = 'svg'" % style, name + '.gp'],
                cwd=home + '/' + style, capture_output=True, text=True)
        wrong, texts = svgtext.faults('%s/%s/%s.svg' % (home, style, name), 16 / 0.75 if style == 'talk' else 8 / 0.75)
        ok(p.returncode == 0 and not wrong, '%s in style %s' % (name, style), wrong + [p.stderr])

# --- in a column of a paper: no title, text of 7 pt in a PDF 84 mm wide, and no text upon another
shutil.copytree(home + '/all', home + '/narrow')
for name in names:
    p = subprocess.run([GNUPLOT, '-d', '-e', "narrow = 1; formats = 'svg'", name + '.gp'], cwd=home + '/narrow',
            capture_output=True, text=True)
    (across, _), texts = svgtext.read('%s/narrow/%s.svg' % (home, name))
    wrong, _ = svgtext.faults('%s/narrow/%s.svg' % (home, name), 11)
    title = [t.words for t in texts if len(t.words) > 20 and t.words in Figure(name, home + '/all').title]
    ok(p.returncode == 0 and across == 440 and len(texts) > 4 and not wrong and not title,
            '%s in a column: %d texts, each to be read' % (name, len(texts)), wrong + title + [p.stderr])
code, out, err = run('adam-epsilon', 'number-line', '--width', 'column', '--format', 'tex', '--out', 'column')
wide, _ = svgtext.read(home + '/column/number-line.svg')
for name in ('adam-epsilon', 'number-line') if ok(code == 0 and wide[0] == 640, '--width column', err) else ():
    across, letters = paper.read('%s/column/%s.pdf' % (home, name))
    ok(abs(across - 84) < 0.5 and set(letters) and 5.5 < min(letters) and 7 <= max(letters) < 7.1,
            '%s.pdf is %.1f mm wide and its text has 7 pt' % (name, across), sorted(set(letters)))
    tex = open('%s/column/%s.tex' % (home, name), encoding='utf-8').read()
    ok('\\begin{figure}\n' in tex and 'width=\\linewidth' in tex, '%s.tex is as wide as a column' % name, tex)
ok('halfulp figures adam-epsilon number-line --format tex --width column --out DIR' in
        open(home + '/column/index.html', encoding='utf-8').read(), 'the page has the line that made it')
code, out, err = run('number-line', '--format', 'tex', '--out', 'page')
across, _ = paper.read(home + '/page/number-line.pdf')
ok(abs(across - 169.3) < 0.5 and '\\begin{figure*}' in open(home + '/page/number-line.tex').read(),
        'without it a figure is as wide as a page', [across, err])
# \input finds the picture from any folder, and so does the package import
if shutil.which('pdflatex'):
    os.mkdir(home + '/text')
    for where, given in (('.', 'column/'), ('text', '../column/'), ('text', home + '/column/'), ('column', '')):
        with open('%s/%s/main.tex' % (home, where), 'w', encoding='utf-8') as f:
            f.write('\\documentclass{article}\\usepackage{graphicx,import}\\begin{document}\\input{%snumber-line}'
                    '\\import{%s}{number-line}\\end{document}' % (given, given or './'))
        p = subprocess.run(['pdflatex', '-interaction=nonstopmode', '-halt-on-error', 'main.tex'],
                cwd=os.path.join(home, where), stdin=subprocess.DEVNULL, capture_output=True)
        ok(p.returncode == 0 and b'Output written' in p.stdout, '\\input{%snumber-line} in %s' % (given, where),
                p.stdout.decode(errors='replace')[-300:])
else:
    tap.skip('\\input from any folder', 'pdflatex is absent')

# --- made again
some = [n for n in names if n in ('swamped-addend', 'stochastic-fan', 'loss-scale-sawtooth', 'bit-layouts',
    'product-accumulators')]
code, out, err = run(*some, '--out', 'again', '--format', 'svg')
first, second = digests(home + '/all'), digests(home + '/again')
del second['index.html']
ok(code == 0 and len(second) >= 4 * len(some) == 20 and all(first[n] == d for n, d in second.items()),
        'some made again: equal data and drawings', [n for n, d in second.items() if first[n] != d])

# --- the page in doc/gallery, which `make gallery` makes: the same titles and captions, and drawings where it is the
# same gnuplot
def said(text):
    return re.findall(r'<h2>.*?</h2>|<figcaption>.*?</figcaption>', text, re.S)


ok(page.index('<nav>') < page.index('<section') and 'prefers-color-scheme: dark' in page and 'max-width: 480px' in page,
        'thumbnails come first, and the page has a dark mode and narrow screens in mind')
shown = open(TOP + '/doc/gallery/index.html', encoding='utf-8').read()
ok(said(shown) == said(page), 'doc/gallery says the same; make gallery writes it anew', [a + ' but ' + b for a,
        b in zip(said(shown), said(page)) if a != b])
drawn = {n: open('%s/doc/gallery/%s.svg' % (TOP, n), encoding='utf-8').read() for n in names}
version = re.search(r'GNUPLOT [^<]*', drawn[names[0]])[0]
if version in open('%s/all/%s.svg' % (home, names[0]), encoding='utf-8').read():
    tap.none([n for n in names if drawn[n] != open('%s/all/%s.svg' % (home, n), encoding='utf-8').read()],
            'and shows the same')
else:
    tap.skip('doc/gallery shows the same', 'it was drawn by ' + version)
ok(not re.search(r'\.(tsv|gp|txt)"', shown) and sorted(os.listdir(TOP + '/doc/gallery')) == sorted([n + '.svg'
        for n in names] + ['index.html', 'local.mk']), 'it has pictures alone')
tap.finish()
