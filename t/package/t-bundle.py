#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# make bundle: the program with the libraries that it loads, as one archive. Unpacked in a root with a shell and none of
# these libraries it decides on a model and judges files; anywhere else it finds its drawings beside it. The jobs of
# both services run it where its SHA-256 is the one that they name, and nothing of it where it is another.
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't', folder) for folder in ('tool', 'ci')]
import tap

BUILD = os.environ.get('top_builddir', '.')
with open(BUILD + '/Makefile', encoding='utf-8') as f:
    if re.search(r'^ASAN_CFLAGS = .*-fsanitize', f.read(), re.M):
        tap.skip_all('the sanitizers\' run time is no part of a release')
if not shutil.which('ldd') or not sys.platform.startswith('linux'):
    tap.skip_all('there is no ldd here')
env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
made = subprocess.run(['make', '-C', BUILD, 'bundle'], env=env, stdin=subprocess.DEVNULL,
    capture_output=True, text=True)
if not tap.ok(made.returncode == 0, 'make bundle', made.stdout + made.stderr):
    tap.finish()
version = tap.halfulp('--version').stdout.split()[1]
archive, = glob.glob('%s/halfulp-%s-linux*-*.tar.gz' % (os.path.abspath(BUILD), version))
name = os.path.basename(archive)[:-len('.tar.gz')]
with open(archive, 'rb') as f:
    digest = hashlib.sha256(f.read()).hexdigest()
tap.ok(digest in made.stdout, 'it tells the SHA-256', made.stdout[-300:])

# A root that has a shell, the archive, and no library of the program's
root = tap.home() + '/root'
os.makedirs(root + '/tmp')
with tarfile.open(archive) as f:
    names = f.getnames()
    f.extractall(root + '/tmp')
tap.ok(all(n.split('/')[0] == name for n in names) and os.path.getsize(archive) < 40e6,
    'it is one folder, of %.1f MB' % (os.path.getsize(archive) / 1e6), names[:5])
unpacked = root + '/tmp/' + name
libraries = os.listdir(unpacked + '/lib/halfulp')
has = [any(re.match(r'lib%s\d*\.so' % lib, n) for n in libraries) for lib in ('mpfr', 'gmp', 'zip', 'png', 'gomp')]
tap.ok(all(has) and not [n for n in libraries if n.startswith(('libc.', 'ld-'))],
    'libraries are in it, and the C library is not', libraries)
tap.ok(len(os.listdir(unpacked + '/share/doc/halfulp/libraries')) >= 5, 'with their licences')
data = name + '/share/halfulp/examples/digits'
line = ('cd /tmp && %s/bin/halfulp validate %s.onnx --data %s.npz --policy int8,int4 '
        '--accept "flips<=1%%" --outputs o; '
        'echo code $?; %s/bin/halfulp check o/int8.npz --baseline o/float32.npz --rule "*: sqnr >= 30"'
        % (name, data, data, name))
p = subprocess.run(['bash', tap.TOP + '/t/tool/clean-root.sh', root, 'sh', '-c', line], stdin=subprocess.DEVNULL,
    capture_output=True, text=True)
if p.returncode == 125:
    tap.skip('a root without the libraries', 'this user may not change roots')
else:
    tap.ok('int8 keeps flips<=1%' in p.stdout and '\ncode 1\n' in p.stdout and 'int8.npz holds' in p.stdout,
        'in a root without the libraries it decides and judges', p.stdout + p.stderr)

# Elsewhere: which files it reads
moved = tap.home() + '/a b'
shutil.move(unpacked, moved)
bare = {k: v for k, v in os.environ.items() if k not in ('HALFULP_SHARE', 'LD_LIBRARY_PATH')}
first = subprocess.run([moved + '/bin/halfulp'], env=bare, stdin=subprocess.DEVNULL, capture_output=True,
    text=True, cwd='/')
tap.ok(os.path.realpath(moved) in os.path.realpath(re.search(r'(/.*)/examples/digits.onnx', first.stdout)[1])
    and '/../' not in first.stdout, 'it finds its examples beside it', first.stdout)
loaded = subprocess.run(['ldd', moved + '/bin/halfulp'], env=bare, capture_output=True, text=True).stdout
system = re.compile(r'lib(c|m|pthread|dl|rt)\.so|linux-vdso|/ld-linux')
strange = [s for s in loaded.splitlines() if moved not in s and not system.search(s)]
tap.none(strange, 'it loads the libraries beside it')

# The jobs of the services, with the archive of a release
try:
    import services
except ImportError:
    tap.skip('the services\' jobs', 'PyYAML is absent')
    tap.finish()
home = tap.home()
outputs = home + '/out'
example = tap.TOP + '/examples/digits'
made = tap.halfulp('validate', example + '.onnx', '--data', example + '.npz', '--policy', 'int4',
    '--outputs', outputs)
tap.ok(made.returncode == 0, 'outputs to gate', made.stderr)


def checkout(name, service):
    """A user's folder, with the action beside it where the service brings it."""
    at = home + '/' + name
    os.makedirs(at)
    if service == 'github':
        os.makedirs(at + '/halfulp/doc')
        os.symlink(tap.TOP + '/doc/ci', at + '/halfulp/doc/ci')
    for f in ('float32', 'int4'):
        shutil.copy('%s/%s.npz' % (outputs, f), at)
    shutil.copy(archive, at + '/release.tar.gz')
    return at


def job(service, at, given):
    return services.github(at, given)[0] if service == 'github' else services.gitlab(at, given)


for service in ('github', 'gitlab'):
    given = {'baseline': 'float32.npz', 'rules': 'scores: sqnr >= 30', 'binary': 'release.tar.gz', 'sha256': digest}
    at = checkout(service, service)
    p = job(service, at, dict(given, new='float32.npz'))
    tap.ok(p.returncode == 0 and 'hold' in p.stdout, service + ': a released program holds files', p.stdout + p.stderr)
    os.remove(at + '/release.tar.gz')
    p = job(service, at, dict(given, new='int4.npz'))
    tap.ok(p.returncode == 1 and 'scores' in p.stdout, service + ': kept by the cache it is not obtained again',
        p.stdout + p.stderr)
    at = checkout(service + '-other', service)
    with open(at + '/release.tar.gz', 'ab') as f:
        f.write(b'0')
    p = job(service, at, dict(given, new='float32.npz'))
    tap.ok(p.returncode == 3 and not os.path.exists(at + '/halfulp/build/halfulp'),
        service + ': of an archive with another sum nothing is run', [p.returncode, p.stdout, p.stderr])
    at = checkout(service + '-no-sum', service)
    p = job(service, at, dict(given, new='float32.npz', sha256=''))
    tap.ok(p.returncode in (2, 3) and not os.path.exists(at + '/halfulp/build/halfulp'),
        service + ': nor of one without a sum', [p.returncode, p.stdout, p.stderr])
    tap.ok('inputs.sha256' in services.caches()[service], service + ': the cache of another sum is another')
tap.finish()
