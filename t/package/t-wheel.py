#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# make wheel: the wheel is installed into a fresh environment, where the program runs as a command, the packages answer
# from Python as the program does, and the plugin for pytest holds what tests compute. numpy and pytest are those of the
# Python that runs this test.
import os
import subprocess
import sys
import sysconfig

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy
    import venv
    import ensurepip
except ImportError as why:
    tap.skip_all('%s is absent' % why.name)
home = tap.home()
os.chdir(home)
version = tap.halfulp('--version').stdout.split()[1]
make = [sys.executable, tap.TOP + '/python/wheel.py', tap.HALFULP, tap.TOP, version, home]
made = subprocess.run(make, capture_output=True, text=True)
wheel = made.stdout.strip()
if not tap.ok(made.returncode == 0 and os.path.exists(wheel), 'a wheel is made', made.stderr):
    tap.finish()
subprocess.run([sys.executable, '-m', 'venv', 'env'], check=True)
install = ['env/bin/python', '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', wheel]
pip = subprocess.run(install, capture_output=True, text=True)
tap.ok(pip.returncode == 0, 'pip installs it', pip.stderr)
where = ['env/bin/python', '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']
site = subprocess.run(where, capture_output=True, text=True).stdout.strip()
with open(os.path.join(site, 'other.pth'), 'w') as f: # numpy and pytest come from here
    f.write(sysconfig.get_path('purelib') + '\n')
env = {k: v for k, v in os.environ.items() if k not in ('HALFULP', 'PYTHONPATH', 'HALFULP_SHARE')}
env.update(PATH=home + '/env/bin:' + os.environ['PATH'], OMP_WAIT_POLICY='passive', PYTHONDONTWRITEBYTECODE='1')


def run(*words, **more):
    how = dict(env=dict(env, **more), stdin=subprocess.DEVNULL, cwd=home)
    return subprocess.run(words, capture_output=True, text=True, **how)


p = run('env/bin/halfulp', 'calc', '1 + 0.0001', '--format', 'fp16')
tap.ok(p.returncode == 0 and 'inexact swamped' in p.stdout, 'the command halfulp is the program', p.stderr)
p = run('env/bin/halfulp', 'no-such')
tap.ok(p.returncode == 2 and p.stderr.count('\n') == 1, 'its exit code and its line are the program\'s', p.stderr)
shared = os.path.join(site, 'halfulp/share')
absent = [f for f in ('examples/digits.onnx', 'reports/style.gp') if not os.path.exists(shared + '/' + f)]
tap.none(absent, 'examples and drawings are there')
p = run('env/bin/halfulp')
tap.ok(shared + '/examples/digits.npz' in p.stdout, 'the first screen names the example where it lies', p.stdout)

SCRIPT = '''
import halfulp, numpy as np
v = halfulp.validate(%r, %r, ['fp16', 'int4'], accept='flips<=1%%', labels='labels')
assert not v.passed and v.sentence.startswith('fp16 keeps flips<=1%%'), v.sentence
assert v['int4'].flips == 7 and v['int4'].verdict == 'fail' and v['float32'].sqnr_db == float('inf')
base, low = (v[n].outputs['scores'].astype('f8') for n in ('float32', 'int4'))
assert (base.argmax(1) != low.argmax(1)).sum() == v['int4'].flips and base.shape == (300, 10)
sqnr = -20 * np.log10(np.linalg.norm(low - base) / np.linalg.norm(base))
assert abs(sqnr - v['int4'].sqnr_db) < 1e-6, (sqnr, v['int4'].sqnr_db)
x = np.load(%r)['x']
assert halfulp.validate(%r, {'x': x}, ['int4'])['int4'].flips == 7
c = halfulp.check({'y': low}, {'y': base}, '*: sqnr >= 30')
assert not c.passed and 'sqnr 18.36' in c.why, c
assert halfulp.check({'y': base}, {'y': base}).passed
a = np.arange(6, dtype='f4').reshape(2, 3)
s = np.exp(a - a.max(1, keepdims=True)); s /= s.sum(1, keepdims=True)
assert halfulp.assert_close('softmax', dict(x=a), s).right
try:
    halfulp.assert_close('softmax', dict(x=a), s * 1.01); raise SystemExit('a wrong result passed')
except AssertionError as e:
    assert 'beyond' in str(e), e
try:
    halfulp.validate('no.onnx', {'x': x}); raise SystemExit('a missing model passed')
except halfulp.ProgramError as e:
    assert '\\n' not in str(e), e
print('all right')
'''
model, data = tap.TOP + '/examples/digits.onnx', tap.TOP + '/examples/digits.npz'
p = run('env/bin/python', '-c', SCRIPT % (model, data, data, model))
tap.ok(p.stdout == 'all right\n', 'validate, check and assert_close answer from Python', p.stdout + p.stderr)

SUITE = '''
import os, numpy, pytest
FACTOR = float(os.environ.get('FACTOR', '1'))
class TestA:
    def test_forward(self, numerics):
        numerics('y', numpy.arange(6, dtype='f4') * numpy.float32(FACTOR))
class TestB:
    def test_forward(self, numerics):
        numerics('y', numpy.arange(8, dtype='f4'))
@pytest.mark.parametrize('k', ['a/b', 'a_b'])
def test_loss(numerics, k):
    ulps = float(os.environ.get('ULPS', '0'))
    numerics('loss', (numpy.float32(2.5) * numpy.float32(1 + ulps * 2**-23)).item())
'''
try:
    import pytest
except ImportError:
    tap.skip('pytest', 'pytest is absent')
    tap.finish()
os.makedirs('suite/sub')
for folder in ('suite', 'suite/sub'):
    open(folder + '/test_%s.py' % os.path.basename(folder), 'w').write(SUITE)


def suite(*words, **more):
    return run('env/bin/python', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', *words, 'suite', **more)


first = suite()
said = '8 failed' in first.stdout and 'error' not in first.stdout and '--numerics-update writes it' in first.stdout
tap.ok(first.returncode == 1 and said, 'nothing is recorded: all tests fail and say how', first.stdout)
record = suite('--numerics-update')
kept = sorted(os.listdir('suite/numerics'))
other = os.listdir('suite/sub/numerics')
tap.ok(record.returncode == 0 and len(kept) == len(other) == 4, 'two classes, two parameters: a file each', kept)
again = suite()
left = sorted(os.listdir('suite/numerics'))
tap.ok(again.returncode == 0 and left == kept, 'they hold, and nothing else is left there', again.stdout)
near = suite(ULPS='1')
tap.ok(near.returncode == 0, 'one ulp of a float32 loss is not held to float64', near.stdout)
far = suite(FACTOR='1.01')
said = '2 failed, 6 passed' in far.stdout and 'error' not in far.stdout and 'y, [5]: 5 -> 5.05' in far.stdout
tap.ok(far.returncode == 1 and said, 'drift is a failure of the test that drifted', far.stdout)
tap.ok(sorted(os.listdir('suite/numerics')) == kept, 'and leaves nothing beside the baselines')
lost = suite(HALFULP='/no/such/program')
said = 'Traceback' not in lost.stdout and len(lost.stdout.splitlines()) < 60
tap.ok(lost.returncode == 1 and said, 'without the program a line a test', lost.stdout)
tap.finish()
