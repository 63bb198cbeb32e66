# SPDX-License-Identifier: Apache-2.0
# Names from files and from the command line in what gnuplot draws: none is run as a program, by gnuplot or by the shell
# that it starts; each stands in the SVG as the tables print it. GNUPLOT is a script here, which looks whether a name
# made the file z. Beside names of tensors, layers and policies there are those of files, and what a gate and a history
# draw.
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
import tap
from sealed import seal, unsealed  # noqa: E402
from tap import none, ok

gnuplot = shutil.which(os.environ.get('GNUPLOT') or 'gnuplot')
if not gnuplot:
    tap.skip_all('gnuplot is absent')
home = tap.home()
os.chdir(home)
os.mkdir('tmp')
with open('watch', 'w') as f:
    f.write('#!/bin/sh\n"%s" "$@"\ncode=$?\ntest -e z && mv z "%s/ran"\nexit $code\n' % (gnuplot, home))
os.chmod('watch', 0o755)
os.environ.update(TMPDIR=home + '/tmp', GNUPLOT=home + '/watch')

# Names that would run something, that gnuplot reads otherwise than they stand, and that must be escaped
RUN = ['`>z`', '"`>z`"', '"."`>z`"."', "'.system('>z').'", '".system(">z")."', '"; system ">z"; #', "it's"]
READ = ['50%', 'de%nse%s1%%d', '%', 'layer\\norm', 'back\\', '\\042x', '\\`>z`', '"open', '"a" b', '#hash', 'mid #x',
        '  lead', 'end ', '@stem', '{x}^2_3', '{/:Bold x}', '&amp;~$x<b>', 'naïve.重み', 'no cell', 'NaN', '-']
SHOWN = {'a\tb\rc\nd': 'a\\tb\\rc\\nd', 'e\x1b[31mf': 'e\\x1b[31mf', '\u202eg': '\\u202eg'}
NAMES = RUN + READ + list(SHOWN)
TRAIN = '--model mlp --data size=8,train=48,eval=16 --batch 16 --model width=0.05 --steps 2 --trace steps=0 --quiet'.split()


def write(path, first):
    """A safetensors file whose tensors have these names, and values that follow from FIRST."""
    head = {n: {'dtype': 'F32', 'shape': [2], 'data_offsets': [8 * i, 8 * i + 8]} for i, n in enumerate(NAMES)}
    text = json.dumps(head).encode()
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text)
        f.write(b''.join(struct.pack('<2f', first + 0.1 * i, 2.3) for i in range(len(NAMES))))


def drawn(path):
    """The texts of an SVG, with one blank where there are more, and none around them."""
    if not os.path.exists(path):
        return []
    return [re.sub(' +', ' ', ''.join(t.itertext())).strip() for t in xml.parse(path).iter() if t.tag.endswith('}text')]


def ran(what):
    """One test: that no name was run since the last one."""
    ok(not os.path.exists('ran'), what + ': no name is run')
    if os.path.exists('ran'):
        os.remove('ran')


def draw(*words, code=0):
    p = tap.halfulp(*words)
    ok(p.returncode == code, ' '.join(words).encode('unicode_escape').decode(), [p.returncode, p.stderr])
    ran(words[0])
    return p


def renamed(run, old, new):
    """Puts NEW in the place of OLD in a run's files; both are as long, since the trace's headers count bytes."""
    assert len(old) == len(new)
    for path in glob.glob(run + '/**/*', recursive=True):
        data = open(path, 'rb').read() if os.path.isfile(path) else b''
        if old in data:
            # JSON, which the headers of traces are too, writes a backslash twice
            name = new.replace(b'\\\\', b'\\') if path.endswith('.tsv') else new
            data = data.replace(old, name)
            if path.endswith('.tsv') and b'# whole: ' in data:
                data = seal(unsealed(data.decode('utf-8', 'surrogateescape'))).encode('utf-8', 'surrogateescape')
            open(path, 'wb').write(data)
    with open(run + '/manifest.json') as f:
        manifest = json.load(f)
    with open(run + '/manifest.json', 'w') as f:
        json.dump(dict(manifest, files={}), f)


def lacking(path, wanted, cut=None):
    """Which names the SVG lacks; those longer than CUT letters are drawn without their end."""
    texts = drawn(path)
    start = lambda n: cut and len(n) > cut and n[:cut].strip() or None
    return [n for n in wanted if n.strip() not in texts and not any(start(n) and t.startswith(start(n)) for t in texts)]


# --- tensors of files
wanted = [SHOWN.get(n, n) for n in NAMES]
write('a.safetensors', 1.1)
write('b.safetensors', 1.2)
draw('inspect', 'a.safetensors', '-o', 'a.svg', '-o', 'a.png', '-o', 'a.pdf', '-o', 'a.tex')
none(lacking('a.svg', wanted), 'inspect: every name as the table has it')
draw('inspect', 'a.safetensors', '-o', 'narrow.svg', '--width', '84mm')
none(lacking('narrow.svg', wanted, 8), 'inspect: the same in a column')
draw('diff', 'a.safetensors', 'b.safetensors', '-o', 'd.svg', '-o', 'd.png', '-o', 'd.pdf', code=1)
# Of 31 tensors, 30 are drawn
none(lacking('d.svg', wanted, 28)[1:], 'diff: every name that is drawn')
for n in NAMES:
    NAMES = [n]
    write('one.safetensors', 1.1)
    p = tap.halfulp('inspect', 'one.safetensors', '-o', 'one.svg')
    said = SHOWN.get(n, n) + ' loses most in '
    wanted = re.sub(' +', ' ', said).strip()
    if not (p.returncode == 0 and p.stdout.startswith('one.svg\n' + said)
            and any(t.startswith(wanted) for t in drawn('one.svg'))):
        ok(False, 'inspect: the message names ' + ascii(n), [p.stdout, p.stderr, drawn('one.svg')])
