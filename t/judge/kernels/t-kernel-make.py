#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The folder of judge --make: every kernel's operands are of the declared shapes and formats, it is made again with the
# same bytes, its paths hold wherever the folder lies, and what cannot be drawn or written is refused in one line.
import json
import os
import re
import resource
import signal
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from tap import finish, halfulp, home, none, ok, skip_all  # noqa: E402

try:
    import numpy as np
except ImportError:
    skip_all('no numpy')
os.chdir(home())


def make(kernel, folder, *words):
    return halfulp('judge', kernel, '--make', folder, *words)


def files(folder):
    """Every file of a folder with its bytes."""
    return {os.path.relpath(os.path.join(at, f), folder): open(os.path.join(at, f), 'rb').read()
            for at, _, names in os.walk(folder) for f in names}


LETTERS = {m[0]: int(m[1]) for m in re.findall(r'^LETTER\((\w), (\d+),', open(TOP + '/analyzers/judge/make.def').read(),
                                               re.M)}


def shape(text):
    """The shape of an operand in the case `normal`."""
    plain, offsets = re.sub(r'[+!]|%.*', '', text).split('/')[0], '/' in text
    d = [LETTERS.get(w) or int(w) for w in plain.split('x')]
    return d[:-1] + [d[-1] + offsets]


kernels = [r for r in json.loads(halfulp('judge', 'list', '--json').stdout) if r['kind'] == 'kernel']
wrong = []
for r in kernels:
    drawn = {o.split(':')[0]: o.split(':')[1] for o in r['operands'].split() if ':' in o}
    optional = ' '.join(n[:-1] for n in drawn if n.endswith('?'))
    done = make(r['name'], r['name'], '--set', 'in=fp16', '--with', optional)
    if done.returncode:
        wrong.append((r['name'], done.stderr))
        continue
    for case in json.load(open(r['name'] + '/cases.json')):
        a = {n: np.load(os.path.join(r['name'], f)) for n, f in case['inputs'].items()}
        if set(a) != {n.rstrip('?') for n in drawn}:
            wrong.append((r['name'], case['case'], 'operands', sorted(a)))
        for n, text in drawn.items():
            x = a[n.rstrip('?')]
            with np.errstate(over='ignore'):
                half = x.astype(np.float16).astype(np.float32)
            if case['case'] == 'normal' and list(x.shape) != shape(text):
                wrong.append((r['name'], n, x.shape, text))
            if not (n.rstrip('?') in case['whole'] or ((x == half) | np.isnan(x)).all()):
                wrong.append((r['name'], case['case'], n, 'is not of fp16'))
ok(len(kernels) > 55, '%d kernels are drawn for, with all their optional operands' % len(kernels))
none(wrong, 'operands have the declared shapes and are of the declared format')

names = ['plain', 'with blanks', 'nä"\'\n', 'a/b/c']
first = {}
for name in names:
    done = make('rmsnorm', name, '--with', 'w residual')
    first = first or files(name)
    ok(done.returncode == 0 and files(name) == first, 'a folder may have the name %r' % name, done.stderr)
    listed = [f for c in json.load(open(name + '/cases.json')) for f in c['inputs'].values()]
    ok(all(os.path.isfile(os.path.join(name, f)) for f in listed), 'its paths hold from the folder on')
done = make('rmsnorm', 'plain', '--with', 'w residual')
ok(done.returncode == 0 and files('plain') == first, 'the same folder is made again', done.stderr)
os.rename('plain', 'moved')
ok(all(os.path.isfile(os.path.join('moved', f)) for f in listed), 'it may be moved')

open('file', 'w').close()
for what, words, said in (
        ('a folder of another kernel', ('attention', 'moved'), '.npy is no operand of attention: name a new folder'),
        ('a file in place of the folder', ('softmax', 'file'), 'file'),
        ('a folder below a file', ('softmax', 'file/x'), 'file'),
        ('a folder that cannot be made', ('softmax', '/proc/x'), '/proc/x'),
        ('an optional operand that is none', ('softmax', 'd', '--with', 'w'), 'no such optional operand'),
        ('an operand that is always drawn', ('rmsnorm', 'd', '--with', 'x'), 'no such optional operand'),
        ('a part of a name', ('rmsnorm', 'd', '--with', 'resid'), 'no such optional operand'),
        ('an optional operand without a shape', ('attention_dx', 'd', '--with', 'lse'), 'no such optional operand'),
        ('a fact that is not a format', ('softmax', 'd', '--set', 'p=bf16'), '--make takes in=FORMAT alone'),
        ('a graph', ('y = exp(x)', 'd'), 'there is no kernel')):
    done = make(*words)
    refused = done.returncode in (2, 3, 4) and done.stderr.count('\n') == 1 and said in done.stderr
    ok(refused and not os.path.exists('d'), '%s is refused' % what, (done.returncode, done.stderr))
# A disk that becomes full after some files, as a limit of their sizes has it.
def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (12000, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


for name in ('full', 'full/a/b'):
    done = halfulp('judge', 'softmax', '--make', name, preexec_fn=limited)
    ok(done.returncode == 4 and done.stderr.count('\n') == 1 and not os.path.exists(name),
       'a full disk is told in one line, and no folder is left', (done.returncode, done.stderr))
before = files('moved')
done = halfulp('judge', 'rmsnorm', '--make', 'moved', '--with', 'w residual', preexec_fn=limited)
ok(done.returncode == 4 and set(files('moved')) == set(before), 'files that were there before stay', done.stderr)
done = make('rmsnorm', 'moved', '--with', 'w residual')
ok(done.returncode == 0 and files('moved') == before, 'and are made again', done.stderr)
ok(sorted(os.listdir('moved/normal')) == ['residual.npy', 'w.npy', 'x.npy'], 'a refused folder is as it was')
finish()
