# SPDX-License-Identifier: Apache-2.0
# The pages of reports and of the gallery, read as text: every colour of text has the contrast of WCAG AA to what it
# stands on, in both schemes and in print; all that can be used is reached by the keyboard; nothing is fetched. Where
# Chromium is, it has no word on its console, and prints a report on ten pages. A report of many runs stays short.
import html.parser
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool']
import tap
from tap import none, ok

home = tap.home()


# --- contrast (WCAG 2.2, 1.4.3), from the style sheets
def luminance(colour):
    colour = colour.lstrip('#')
    colour = ''.join(c * 2 for c in colour) if len(colour) == 3 else colour
    parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for w, c in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def variables(text):
    return dict(re.findall(r'--(\w+): (#[0-9a-fA-F]{3,6})\b', text))


def rules(css):
    """(selector, declarations) of every rule, those in media queries too."""
    return re.findall(r'([^{}]+)\{([^{}]*)\}', re.sub(r'/\*.*?\*/', '', re.sub(r'@media[^{]*\{', '', css), flags=re.S))


def faults(css, scheme):
    """Texts whose colour is too near to a ground that they may stand on."""
    wrong, used = [], 0
    for selector, body in rules(css):
        text = re.search(r'(?<![-\w])color: ?var\(--(\w+)\)', body)
        own = re.search(r'background(?:-color)?: ?var\(--(\w+)\)', body)
        if not text:
            continue
        used += 1
        for ground in [own[1]] if own else ['paper', 'panel']:
            c = contrast(scheme[text[1]], scheme[ground])
            if c < 4.5:
                wrong.append('%s: %s on %s, %.2f' % (selector.strip(), text[1], ground, c))
    plain = [(s.strip(), b) for s, b in rules(css) if re.search(r'(?<![-\w])color: ?#', b)]
    return wrong + ['%s has a colour that no scheme changes' % s for s, _ in plain], used


report = open(TOP + '/reports/page/page.css').read()
gallery = open(TOP + '/reports/gallery/gallery.css').read()
light = variables(report[:report.index('@media')])
dark = {**light, **variables(re.search(r'prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}', report, re.S)[1])}
paper = {**light, **variables(re.search(r'@media print \{\s*:root \{(.*?)\}', report, re.S)[1])}
gallery_light = variables(re.search(r':root \{(.*?)\}', gallery)[1])
gallery_dark = {**gallery_light, **variables(re.search(r'\.dark \{(.*?)\}', gallery)[1])}
for name, css, scheme in (('report, light', report, light), ('report, dark', report, dark),
        ('report, print', report, paper),
        ('gallery, light', gallery, gallery_light), ('gallery, dark', gallery, gallery_dark)):
    wrong, used = faults(css, scheme)
    ok(not wrong and used >= 4, '%s: %d rules with a contrast of 4.5 at least' % (name, used), wrong)
ok(luminance(light['paper']) > 0.8 > 0.05 > luminance(dark['paper']) and luminance(gallery_dark['paper']) < 0.05,
   'dark is dark and light is light')
shown = open(TOP + '/doc/gallery/index.html', encoding='utf-8').read()
ok('<style>\n%s</style>' % gallery in shown,
   'doc/gallery has the style sheet of reports/gallery; make gallery copies it')


# --- the page of a report
class Page(html.parser.HTMLParser):
    """What a page refers to, and its elements that are used with a hand or a key."""
    def __init__(self, text):
        super().__init__()
        self.fetched, self.mute, self.labels, self.inputs, self.tags, self.legends = [], [], set(), set(), {}, []
        self.policy = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for k in ('src', 'srcset', 'data', 'poster', 'action', 'background'):
            if k in a and not (a[k] or '').startswith('data:'):
                self.fetched.append('%s %s=%s' % (tag, k, a[k]))
        if tag in ('link', 'iframe', 'object', 'embed', 'base') or any(k.startswith('on') for k in a):
            self.fetched.append(tag)
        if tag == 'script' and a:
            self.fetched.append('script with %s' % ' '.join(a))
        if a.get('http-equiv') == 'Content-Security-Policy':
            self.policy = a['content']
        if tag == 'a' and not a.get('href') or tag == 'a' and re.match('(https?:)?//', a.get('href') or ''):
            self.fetched.append('a href=%s' % a.get('href'))
        if tag == 'img' and not a.get('alt'):
            self.mute.append('img without words')
        if tag == 'input':
            self.inputs.add(a.get('id'))
            if a.get('tabindex') == '-1' or a.get('type') != 'radio' or 'disabled' in a:
                self.mute.append('input %s' % a.get('id'))
        if tag == 'label':
            self.labels.add(a.get('for'))
        if tag == 'div' and a.get('class') == 'scroll' and a.get('tabindex') != '0':
            self.mute.append('a part that scrolls cannot be reached')


if not shutil.which(os.environ.get('GNUPLOT') or 'gnuplot'):
    tap.skip('the page of a report', 'gnuplot is absent')
    tap.finish()