ran('a file of one tensor')
NAMES = ['x' * 9000]
write('long.safetensors', 1.1)
for canvas in ('240', '640', '4000'):
    draw('inspect', 'long.safetensors', '-o', 'long.svg', '--width', canvas)

# --- files, policies, directories
file = '`>z`"\'%s\\n{x}.safetensors'
shutil.copy('a.safetensors', file)
draw('inspect', file, '-o', 'f.svg')
ok(any('`>z`"\'\\\'\'%s\\n{x}' in t for t in drawn('f.svg')), 'inspect: the command has the file\'s name',
        drawn('f.svg')[-6:])
policy = './`>z`%s\\n"q.json'
with open(policy, 'w') as f:
    f.write('{"compute": "float16"}')
small = [w for w in TRAIN if w not in ('--trace', 'steps=0', '--quiet')]
draw('compare', *small, '--policy', 'float32,' + policy, '-o', 'c.svg')
ok(policy in drawn('c.svg'), 'compare: the policy\'s name', drawn('c.svg'))
for name, seed in (('`>z`%s\\n"a', '1'), ('b', '2')):
    draw('train', *TRAIN, '--seed', seed, name)
draw('allreduce', '`>z`%s\\n"a', 'b', '--ranks', '2..4', '--all-reduce', 'wire=bf16', '-o', 'r.svg')
draw('analyze', '--shard', '1/1:part=`>z`.part', 'b')
draw('merge', '--list', '`>z`.part', '-o', 'm.svg')
shutil.move('`>z`%s\\n"a', 'a')

# --- tensors of runs: gnuplot reads a name once more in each table on its way
for run in 'ab':
    renamed(run, b'input.labels', b'`>z`%s\\\\n.#{')
draw('diff', 'a', 'b', '-o', 'runs.svg', code=1)
ok('farthest apart is `>z`%s\\n.#{' in ' '.join(drawn('runs.svg')), 'diff of runs: the tensor farthest apart',
        drawn('runs.svg')[-3:])
tap.halfulp('train', *TRAIN, 'good')
tap.halfulp('train', *TRAIN, '--optimizer', 'lr=0.011', 'drifted')
for run in ('good', 'drifted'):
    renamed(run, b'dense1', b'`>z`%s')
    renamed(run, b'dense2', b'#\\\\tqx')
draw('analyze', 'good')
draw('report', '--out', 'page', 'good')
for figure, names in (('error', ['`>z`%s matmul', '#\\tqx matmul']),
        ('ulp', ['`>z`%s matmul', '#\\tqx matmul']), ('harm', ['`>z`%s.w_next', '#\\tqx.w_next'])):
    none(lacking('page/%s.svg' % figure, names), 'report: names of figure ' + figure)

# --- a report of every figure, whose tables are spoilt one by one
sample = [sys.executable, '-B', TOP + '/t/reports/make-sample-run.py', 'sample']
if subprocess.run(sample).returncode:
    tap.bail_out('make-sample-run.py')
layers = {'conv1': '`>z`', 'conv2': 'de%nse%s1', 'conv3': '"q\\n#', 'dense1': "#it's\\t{x}_^@a"}
for path in glob.glob('sample/analysis/*.tsv'):
    with open(path) as f:
        text = f.read()
    for old, new in layers.items():
        text = re.sub(r'\b%s\b' % old, lambda _: new, text)
    with open(path, 'w') as f:
        f.write(text)
for path in glob.glob('sample/analysis/*.tsv'):
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as f:
        text = unsealed(f.read())
    with open(path, 'w', encoding='utf-8', errors='surrogateescape', newline='') as f:
        f.write(seal(text))
draw('report', '--out', 'all', 'sample')
draw('report', '--width', 'column', '--format', 'svg,pdf', '--out', 'column', 'sample')
for figure, form in (('error', '%s bias'), ('ulp', '%s bias'), ('swamping', '%s.w'), ('swamping', '%s wgrad'),
        ('underflow', '%s gradient'), ('harm', '%s.w')):
    texts = drawn('all/%s.svg' % figure)
    none([n for n in layers.values() if form % n not in texts], 'report: names of figure ' + figure + form[2:])
ok(any(t.startswith(n + '.') for t in drawn('all/bound.svg') for n in layers.values()), 'report: the name in figure bound',
        drawn('all/bound.svg'))

# --- what a gate and a history draw
draw('baseline', 'good', '-o', 'base.tsv', '--reason', 'a test')
draw('gate', '--baseline', 'base.tsv', '-o', 'summary=s.md', '--quiet', 'drifted', code=1)
texts = drawn('drifted/gate/drift-worst.svg')
ok(any('`>z`%s' in t or '#\\tqx' in t for t in texts), 'gate: quantities of such layers, worst first', texts)
key = "x';system('>z') #`>z`%s\\n{a}_\"/loss"
os.mkdir('history')
with open('history/history.tsv', 'w') as f:
    f.write('# table: history\ncommit\tdate\tquantity\tvalue\n')
    for i in range(12):
        f.write('%s%d\t2024-01-01\t%s\t%d\n' % (('"a\\n#%_`', 'b_{é}^')[i % 2], i, key, i // 6))
os.environ['GITHUB_SHA'] = "c'd"
draw('check', 'good', '--baseline', 'base.tsv', '--history', 'history')
texts = drawn('history/history.svg')
ok(key in texts and '"a\\n#%_`' in texts and 'b_{é}^1' in texts, 'history: the quantity and the commits', texts)
none(os.listdir('tmp'), 'nothing is left in TMPDIR')
tap.finish()
