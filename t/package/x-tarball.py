#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# make dist: the release is unpacked elsewhere and built by README's line, without autoconf and automake, and README's
# commands print there what README says. What the build wrote is under its own folder alone.
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

BUILD = os.environ.get('top_builddir', '.')
env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'HALFULP', 'srcdir')}
compiler = os.environ.get('CC', 'cc')


def run(*words, **how):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, **dict(dict(env=env), **how))


def files(folder):
    return {os.path.relpath(os.path.join(at, n), folder) for at, _, names in os.walk(folder) for n in names}


home = tap.home()
version = tap.halfulp('--version').stdout.split()[1]
archive = 'halfulp-%s.tar.gz' % version
made = run('make', '-C', BUILD, 'dist')
if not tap.ok(made.returncode == 0, 'make dist', made.stderr):
    tap.finish()
run('tar', 'xzf', os.path.abspath(BUILD + '/' + archive), '-C', home)
os.remove(BUILD + '/' + archive)
top = home + '/halfulp-' + version
tracked = run('git', '-C', tap.TOP, 'ls-files')
if tracked.returncode == 0:
    untold = re.compile(r'\.git(ignore|hub/ISSUE)|bench/gpu') # of the repository, not of a release
    tap.none(sorted(f for f in set(tracked.stdout.split('\n')[:-1]) - files(top) if not untold.match(f)),
        'every file of the repository is in the release')
os.mkdir(home + '/bin')
for tool in ('autoconf', 'automake', 'autoreconf', 'aclocal'):
    with open(home + '/bin/' + tool, 'w', encoding='utf-8') as f:
        f.write('#!/bin/sh\necho "$0 was called" >&2\nexit 63\n')
    os.chmod(home + '/bin/' + tool, 0o755)
before = files(top)
readme = open(top + '/README.md', encoding='utf-8').read()
line = re.search(r'^    (\./bootstrap)$', readme, re.M)[1]
with_path = dict(env, PATH=home + '/bin:' + env['PATH'], BOOTSTRAP_INSTALL='no')
built = run('sh', '-c', line + ' --with-cuda=no "CC=$0"', compiler, cwd=top, env=with_path)
if not tap.ok(built.returncode == 0 and 'was called' not in built.stderr, 'README\'s line builds it without autoconf',
        (built.stdout + built.stderr)[-2000:]):
    tap.finish()
tap.none(sorted(f for f in files(top) - before if not f.startswith('build/')), 'what is built is in build/')
first = run(sys.executable, '-B', 't/newcomer/t-first.py', cwd=top,
    env=dict(env, HALFULP=top + '/build/halfulp', srcdir='.'))
tap.ok(first.returncode == 0, 'README\'s commands print what README says', first.stdout + first.stderr)
golden = run('bash', 't/golden/t-golden.sh', cwd=top,
    env=dict(env, HALFULP=top + '/build/halfulp', srcdir='.', top_builddir='build'))
tap.ok(golden.returncode == 0, 'it computes the digests that every build is held to', golden.stdout + golden.stderr)
run('make', '-C', top + '/build', 'install', 'DESTDIR=' + home + '/stage', 'prefix=/usr')
used = run(home + '/stage/usr/bin/halfulp', 'calc', '1 + 0.0001', '--format', 'fp16', cwd='/')
tap.ok('swamped' in used.stdout, 'what it installs runs', used.stderr)
tap.finish()
