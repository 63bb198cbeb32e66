#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What three newcomers do first, with the commands of the pages that README sends them to, copied from there by this
# test: who ships a model tomorrow decides in three commands; who wants a build that turns red has a green and a red one
# in four; who writes a paper has six figures and a compiled page in eight. The first two are in a root with a shell and
# the installed program and nothing else, the third in an empty folder. What each takes is told.
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

BUILD = os.environ.get('top_builddir', '.')


def commands(page):
    """The commands of a page's first indented block, each with its exit code: 1 where the page expects that."""
    text = open(os.path.join(tap.TOP, page), encoding='utf-8').read()
    lines = re.search(r'\n\n((?:    .*\n)+)', text)[1].splitlines()
    expected = re.compile(r' \|\| test \$\? = (\d)$')
    return [(expected.sub('', line.strip()), int(m[1]) if (m := expected.search(line)) else 0) for line in lines]


def install(root):
    """Installs the program into ROOT, with the libraries that it loads; returns where the pages' lines run."""
    env = {k: v for k, v in os.environ.items() if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    done = subprocess.run(['make', '-C', BUILD, 'install', 'DESTDIR=' + root, 'prefix=/usr/local'], env=env,
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if not tap.ok(done.returncode == 0, 'make install, into an empty root', done.stderr):
        tap.finish()
    complete(root + '/usr/local')
    loaded = subprocess.run(['ldd', root + '/usr/local/bin/halfulp'], capture_output=True, text=True).stdout
    for path in re.findall(r'(?:=> |^\t)(/\S+)', loaded, re.M):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    work = root + '/tmp'
    os.makedirs(work, exist_ok=True)
    os.symlink('/usr/local/share/halfulp/examples', work + '/examples')
    # clean-root.sh has /usr as another name of the root
    for name in os.listdir(root + '/usr'):
        os.rename(os.path.join(root, 'usr', name), os.path.join(root, name))
    os.rmdir(root + '/usr')
    return work


def complete(usr):
    """What is installed in USR: the program without its debugging symbols, a manual page for each command, completions,
    and every document that help names."""
    commands = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
    pages = sorted(os.listdir(usr + '/share/man/man1'))
    tap.ok(pages == sorted(['halfulp.1'] + ['halfulp-%s.1' % c for c in commands]), 'a manual page for each command',
        pages)
    sections = subprocess.run(['readelf', '-S', usr + '/bin/halfulp'], capture_output=True, text=True).stdout
    size = os.path.getsize(usr + '/bin/halfulp')
    tap.ok('.debug_info' not in sections and size < 15e6, 'the program has no debugging symbols: %.1f MB'
        % (size / 1e6))
    for name in ('bash-completion/completions/halfulp', 'zsh/site-functions/_halfulp',
                 'fish/vendor_completions.d/halfulp.fish'):
        tap.ok(os.path.getsize(usr + '/share/' + name) > 4000, 'the completion ' + name)
    helped = ''.join(tap.halfulp('help', c, '--all').stdout for c in commands) + tap.halfulp('--help').stdout
    named = set(re.findall(r'\b(?:doc/[\w/-]+|README|INSTALL|CONTRIBUTING)\.md', helped))
    tap.ok(named and all(os.path.exists(usr + '/share/doc/halfulp/' + n) for n in named),
           'the documents that help names are installed', sorted(named))


def bare(root, command):
    where = 'PATH=/usr/local/bin:$PATH && cd /tmp && '
    return subprocess.run(['bash', tap.TOP + '/t/tool/clean-root.sh', root, 'sh', '-c', where + command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)


def here(folder, command):
    return subprocess.run(['bash', '-c', command], cwd=folder, env=dict(os.environ, PATH=path),
        stdin=subprocess.DEVNULL, capture_output=True, text=True)


def follow(who, page, most, run):
    """Runs a page's commands, MOST at most; returns what each printed, where all ended as the page says."""
    listed = commands(page)
    tap.ok(len(listed) <= most, '%s: %s has %d commands' % (who, page, most), listed)
    printed, began = [], time.monotonic()
    for command, code in listed:
        if 'pdflatex' in command and not shutil.which('pdflatex'):
            tap.skip(command, 'pdflatex is absent')
            continue
        p = run(command)
        if p.returncode == 125:
            tap.skip('%s: %s' % (who, command), 'this user may not change roots')
            return None
        printed.append(p.stdout)
        if not tap.ok(p.returncode == code, '%s: %s' % (who, command), [p.returncode, p.stdout[-2000:], p.stderr]):
            return None
    print('# %s: %.1f s' % (who, time.monotonic() - began))
    return printed


root = os.path.join(tap.home(), 'root')
work = install(root)
said = follow('who ships a model', 'doc/deploy.md', 3, lambda c: bare(root, c))
if said:
    last = said[0].rstrip().splitlines()[-1]
    tap.ok(re.match(r'int8 keeps flips<=1% .* 3\.8 times smaller', last), 'it ends with a decision', last)
    plan = json.load(open(work + '/decided/policy.json'))
    tap.ok(plan, 'a plan was written')
    page = open(work + '/decided/report/index.html', encoding='utf-8').read()
    tap.ok('<h1' in page and 'flips' in page and 'int8' in page, 'and a page of it')
    used = tap.halfulp('validate', work + '/decided/model.onnx', '--list')
    tap.ok('QuantizeLinear' in used.stdout, 'the model that was written quantises', used.stdout + used.stderr)

said = follow('who guards a build', 'doc/ci.md', 4, lambda c: bare(root, c))
if said:
    tap.ok([code for _, code in commands('doc/ci.md')] == [0, 0, 0, 1], 'three commands are green, and the last is red')
    tap.ok('scores' in said[-1], 'the red one names what drifted', said[-1])

if subprocess.run(['sh', '-c', '${GNUPLOT:-gnuplot} --version'], capture_output=True).returncode:
    tap.skip('who writes a paper', 'gnuplot is absent')
    tap.finish()
folder = tap.home()
os.makedirs(folder + '/bin')
os.symlink(tap.HALFULP, folder + '/bin/halfulp')
path = folder + '/bin:' + os.environ['PATH']
shutil.copytree(tap.TOP + '/examples', folder + '/examples')
if follow('who writes a paper', 'doc/figures.md', 8, lambda c: here(folder, c)) is not None:
    written = open(folder + '/examples/paper.tex', encoding='utf-8').read()
    inputs = re.findall(r'\\input\{(.*?)\}', written)
    texts = {name: open('%s/paper/%s.tex' % (folder, name), encoding='utf-8').read() for name in inputs}
    figures = [name for name in inputs if '\\begin{figure}' in texts[name]]
    tap.ok(len(figures) == 6 and len(inputs) == 7, 'the page has six figures and a table', inputs)
    for name in figures:
        pdf = open('%s/paper/%s.pdf' % (folder, name), 'rb').read()
        tap.ok(pdf.startswith(b'%PDF') and '\\includegraphics' in texts[name] and '--' not in texts[name],
               '%s: a picture, and a caption whose options keep their two hyphens' % name, texts[name])
        holes = re.findall(r'\\\{\w+\\\}', texts[name])
        tap.none(holes, '%s: its commands can be typed as they stand' % name)
    if shutil.which('pdflatex'):
        log = open(folder + '/paper/paper.log', encoding='utf-8', errors='replace').read()
        faults = re.findall(r'.*(?:undefined|Missing character|Overfull).*', log)
        tap.none(faults, 'LaTeX finds all references and letters')
        tap.ok(re.search(r'Output written on paper.pdf \([2-9] pages', log), 'paper.pdf is compiled')
tap.finish()
