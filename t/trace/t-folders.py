# SPDX-License-Identifier: Apache-2.0
"""Folders that a recorder leaves and commands are given: a recording in summary mode, one of each rank, one without a
step, one of some layers, one of which the program is lost, one that was killed behind its first step. Each command says
in one line what the folder is and what to do, or reads it."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from recorded import TOP, halfulp_trace, loss, net, torch  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())


def train(make, run, **how):
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = make(model, run, optimizer=optimizer, **how)
    for _ in range(2):
        with recorder:
            optimizer.zero_grad()
            loss(model).backward()
            optimizer.step()


train(halfulp_trace.summary, 'summary')
train(halfulp_trace.record, 'whole')
train(halfulp_trace.record, 'layers', layers='0')
train(halfulp_trace.record, 'none', steps='100')
for rank in ('ranks/rank-0', 'ranks/rank-1'):
    shutil.copytree('whole', rank)
shutil.copytree('whole', 'lost')
os.remove('lost/program-train.json')
KILLED = '''
import os, sys
sys.path[:0] = [%r, %r]
from recorded import halfulp_trace, loss, net
model = net()
recorder = halfulp_trace.record(model, 'killed')
with recorder:
    loss(model).backward()
recorder.__enter__()
loss(model).backward()
os._exit(9)
''' % (HERE, os.path.join(HERE, '..', 'tool'))
ended = subprocess.run([sys.executable, '-c', KILLED], env=dict(os.environ, srcdir=TOP)).returncode
ok(ended == 9, 'a recording is killed in its second step', ended)
os.makedirs('empty')

SAID = {'summary': ('in summary mode', 'halfulp report summary'), 'ranks': ('each rank', 'ranks/rank-0'),
        'none': ('no run is there', 'recorded a whole step'), 'empty': ('no run is there', 'recorded a whole step'),
        'lost': ('program-train.json', 'record again')}
COMMANDS = {'analyze': ['analyze', None], 'report': ['report', None], 'check': ['check', None, '--baseline', 'b.tsv'],
            'gate': ['gate', '--baseline', 'b.tsv', None], 'diff': ['diff', 'whole', None],
            'diff other': ['diff', None, 'whole'], 'verify': ['verify', None, '--trace']}
for folder, words in SAID.items():
    for name, command in COMMANDS.items():
        if name == 'report' and folder in ('summary', 'lost') or name == 'gate' and folder in ('none', 'empty'):
            continue                             # report needs no program, and gate trains what is not there
        p = halfulp(*[folder if x is None else x for x in command])
        ok(p.returncode == 3 and len(p.stderr.splitlines()) == 1 and all(w in p.stderr for w in words),
                '%s of %s says what it is and what to do' % (name, folder), '%d: %s%s' % (
                    p.returncode, p.stdout, p.stderr))
p = halfulp('report', 'summary')
ok(p.returncode == 0 and os.path.exists('summary/report/index.html'), 'report shows a recording in summary mode',
        p.stderr)
for folder in ('layers', 'killed'):
    p = halfulp('analyze', folder)
    ok(p.returncode == 0, 'analyze judges %s' % folder, p.stderr)
    p = halfulp('check', folder, '--baseline', 'b.tsv')
    ok(p.returncode == 3 and 'b.tsv is not there' in p.stderr, 'check of %s writes what was obtained' % folder,
            '%d: %s' % (p.returncode, p.stderr))
    os.rename('b.tsv.obtained', folder + '.tsv')
    p = halfulp('check', folder, '--baseline', folder + '.tsv')
    ok(p.returncode == 0, 'and holds the run to that', '%d: %s%s' % (p.returncode, p.stdout, p.stderr))
p = halfulp('diff', 'killed', 'whole')
ok(p.returncode in (0, 1), 'diff compares a recording that was killed', '%d: %s' % (p.returncode, p.stderr))
finish()
