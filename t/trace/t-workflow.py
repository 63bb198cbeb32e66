# SPDX-License-Identifier: Apache-2.0
"""The job that runs these tests beside PyTorch's wheel on every push: its steps are read out of the workflow's file and
run as the service runs them, line by line with `bash -e` in a folder that has the sources. What needs a network or
builds the program stands aside: of pip's and bootstrap's lines the words are looked at, and make is one that runs a
short test of each list with the program that is here. A Python without PyTorch has to make the job red, not green with
all its tests skipped."""
import os
import re
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, TOP, finish, home, none, ok, skip  # noqa: E402

JOB, SHORT = 'pytorch', 't/trace/t-selection.py'
MAKE = '''#!%s
# What `make -C build check TESTS=...` of the job does, for one short test of the list.
import os, subprocess, sys
here, tests = sys.argv[sys.argv.index('-C') + 1], next(a for a in sys.argv if a.startswith('TESTS='))[6:].split()
assert 'check' in sys.argv and os.path.isdir(here), sys.argv
with open('listed', 'w') as f:
    f.write('\\n'.join(tests))
log = os.path.join(here, 't', 'trace', os.path.basename('%s')[:-3] + '.log')
with open(log, 'w') as f:
    ran = subprocess.run([sys.executable, '%s'], stdout=f, stderr=f, env=dict(os.environ, HALFULP='%s', srcdir='.'))
sys.exit(ran.returncode)
'''


def steps(job):
    """The lines that a job of ci.yml runs, in their order."""
    text = open(os.path.join(TOP, '.github', 'workflows', 'ci.yml')).read()
    own = re.search(r'^  %s:\n((?:    .*\n|\n)+)' % job, text, re.M)[1]
    return [x.strip('"') if x.startswith('"') else x for x in re.findall(r'^      - run: (.*)$', own, re.M)]


def run(lines, folder, python):
    """Runs lines one after the other as the service does, until one fails. Returns that one, or None."""
    os.makedirs(folder + '/bin')
    os.makedirs(folder + '/build/t/trace')
    for name in ('t', 'python', 'doc'):
        os.symlink(os.path.join(TOP, name), os.path.join(folder, name))
    with open(folder + '/bin/make', 'w') as f:
        f.write(MAKE % (python, SHORT, SHORT, HALFULP))
    os.chmod(folder + '/bin/make', os.stat(folder + '/bin/make').st_mode | stat.S_IXUSR)
    env = dict(os.environ, PATH=folder + '/bin:' + os.environ['PATH'])
    for line in lines:
        ran = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', line], cwd=folder, env=env,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if ran.returncode:
            return line
    return None


os.chdir(home())
lines = steps(JOB)
pip, boot = [x for x in lines if ' pip ' in x], [x for x in lines if x.startswith('./bootstrap')]
rest = [x for x in lines if x not in pip + boot]
ok(len(rest) == 2 and rest[0].startswith('make -C build check TESTS=') and 'no PyTorch' in rest[1],
   'the job runs the tests, and then looks whether they were skipped', lines)
ok(len(pip) == 2 and any(re.search(r' torch --index-url https://download\.pytorch\.org/whl/cpu$', x) for x in pip)
   and all('numpy' in x or 'torch' in x for x in pip), 'it installs NumPy and the wheel for processors', pip)
asked = re.findall(r'--(?:enable|with)-[\w-]+', ' '.join(boot))
configure = open(os.path.join(TOP, 'configure.ac')).read()
none([x for x in asked if not re.search(r'AC_ARG_(ENABLE|WITH)\(\[?%s\b' % re.escape(x.split('-', 3)[-1]), configure)],
     'configure has what it asks of bootstrap: %s' % ' '.join(asked))
where = os.getcwd()
have = subprocess.run([sys.executable, '-c', 'import torch'], capture_output=True).returncode == 0
if have:
    failed = run(rest, where + '/with', sys.executable)
    ok(failed is None, 'with PyTorch the job passes', failed)
else:
    skip('with PyTorch the job passes', 'no PyTorch')
os.makedirs(where + '/none')
with open(where + '/none/torch.py', 'w') as f:
    f.write("raise ImportError('it is not here')\n")
os.environ['PYTHONPATH'] = where + '/none'
failed = run(rest, where + '/without', sys.executable)
ok(failed == rest[1], 'without PyTorch its tests skip themselves, and the job fails by that', failed)
listed = open(where + '/without/listed').read().split()
own = sorted(re.findall(r'SCRIPT_TESTS \+= (t/trace/t-\S+)', open(os.path.join(TOP, 't', 'trace', 'local.mk')).read()))
ok(sorted(listed) == own and len(own) > 20, 'it lists all %d tests of this folder' % len(own), set(listed) ^ set(own))
finish()
