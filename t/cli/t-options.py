# SPDX-License-Identifier: Apache-2.0
# Every option of every command has an effect: a row an option of options/effects.txt, the line it is added to, and
# itself with a value; what the program prints and writes, without times and without the mere record of its settings,
# must change. An option of --help without a row fails, and so does a key of an option, whose row is named OPTION:KEY.
# Lines on which an option has no effect are t-options-idle.py's. Arguments: these commands alone.
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/cli/options'))
import lines
from lines import SOURCES, expand, home, observed, prepare, run
from tap import NO_SHIM, finish, has_shim, ok, skip


def options_of(command):
    """The options of its help, and the keys of each as OPTION:KEY."""
    found, option = [], None
    for name, key in re.findall(r'^(?:  --([a-z0-9-]+)|    ([a-z0-9_]+)[= ])', run(command + ' --help')[1], re.M):
        option = name or option
        found.append(name or option + ':' + key)
    return found


def lacks(err):
    return re.search(r'no C\+\+ compiler|cuBLAS has not', err)


# Options of every command with a picture, which t/reports/t-pictures.py tries
PICTURE = ('style', 'width')
# Options of every command, of which t/cli/t-memory.py tries the second
EVERYWHERE = ('help', 'max-memory')
# Options of every command with --json, which t/reports/t-tables.py tries
TABLE = ('out', 'columns', 'where', 'digits')
# How many names the options of all commands have, and train's; keys are not counted. The numbers may only fall.
NAMES, TRAIN_NAMES = 120, 30


def main():
    drawn = re.findall(r'^VIEW\("([^"]+)"', open(SOURCES + '/reports/pictures/pictures.def').read(), re.M)
    commands = re.findall(r'^COMMAND\((\w+)\)', open(SOURCES + '/commands.def').read(), re.M)
    rows = lines.rows('effects.txt')
    named = [tuple(r[0].split()) for r in rows]
    asked = sys.argv[1:] or commands  # arguments: these commands alone
    rows = [r for r in rows if r[0].split()[0] in asked]
    for c in asked:
        missing = [o for o in options_of(c) if o not in EVERYWHERE and o not in TABLE and (c, o) not in named
                and (c not in drawn or o not in PICTURE)]
        ok(not missing, '%s: every option of --help has a row in options/effects.txt' % c,
           'no row: ' + ', '.join(missing))
        surplus = [o for k, o in named if k == c and o not in options_of(c)]
        ok(not surplus, '%s: and every row an option' % c, 'no option: ' + ', '.join(surplus))
    if not sys.argv[1:]:
        names = {c: [o for o in options_of(c) if ':' not in o and o not in EVERYWHERE] for c in commands}
        every = len({o for of in names.values() for o in of})
        ok(every <= NAMES and len(names['train']) <= TRAIN_NAMES,
           '%d names of options, %d of train' % (every, len(names['train'])),
           '%d and %d may be' % (NAMES, TRAIN_NAMES))
    prepare()
    known = {}
    for name, base, option in rows:
        base = expand(base)
        if base not in known:
            known[base] = observed(base)
        before, how = known[base]
        line = base[:-1] + option if base.endswith(' R') else base + ' ' + option
        after, said = observed('%s %s' % (line, 'R' if base.endswith(' R') else ''))
        if lacks(how[1]) or lacks(said[1]):
            skip('%s --%s' % tuple(name.split()), 'the kernels are not compiled for the host')
            continue
        if before == after and name.startswith('plan ') and not has_shim():
            skip('plan --' + name.split()[1], NO_SHIM)
            continue
        ok(before != after and 'has no effect' not in said[1], '%s %s changes what is seen' % (name.split()[0], option),
           '%s\nwithout: %s\nwith: %s' % (base, how, said))
    for line, (before, how) in known.items():
        again, _ = observed(line)
        ok(before == again, 'the same line, the same picture: %s' % line.replace(home, ''), '%s\n%s' % (before, again))
    finish()


main()
