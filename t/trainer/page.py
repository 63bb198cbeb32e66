# SPDX-License-Identifier: Apache-2.0
# Pages whose numbers stand below the commands that print them: a console block has a command behind "$ ", which may go
# on in lines behind "> ", and its answer. All commands of a page run in one folder, in their order.
import os
import re
import subprocess

# A command that trains is made small by these where a test asks for it: its numbers change, not its answer's shape.
SMALL = (
    (r'\btrain=\d+', 'train=48'),
    (r'\beval=\d+', 'eval=16'),
    (r'--batch \d+', '--batch 16'),
    (r'--epochs \d+', '--steps 3'),
    (r'--steps \d+', '--steps 3'),
    (r'\bwidth=[\d.]+', 'width=0.06'),
    (r'\bhidden=\d+', 'hidden=8'),
    (r'\bsize=\d+', 'size=8'),
    (r'--seeds [\d,]+', '--seeds 1'),
)


def read(path):
    """Pieces of a page: texts, and [command, answer] pairs."""
    pieces, text, block = [], [], None
    for line in open(path, encoding='utf-8').read().splitlines(keepends=True):
        if block is None:
            text.append(line)
            if line == '```console\n':
                block = []
        elif line == '```\n':
            pieces += [''.join(text), *block]
            text, block = [line], None
        elif line.startswith('$ '):
            block.append([line, ''])
        elif line.startswith('> ') and not block[-1][1]:
            block[-1][0] += line
        else:
            block[-1][1] += line
    return pieces + [''.join(text)]


def command_of(piece):
    return re.sub(r'^[$>] ', '', piece[0], flags=re.M)


def trains(piece):
    return re.search(r'halfulp (train|compare)\b(?! --published)', piece[0]) is not None


def small(command):
    for pattern, to in SMALL:
        command = re.sub(pattern, to, command)
    return command


def answer(command, program, folder):
    """What the shell prints, standard error included; `halfulp` is PROGRAM."""
    tools = os.path.join(folder, '.bin')
    if not os.path.isdir(tools):
        os.makedirs(tools)
        os.symlink(os.path.abspath(program), os.path.join(tools, 'halfulp'))
    environment = dict(os.environ, PATH=tools + ':' + os.environ['PATH'], LC_ALL='C')
    done = subprocess.run(
        ['bash', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True
    )
    return (done.stdout + done.stderr).decode(errors='replace')


def shape(text):
    """The lines that an answer has, each once, without its numbers and the blanks that align them."""
    text = re.sub(r'[-+]?\b\d+(\.\d+)?(e[-+]\d+)?\b|\bnan\b|(?<= )-(?= )', '#', text)
    return sorted(set(re.sub(r'[ \t]+', ' ', text).splitlines()))
