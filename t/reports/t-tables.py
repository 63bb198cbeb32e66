# SPDX-License-Identifier: Apache-2.0
# -o FILE: what it writes as TSV, Markdown and LaTeX is read back here and is what --json prints, cell by cell; rows
# and columns are those chosen; what cannot be written leaves no file; LaTeX compiles where pdflatex is.
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool']
import npzfile
import tap
from tap import none, ok

home = tap.home()
os.environ['TMPDIR'] = home


def run(line):
    p = tap.halfulp(*line.split(), cwd=home)
    return p.returncode, p.stdout, p.stderr


# --- the tables of a JSON text, made here again
def flat(row, prefix=''):
    cells = {}
    for k, v in row.items():
        name = prefix + k.replace(' ', '_')
        if isinstance(v, dict):
            cells.update(flat(v, name + '.'))
        elif not (isinstance(v, list) and v and isinstance(v[0], dict)):
            cells[name] = ','.join(map(str, v)) if isinstance(v, list) else v
    return cells


def table(rows):
    rows = [flat(r) for r in rows]
    names = list(dict.fromkeys(k for r in rows for k in r))
    return [n for n in names if any(r.get(n) not in (None, '-') for r in rows)], rows


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same(got, want):
    """A cell that was read (a text, or None for a missing one) is the value of the JSON."""
    if want is None or want == '-':
        return got is None
    if isinstance(want, (bool, int, float)):
        return number(got) == want
    want = want.replace('\n', '\\n')
    return got == want or (number(want) is not None and number(got) == number(want)) or want == '' and got is None


# --- readers of the three kinds
def read_tsv(text):
    lines = [x.split('\t') for x in text.splitlines() if not x.startswith('# ')]
    return lines[0], [[None if c == '-' else c for c in x] for x in lines[1:]]


def read_md(text):
    def cells(line):
        return [re.sub(r'\\([\\`*\[\]<>|$&~_])', r'\1', c) for c in re.split(r' (?<!\\)\| ?', line[2:])[:-1]]
    lines = [x for x in text.splitlines() if x.startswith('| ')]
    assert set(''.join(cells(lines[1]))) <= set('-:')
    return cells(lines[0]), [[None if c == '–' else c for c in cells(x)] for x in lines[2:]]


def untex(cell):
    m = re.fullmatch(r'\$(-?)\\infty\$', cell)
    if m:
        return m[1] + 'inf'
    cell = re.sub(r'\$(-?[\d.]+) \\times 10\^\{(-?\d+)\}\$', r'\1e\2', cell)
    cell = re.sub(r'^\$(-[\d.]+)\$$', r'\1', cell)
    for a, b in ((r'\textbackslash{}', '\0'), ('-{}', '-'), (r'\^{}', '^'), (r'\~{}', '~'),
            ('$|$', '|'), ('$<$', '<'), ('$>$', '>'),
            (r'$\times$', '×'), ('$-$', '−'), (r'$\cdot$', '·'), (r'$\Sigma$', 'Σ'), (r'$\varepsilon$', 'ε'),
            (r'$\leq$', '≤'),
            (r'$\surd$', '√'), ('$_{1}$', '₁'), (r'$\neq$', '≠'), (r'$\infty$', '∞'),
            (r'$\pm$', '±'), ('$^{-}$', '⁻'),
            ('$^{2}$', '²'), ('$^{4}$', '⁴'), (r'$\to$', '→'), (r'$\pi$', 'π')):
        cell = cell.replace(a, b)
    return re.sub(r'\\([&%$#_{}])', r'\1', cell).replace('\0', '\\')


def read_tex(text):
    lines = [re.split(r' & ', x[:-3]) for x in text.splitlines() if x.endswith(r' \\')]
    spec = re.search(r'\\begin\{(tabular|longtable)\}\{([lr]+)\}', text)
    rules = [text.index('\\%srule' % n) for n in ('top', 'mid', 'bottom')]
    assert len(spec[2]) == len(lines[0]) and rules == sorted(rules)
    return [untex(c) for c in lines[0]], [[None if c == '--' else untex(c) for c in x] for x in lines[1:]]


