#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions, which are made of what the program says of itself: each command has a page with all of
# its options, and bash, zsh and fish, where they are there, complete commands and options.
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

home = tap.home()
os.chdir(home)
p = subprocess.run(['sh', tap.TOP + '/doc/man/pages.sh', tap.HALFULP, tap.TOP, 'made'], capture_output=True, text=True)
if not tap.ok(p.returncode == 0 and not p.stderr, 'pages.sh makes the pages', p.stderr):
    tap.finish()
known = re.findall(r'^COMMAND\((.*)\)$', open(tap.TOP + '/commands.def').read(), re.M)
options = {c: re.findall(r'^  (--[a-z0-9-]+)', tap.halfulp('help', c, '--all').stdout.split('\noptions:\n')[1], re.M)
    for c in known}
man = shutil.which('man') and shutil.which('groff')


def page(name):
    return open('made/man/' + name, encoding='utf-8').read().replace('\\-', '-').replace('\\e', '\\')


for c in known:
    text = page('halfulp-%s.1' % c)
    text_of_keys = re.findall(r'^(?:  (--[a-z0-9-]+)|    ([a-z0-9_]+=?))', tap.halfulp('help', c, '--all').stdout, re.M)
    want, option = [], ''
    for name, key in text_of_keys:
        option = name or option
        want.append(name or option + ' ' + key)
    of = [name + ' ' + key if name + ' ' + key in want else name
        for name, key in re.findall(r'^\.TP\n\.B (--[a-z0-9-]+)(?: ([a-z0-9_]+=?))?', text, re.M)]
    tap.ok(of == want and [x for x in of if ' ' not in x] == options[c] and len(options[c]) > 2,
        'halfulp-%s(1) has the %d options of the command and their %d keys' % (c, len(options[c]), len(of) -
        len(options[c])), [of, want])
    tap.ok('.SH EXIT STATUS\n0 ' in text and '.SH NAME\nhalfulp-%s - ' % c in text,
        'its name, and what it exits with', text)
policies = re.findall(r'^POLICY\("(\w+)"', open(tap.TOP + '/lib/program/policy/policies.def').read(), re.M)
tap.ok(re.findall(r'^\.B (\w+)$', page('halfulp-policies.7'), re.M) == policies, 'halfulp-policies(7) has every policy')
sums = re.findall(r'^SUM\(\w+, (\w+)', open(tap.TOP + '/lib/sum/sums.def').read(), re.M)
found = re.findall(r'^\.B (\w+).*\n(.+)', page('halfulp-sums.7'), re.M)
tap.ok([f[0] for f in found] == sums and all(len(f[1]) > 20 for f in found),
    'halfulp-sums(7) says what each model does', found)
rows = tap.halfulp('formats', '--json').stdout
tap.ok(all(re.search(r'^%s  +\d' % f, page('halfulp-formats.7'), re.M) for f in ('fp16', 'bf16', 'e4m3', 'e2m1',
    'tf32')),
       'halfulp-formats(7) has the formats')
for name in sorted(os.listdir('made/man')):
    if not man:
        tap.skip(name, 'man is absent')
        continue
    p = subprocess.run(['man', '--warnings', '-l', 'made/man/' + name], env=dict(os.environ, MANWIDTH='100'),
        capture_output=True, text=True)
    faults = [line for line in p.stderr.splitlines() if 'adjust line' not in line and 'break line' not in line]
    tap.ok(p.returncode == 0 and not faults, 'man shows %s' % name, faults)

# The shells
os.mkdir('bin')
os.symlink(tap.HALFULP, 'bin/halfulp')
env = dict(os.environ, PATH=home + '/bin:' + os.environ['PATH'], HOME=home, TERM='dumb')
ask = ('source made/completion/halfulp; COMP_WORDS=(halfulp %s "%s"); COMP_CWORD=%d; _halfulp; echo "${COMPREPLY[@]}"')


def in_bash(before, word):
    line = ask % (before, word, 1 + len(before.split()))
    return subprocess.run(['bash', '-c', line], env=env, capture_output=True, text=True).stdout.split()


tap.ok(in_bash('', 'va') == ['validate'], 'bash completes a command', in_bash('', 'va'))
tap.ok(in_bash('help', 'va') == ['validate'], 'and behind help', in_bash('help', 'va'))
for c in known:
    got = [o.rstrip('=') for o in in_bash(c, '--')]
    tap.ok(sorted(got) == sorted(options[c]), 'bash completes the options of %s' % c, [got, options[c]])
if shutil.which('fish'):
    script = 'source made/completion/halfulp.fish; complete -C "halfulp va"; complete -C "halfulp validate --acc"'
    got = subprocess.run(['fish', '--no-config', '-c', script], env=env, capture_output=True, text=True)
    lines = [line.split('\t')[0] for line in got.stdout.splitlines()]
    tap.ok('validate' in lines and '--accept' in [x.rstrip('=') for x in lines], 'fish completes both',
        [got.stdout, got.stderr])
else:
    tap.skip('fish', 'fish is absent')


def in_zsh(typed, until):
    """What zsh shows after TYPED and a tab, on a terminal of its own."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe('zsh', ['zsh', '-f', '-i'], env)
    shown, end = '', time.monotonic() + 30
    os.write(fd, ("PS1='> '; fpath=(%s/made/completion $fpath); autoload -U compinit; compinit -u -D; echo rea''dy\n"
        % home).encode())
    sent = False
    while time.monotonic() < end and until not in shown.split('ready')[-1]:
        if select.select([fd], [], [], 0.5)[0]:
            try:
                shown += os.read(fd, 4096).decode(errors='replace')
            except OSError:
                break
        if not sent and re.search(r'ready\r?\n.*> ', shown, re.S):
            os.write(fd, (typed + '\t').encode())
            sent = True
    os.close(fd)
    os.waitpid(pid, 0)
    return shown


if shutil.which('zsh'):
    for typed, until in (('halfulp vali', 'halfulp validate'), ('halfulp validate --accep', '--accept=')):
        shown = in_zsh(typed, until)
        tap.ok(until in re.sub(r'\x1b\[[?0-9;]*[a-zA-Z]', '', shown).split('ready')[-1], 'zsh completes %s' % typed,
            repr(shown))
else:
    tap.skip('zsh', 'zsh is absent')
tap.finish()