runs = []
for i in range(8):
    runs.append('r%d' % i)
    verdict = 'fatal' if i == 5 else 'harmless' if i == 6 else 'costs'
    subprocess.run([sys.executable, '-B', TOP + '/t/reports/make-sample-run.py', home + '/r%d' % i,
        '--seed', str(i + 1), '--steps', '20', '--traced', '2', '--layers', '2', '--verdict', verdict], check=True)
pages = {}
for n in (2, 8):
    p = tap.halfulp('report', *runs[:n], '--format', 'svg', '--out', 'of%d' % n, cwd=home)
    text = pages[n] = open('%s/of%d/index.html' % (home, n), encoding='utf-8').read()
    page = Page(text)
    none([p.stderr] * (p.returncode != 0) + page.fetched + page.mute,
         '%d runs: nothing is fetched, pictures have words' % n)
    ok(page.policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
       and page.tags['script'] == 1, '%d runs: the page forbids a browser to fetch anything' % n, page.policy)
    ok(page.inputs == page.labels and len(page.inputs) >= n and '.tabs input:focus-visible' in text
       and 'display: none' not in re.search(r'\n\.tabs input \{[^}]*', text)[0],
       '%d runs: every tab has a label, takes the focus and shows it' % n)
    legends = re.findall(r'<ul class="legend">(.*?)</ul>', text)
    all_runs = sorted('run-%d">r%d' % (i % 8 + 1, i) for i in range(n))
    ok(len(legends) >= 2 and all(sorted(re.findall(r'<li class="(run-\d">r\d)</li>', x)) == all_runs for x in legends),
       '%d runs: a narrow screen has every entry of a legend as text' % n, legends[:1])
narrow = re.search(r'@media screen and \(max-width: 46rem\) \{.*?\n\}', report, re.S)[0]
ok('.legend { display: flex; }' in narrow and '.legend { display: none' in report, 'and no other screen has')
heads = re.findall(r'<(section|details) class="verdict (\w+)">\s*(?:<h2>|<summary><b>)(\w+): ', pages[8])
ok([h[0] for h in heads] == ['section'] * 3 + ['details'] * 5 and [h[1] for h in heads] == ['fatal'] + ['costs'] * 6 + [
    'harmless'] and heads[0][2] == 'r5' and len({h[2] for h in heads}) == 8,
   'of 8 runs the worst three are told in full', heads)
numbers = re.search(r'from ([\d.]+)\s?% \((r\d)\) to ([\d.]+)\s?% \((r\d)\) of the unseen', pages[8])
last = {}
for r in runs:
    rows = [x.rstrip('\n').split('\t') for x in open('%s/%s/metrics.tsv' % (home, r)) if not x.startswith('#')]
    at = rows[0].index('eval_accuracy')
    last[r] = [float(x[at]) for x in rows[1:] if x[at] not in ('-', 'nan')][-1]
ok(numbers and '%.1f' % (100 * min(last.values())) == numbers[1] and '%.1f' % (100 * max(last.values())) == numbers[3]
   and last[numbers[2]] == min(last.values()) and last[numbers[4]] == max(last.values()),
   'and a foot has the least and the largest number', numbers and numbers[0])
style = open(TOP + '/reports/style.gp').read()
hues = re.findall(r"'(#\w+)'", re.search(r'array hue\[8\] = \[(.*?)\]', style)[1])
looks = {(hues[(i - 1) % 8], (i - 1 + (i - 1) // 8) % 4) for i in range(1, 33)}
ok(len(looks) == 32 and 'pattern(i) = (int(i) - 1 + int((i - 1) / 8)) % 4' in style,
   'no two of 32 runs have colour and dashes in common')

chromium = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
if not chromium:
    tap.skip('a browser has no complaint', 'Chromium is absent')
    tap.finish()
pdf = home + '/page.pdf'
p = subprocess.run([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--enable-logging=stderr', '--v=0',
    '--user-data-dir=' + home + '/profile', '--print-to-pdf=' + pdf, '--no-pdf-header-footer',
    'file://%s/of2/index.html' % home], capture_output=True, text=True, timeout=240)
ok(os.path.exists(pdf) and not re.search(r'CONSOLE|Failed to load|net_error', p.stderr), 'a browser has no complaint',
   re.findall('.*CONSOLE.*', p.stderr))
if not shutil.which('pdftotext'):
    tap.skip('printed', 'pdftotext is absent')
else:
    said = subprocess.run(['pdftotext', '-layout', pdf, '-'], capture_output=True, text=True).stdout.split('\f')[:-1]
    titles = [t for t in re.findall(r'<h2>([^<:]+)</h2>', pages[2])]
    lost = [t for t in titles if not any(t in ' '.join(s.split()) for s in said)]
    last_lines = [[x.strip() for x in s.splitlines() if x.strip()][-1:] for s in said]
    ok(not lost and len(said) <= 10 and not [x for x in last_lines if x and x[0] in titles],
       'printed: %d pages, no title alone at a page\'s end' % len(said), lost)
tap.finish()
