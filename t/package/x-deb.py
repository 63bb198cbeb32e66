#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# make deb: Debian's packages are made of the release, lintian finds neither errors nor warnings in them, and the tests
# of debian/tests/control, of which one is README's commands with what they print, hold where the packages' files lie
# over /usr in a mount namespace of the test's own, and the build folder is empty.
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

BUILD = os.path.abspath(os.environ.get('top_builddir', '.'))
for tool in ('dpkg-buildpackage', 'dh', 'fakeroot', 'unshare'):
    if not shutil.which(tool):
        tap.skip_all('%s is absent' % tool)
NAMESPACE = ('mount -t overlay -o lowerdir="$0/usr":/usr overlay /usr && mount -t tmpfs none "$1" || exit 125; '
             'cd "$2"; shift 2; exec "$@"')


def run(*words, **how):
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'HALFULP', 'srcdir')}
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, **how)


def installed(root, folder, *words):
    """Runs a command in FOLDER where the files of ROOT/usr lie over those of /usr, and the build folder is empty."""
    own = [] if os.getuid() == 0 else ['-r']
    return run('unshare', '-m', *own, 'sh', '-c', NAMESPACE, root, BUILD, folder, *words)


lacks = run('dpkg-checkbuilddeps', tap.TOP + '/debian/control')
if lacks.returncode:
    tap.skip_all('what the packages are built with is absent: ' + lacks.stderr.strip()[-200:])
made = run('make', '-C', BUILD, 'deb', 'DEB_FLAGS=-j2')
if not tap.ok(made.returncode == 0, 'make deb', (made.stdout + made.stderr)[-3000:]):
    tap.finish()
debs = {os.path.basename(p).split('_')[0]: p for p in glob.glob(BUILD + '/deb/*.deb')}
want = ['halfulp', 'libhalfulp-dev', 'libhalfulp0']
tap.ok(sorted(n for n in debs if 'dbgsym' not in n) == want, 'there are three packages', sorted(debs))
changes = glob.glob(BUILD + '/deb/*.changes')
if shutil.which('lintian'):
    found = run('lintian', '--allow-root', '--fail-on', 'error,warning', '--no-tag-display-limit', *changes)
    tap.ok(found.returncode == 0 and len(changes) == 1, 'lintian finds no error and no warning',
        (found.stdout + found.stderr).splitlines())
else:
    tap.skip('lintian finds no error and no warning', 'lintian is absent')

# Installed: the program stands alone, the library needs the program's package not, and -dev needs the library
control = {n: run('dpkg-deb', '-f', debs[n]).stdout for n in want}
tap.ok(all(re.search(r'^Depends:.*\blibmpfr6\b', control[n], re.M) for n in ('halfulp', 'libhalfulp0')),
    'dependencies on libraries are found by what the files load', control['halfulp'])
tap.ok('libhalfulp0 (= ' in control['libhalfulp-dev'], 'the headers need the very library', control['libhalfulp-dev'])
root = tap.home() + '/root'
sources = tap.home() + '/sources'
for name in want:
    run('dpkg', '-x', debs[name], root)
shutil.copytree(tap.TOP, sources, ignore=lambda at, names: [n for n in names if n.startswith(('build', '.git'))],
    symlinks=True)
with open(root + '/usr/bin/halfulp', 'rb') as f:
    program = f.read()
tap.ok(BUILD.encode() not in program and tap.TOP.encode() not in program, 'the program names no folder of the build')
documents = root + '/usr/share/doc/halfulp/'
absent = [n for n in ('README.md', 'doc/deploy.md', 'doc/gallery/index.html', 'copyright') if not
          os.path.exists(documents + n)]
absent += [n for n in ('man/man1/halfulp-validate.1.gz', 'man/man7/halfulp-formats.7.gz', 'halfulp/reports/style.gp',
                       'zsh/vendor-completions/_halfulp') if not os.path.exists(root + '/usr/share/' + n)]
tap.none(absent, 'documents, manual, figures and completions are in the packages')

# The tests that autopkgtest runs
stanzas = open(tap.TOP + '/debian/tests/control', encoding='utf-8').read()
names = re.findall(r'^Tests: (\S+)$', stanzas, re.M)
tap.ok(sorted(names) == sorted(n for n in os.listdir(tap.TOP + '/debian/tests') if n != 'control'),
    'each file of debian/tests is a test', names)
for name in names:
    p = installed(root, sources, 'debian/tests/' + name)
    if p.returncode == 125:
        tap.skip('debian/tests/' + name, 'this user may not mount')
        continue
    tap.ok(p.returncode == 0, 'debian/tests/%s holds where the packages are installed' % name,
        (p.stdout + p.stderr)[-3000:])
empty = tap.home()
draw = 'halfulp calc --explain --sum tc:hopper "sum(1, 0.1*0.2, 3*100)" -o one.svg >said && ls'
p = installed(root, empty, 'sh', '-c', 'command -v halfulp && ' + draw)
if p.returncode == 125:
    tap.skip('the installed program draws', 'this user may not mount')
elif shutil.which('gnuplot'):
    tap.ok(p.stdout.startswith('/usr/bin/halfulp\n') and 'one.svg\n' in p.stdout, 'the installed program draws',
        p.stdout + p.stderr)
tap.finish()
