#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Containerfile, without podman or docker: its lines are read here, and its RUN and COPY lines are done in copies of a
# pristine Debian root, in a mount namespace of each command's own. So they are tried as they stand, but not podman's
# own reading of them. The image's command then decides on README's model in a folder that is mounted as /data.
# HALFULP_DEBIAN_ROOT names the pristine root; without it debootstrap makes one from the machine's own mirror.
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

NAMESPACE = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
             'if test -n "$1"; then mkdir -p "$0/data" && mount --bind "$1" "$0/data"; fi || exit 125; '
             'root=$0; shift; exec chroot "$root" "$@"')


def run(*words, **how):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)


def lines(path):
    """The instructions of a Containerfile: (WORD, rest), continued lines joined, comments left out."""
    with open(path, encoding='utf-8') as f:
        text = re.sub(r'^#.*\n', '', f.read(), flags=re.M)
    return [tuple(line.split(None, 1)) for line in re.sub(r'\\\n\s*', '', text).splitlines() if line.strip()]


class Stage:
    """A root that a stage fills, with what its ENV and WORKDIR lines say."""

    def __init__(self, name):
        self.name, self.env, self.folder = name, {}, '/'
        self.root = os.path.join(tap.home(), 'root')
        subprocess.run(['cp', '-a', '--reflink=auto', pristine, self.root], check=True)
        for f in ('/etc/resolv.conf', '/etc/hosts'):
            if os.path.exists(f):
                shutil.copy(f, self.root + '/etc/')

    def do(self, words, mounted=''):
        env = ['env', '-i', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root',
               *('%s=%s' % pair for pair in self.env.items())]
        at = 'mkdir -p "$0" && cd "$0" && exec "$@"'
        return run('unshare', '-m', 'sh', '-c', NAMESPACE, self.root, mounted, '/usr/bin/env', *env[1:], 'sh', '-c', at,
            self.folder, *words)


def context():
    """What COPY . copies: the sources but for the lines of .dockerignore."""
    with open(tap.TOP + '/.dockerignore', encoding='utf-8') as f:
        left_out = f.read().split()
    to = os.path.join(tap.home(), 'context')
    shutil.copytree(tap.TOP, to, symlinks=True, ignore=lambda at, names: [] if os.path.abspath(at) != tap.TOP else [
        n for n in names for pattern in left_out if re.fullmatch(pattern.replace('.', r'\.').replace('*', '.*'), n)])
    return to


def copy(rest, stage):
    words = shlex.split(rest)
    source = sources
    if words[0].startswith('--from='):
        source = next(s for s in stages if s.name == words.pop(0)[len('--from='):]).root
    *names, to = words
    for name in names:
        for path in glob.glob(source + '/' + name.lstrip('/')) or [source + '/' + name]:
            target = stage.root + (to + os.path.basename(path) if to.endswith('/') else to)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(path):
                shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(path, target)


if os.getuid() or not shutil.which('unshare'):
    tap.skip_all('only root may change roots and mount in them')
pristine = os.environ.get('HALFULP_DEBIAN_ROOT')
instructions = lines(tap.TOP + '/Containerfile')
bases = {rest.split()[0] for word, rest in instructions if word == 'FROM'}
tap.ok(bases == {'debian:12-slim'}, 'both stages are of Debian 12', bases)
if not pristine:
    if not shutil.which('debootstrap'):
        tap.skip_all('there is neither HALFULP_DEBIAN_ROOT nor debootstrap')
    pristine = os.path.join(tap.home(), 'pristine')
    made = run('debootstrap', '--variant=minbase', 'bookworm', pristine)
    if made.returncode:
        tap.skip_all('debootstrap makes no root here: ' + made.stderr.strip()[-100:])
sources = context()
tap.ok(not os.path.exists(sources + '/.git') and not os.path.exists(sources + '/build')
       and os.path.exists(sources + '/debian/control'), '.dockerignore leaves out what a build wrote')
stages, entry, command = [], None, None
for word, rest in instructions:
    stage = stages[-1] if stages else None
    if word == 'FROM':
        stages.append(Stage(rest.split()[-1] if ' AS ' in rest else ''))
    elif word == 'ENV':
        stage.env.update(pair.split('=', 1) for pair in shlex.split(rest))
    elif word == 'WORKDIR':
        stage.folder = rest
    elif word == 'COPY':
        copy(rest, stage)
    elif word == 'RUN':
        done = stage.do(['sh', '-c', rest])
        if done.returncode == 125 or 'Temporary failure resolving' in done.stderr:
            tap.skip('RUN ' + rest, 'this machine may not mount, or reaches no mirror')
            tap.finish()
        if not tap.ok(done.returncode == 0, 'RUN ' + rest, (done.stdout + done.stderr)[-3000:]):
            tap.finish()
    elif word == 'ENTRYPOINT':
        entry = json.loads(rest)
    elif word == 'CMD':
        command = json.loads(rest)
    else:
        tap.ok(False, 'this test does %s lines' % word, rest)

image = stages[-1]
data = tap.home()
for end in ('onnx', 'npz'):
    shutil.copy(tap.TOP + '/examples/digits.' + end, data)
p = image.do(entry + ['validate', 'digits.onnx', '--data', 'digits.npz', '--policy', 'fp16,int8', '--accept',
    'flips<=1%'], data)
tap.ok(p.returncode == 0 and 'int8 keeps flips<=1%' in p.stdout, 'the image decides on a model in /data',
    p.stdout + p.stderr)
p = image.do(entry + command)
tap.ok(p.returncode == 0 and 'validate' in p.stdout, 'without a command it says what there is', p.stdout + p.stderr)
p = image.do(entry + ['figures', 'swamped-addend', '--out', 'drawn'], data)
tap.ok(p.returncode == 0 and os.path.exists(data + '/drawn/swamped-addend.png'), 'it draws', p.stdout + p.stderr)
lost = image.do(['sh', '-c', 'command -v gcc || command -v make'])
size = sum(os.lstat(os.path.join(at, n)).st_size for at, _, names in os.walk(image.root) for n in names) / 1e6
tap.ok(lost.returncode, 'there is no compiler in it', lost.stdout)
tap.ok(size < 600, 'it has %.0f MB' % size)
tap.finish()