READERS = {'tsv': read_tsv, 'md': read_md, 'tex': read_tex}
npzfile.npz(home + '/a.npz', w=((4,), [0.1, 1e-6, 70000.0, 1.0]), b=((2,), [1e-9, 3.0]))
LINES = ('accumulate --table --n 200 --sum fma --sum kahan --format fp16,e4m3',
         'round 0.1 1e-9 nan inf -2.5e30 --format fp16,e4m3', 'calc 1/3 --format fp16,bf16', 'formats pi',
         'formats fp16 mxfp4', 'figures --list', 'inspect a.npz --to fp16,int8', 'probe --model tc:hopper ::probes',
         'probe --model tc:hopper ::.', 'plan --model mlp ::rows', 'doctor ::.')


def main():
    wrong = {kind: [] for kind in READERS}
    sheets = []
    for line in LINES:
        own, _, of = line.partition(' ::')
        code, out, err = run(own + ' --json')
        j = json.loads(out)
        around = j if isinstance(j, list) else [j]
        rows = [r for x in around for r in x[of]] if of not in ('', '.') else around
        names, rows = table(rows)
        for kind, read in READERS.items():
            file = 'a%d.%s' % (len(sheets), kind)
            # inspect writes .tsv itself unless rows, columns or digits are chosen
            digits = ' --digits 17' if own.startswith('inspect') else ''
            got = run('%s -o %s' % (own + digits, of + '=' + file if of else file))
            text = open(home + '/' + file).read()
            columns, cells = read(text)
            bad = ['%s: columns %s' % (line, columns)] if columns != names else []
            bad += ['%s: %d rows of %d' % (line, len(cells), len(rows))] if len(cells) != len(rows) else []
            bad += ['%s: %s is %r, not %r' % (line, n, c, r.get(n)) for cs, r in zip(cells, rows) for n,
                    c in zip(columns, cs) if not same(c, r.get(n)) and n != 'ram_free_bytes']
            if 'halfulp ' + own.split()[0] not in text[:text.index('\n', 60)]:
                bad.append(line + ': the command is not named')
            wrong[kind] += bad + ([] if got[0] == code == 0 else ['%s: exit %d %s' % (line, got[0], got[2])])
        sheets.append(text)
    for kind in READERS:
        none(wrong[kind], '%d lines: what is read back from .%s is what --json prints' % (len(sheets), kind))

    line = 'accumulate --table --n 100 --format fp16,bf16'
    rows = [r for r in json.loads(run(line + ' --json')[1]) if r['n'] in (64, 100) and r['format'] != 'bf16']
    run(line + ' -o c.tsv --columns n,backward,format --where n=64|100 --where format!=bf16')
    columns, cells = read_tsv(open(home + '/c.tsv').read())
    ok(columns == ['n', 'backward', 'format'] and len(cells) == len(rows) == 2 and all(
        same(c, r[n]) for cs, r in zip(cells, rows) for n, c in zip(columns, cs)),
       '--columns and --where choose', str(cells))
    run(line + ' -o d.md --columns n,backward --digits 3')
    cells = read_md(open(home + '/d.md').read())[1]
    want = [r for r in json.loads(run(line + ' --json')[1])]
    ok(all(c[1] == ('%.3g' % r['backward']).replace('e-0', 'e-') and c[0] == str(r['n']) for c, r in zip(cells, want)),
       '--digits rounds reals, not integers', str(cells[:3]))
    p = run('accumulate --table --n 1000 --every 10 --format fp16 -o long.tex --columns n,value --json')
    ok('\\begin{longtable}' in open(home + '/long.tex').read() and len(json.loads(p[1])) == 100,
       'more than a page is a longtable, and --json is printed beside')
    p = run('plan --model mlp -o rows=p.md -o .=p.tsv -o p.json')
    want = json.loads(run('plan --model mlp --json')[1])
    ok(p[0] == 0 and json.load(open(home + '/p.json')) == want and len(read_md(open(home + '/p.md').read())[1])
        == sum(len(x['rows']) for x in want) and len(read_tsv(open(home + '/p.tsv').read())[1]) == len(want),
       'several files of one run, the JSON among them', str(p))
    with open(home + '/t.tsv', 'w', encoding='utf-8') as f:
        f.write('# a: b\nname\tx\na|b_c*\t1e-3\n50%&$#\t-\n'
            '\\back^~{}<>\tinf\nΣ|ε| ≤ √n·u₁ ≠ ∞, ±2⁻²⁴ → π\t1\n')
    for kind, read in READERS.items():
        run('round 1 -o t.tsv=e.%s' % kind)
    got = {kind: read(open('%s/e.%s' % (home, kind)).read()) for kind, read in READERS.items()}
    names = ['a|b_c*', '50%&$#', '\\back^~{}<>', 'Σ|ε| ≤ √n·u₁ ≠ ∞, ±2⁻²⁴ → π']
    ok(all(c == ['name', 'x'] and [r[0] for r in rows] == names
        and [number(r[1]) for r in rows] == [1e-3, None, float('inf'), 1] for c, rows in got.values()),
       'a table in a file; texts that are markup elsewhere are escaped', str(got))

    refused = {
        'round 1 -o x.doc': '.tsv, .json, .md or .tex',
        'round 1 -o x.md --columns value,foo': "no column 'foo'; the columns are input format value",
        'round 1 -o x.md --where value': 'a condition is',
        'round 1 -o x.md --where foo=1': "no column 'foo'",
        'round 1 -o x.md --digits 18': '--digits 18',
        'round 1 -o foo=x.md': 'no such array',
        'round 1 -o absent.tsv=x.md': 'absent.tsv',
        'round 1 --columns value': '--columns has no effect',
        'round 1 -o x.json --columns value': '--columns has no effect',
        'round 1 -o foo=x.json': 'leave it out',
        'doctor -o x.svg': 'doctor has no picture',
        'round nothing -o x.md': 'nothing',
    }
    bad = ['%s: %d %s' % (a, code, err) for a, why in refused.items() for code, out, err in [run(a)]
            if code not in (2, 3) or why not in err or err.count('\n') != 1]
    none(bad + [f for f in os.listdir(home) if f.startswith('x.')],
         'what cannot be written is refused in a line, and leaves no file')

    commands = re.findall(r'^COMMAND\((\w+)\)', open(TOP + '/commands.def').read(), re.M)
    pages = {c: run(c + ' --help')[1] for c in commands}
    none([c for c in commands if (re.search(r'^  --json ', pages[c], re.M) is None) != (' --out ' not in pages[c]) and c not in ('baseline', 'gate')],
         'every command with --json has -o FILE')

    if not shutil.which('pdflatex'):
        return tap.skip('LaTeX compiles', 'pdflatex is absent')
    files = sorted(n for n in os.listdir(home) if n.endswith('.tex'))
    with open(home + '/all.tex', 'w') as f:
        f.write('\\documentclass{article}\\usepackage{booktabs,longtable}\n')
        f.write('\\begin{document}\\tiny\n%s\n\\end{document}\n' % '\n\n'.join('\\input{%s}' % n for n in files))
    p = subprocess.run(['pdflatex', '-interaction=nonstopmode', '-halt-on-error', 'all.tex'], cwd=home,
        capture_output=True, text=True, errors='replace')
    ok(p.returncode == 0 and os.path.exists(home + '/all.pdf'), 'LaTeX compiles', p.stdout[-600:])


main()
tap.finish()
