#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What the packages say agrees with what they are made of: one version everywhere, Debian's packages are built with what
# bootstrap installs, the library's package is named after the library, the image is made of these packages, and the
# pages that name a released archive name the one that make bundle writes.
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap


def text(name):
    with open(os.path.join(tap.TOP, name), encoding='utf-8') as f:
        return f.read()


version = re.search(r'AC_INIT\(\[halfulp\], \[(.*?)\]\)', text('configure.ac'))[1]
said = {name: re.findall(pattern, text(name), re.M) for name, pattern in (
    ('debian/changelog', r'^halfulp \((.*?)-\S+\) '),
    ('CITATION.cff', r'^version: (.*)$'),
    ('CHANGELOG.md', r'^## (\d.*)$'))}
tap.none(['%s: %s' % (n, v[:1]) for n, v in said.items() if v[:1] != [version]], 'one version everywhere: ' + version)
named = [(n, v) for n in ('action.yml', 'doc/ci.md', 'doc/ci/tensors.yml', 'README.md', 'INSTALL.md')
         for v in re.findall(r'(?:halfulp[-_]|halfulp/tensors@|halfulp@v)(\d+\.\d+\.\d+)', text(n))]
tap.none([n for n in named if n[1] != version], 'what pages say to download has it (%d)' % len(named))
tap.ok(len(named) >= 4, 'they do name it', named)

# bootstrap's table for apt: a package name a word that is missing; what begins with no case of its own is the word
control = text('debian/control')
built_with = re.findall(r'^ ([a-z0-9.+-]+)', control[control.index('Build-Depends:'):control.index('Standards-')], re.M)
shell = text('bootstrap')
table = dict(re.findall(r'^\t\tapt:([a-z-]+)\) echo ([a-z0-9.+-]+) ;;$', shell, re.M))
libraries = [w for w in re.findall(r'^\theader \S+ (?:-\S+ )?\|\| missing="\$missing ([a-z0-9-]+)"', shell, re.M)
             if w in table]
wanted = [table[w] for w in libraries + ['protoc-c', 'gnuplot', 'font']]
tap.ok(len(libraries) >= 9, 'bootstrap names %d libraries' % len(libraries), libraries)
tap.none([w for w in wanted if w not in built_with and w != table.get('openmp')],
    'the packages are built with what bootstrap installs')
alone = set(built_with) - set(wanted) - {'debhelper-compat', 'libblas-dev', 'python3'}
tap.none(sorted(alone), 'and with nothing else but any BLAS')

soname = re.search(r'^SONAME = libhalfulp\.so\.(\d+)$', text('Makefile.am'), re.M)[1]
tap.ok(re.findall(r'^Package: (.*)$', control, re.M) == ['halfulp', 'libhalfulp' + soname, 'libhalfulp-dev'],
    'the packages are named after the library')
tap.ok(text('dynamic/halfulp.map').startswith('HALFULP_%s {' % soname) and 'HALFULP_%s@HALFULP_%s' % (soname, soname)
       in text('debian/rules'), 'so are its symbols')
image = text('Containerfile')
stages = re.findall(r'^FROM (\S+)', image, re.M)
tap.ok(len(stages) == 2 and len({s for s in stages}) == 1 and re.search(r'^ENTRYPOINT \["halfulp"\]$', image, re.M)
       and 'dpkg-buildpackage' in image and '/tmp/halfulp_*.deb' in image,
    'the image is made of the packages, in two stages of one system, and its command is halfulp', stages)
targets = re.findall(r'^(wheel|deb|dist|bundle|container):', text('Makefile.am'), re.M)
pages = text('INSTALL.md')
absent = [t for t in [*targets, 'dist'] if not re.search(r'make (?:-C build )?%s\b' % t, pages)]
tap.none(absent, 'INSTALL.md has each target that makes a package')
tap.ok(sorted(targets) == ['bundle', 'container', 'deb', 'wheel'], 'each is one target (dist is Automake\'s)', targets)
tap.finish()
