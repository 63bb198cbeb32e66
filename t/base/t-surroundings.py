# SPDX-License-Identifier: Apache-2.0
# Promise: Where and by whom a command is started (umask, time zone, locale, a home that is not there, another folder
# for temporary files) changes no byte of what it says and writes.
# Each command of t/tool/fault_commands.py runs twice: as usual, and so that all of these are others at once.
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import tap
from fault_commands import COMMANDS, prepare

# In Los Angeles 1980 begins eight hours late, and in Turkish i and I are not the same letter
ELSEWHERE = dict(TZ='America/Los_Angeles', HOME='/nonexistent', LANG='de_DE.UTF-8')
STRICT = ['sh', '-c', 'umask 077; exec "$0" "$@"']


def locale_of(home):
    """Settings under which a Turkish locale is found, or C's with letters of all languages where it can't be made."""
    os.mkdir(home + '/locales')
    made = subprocess.run('localedef -i tr_TR -f UTF-8 %s/locales/tr_TR.UTF-8' % home, shell=True, capture_output=True)
    if made.returncode:
        return dict(LC_ALL='C.UTF-8')
    return dict(LC_ALL='tr_TR.UTF-8', LOCPATH=home + '/locales')


if faults.watched():
    tap.skip_all('a sanitizer watches the program, which has settings of its own')
home = tap.home()
os.umask(0o022)
elsewhere = dict(ELSEWHERE, TMPDIR=home + '/locales', **locale_of(home))
print('# elsewhere: umask 077 %s' % ' '.join('%s=%s' % x for x in elsewhere.items() if home not in x[1]), flush=True)
tracer, of_c = faults.build(home, 'calls.c'), faults.build(home, 'functions.c', '-shared', '-fPIC')
prepare(home + '/files', tracer)
for name in [*COMMANDS, 'validate against', 'advise out', 'judge make', 'gate', 'report page', 'plan export']:
    if name == 'train resume' and not os.path.isdir(home + '/files/cut'):
        continue
    case = faults.Case(name, home, home + '/files', of_c)
    tap.none(case.judge(*case.run([*STRICT, faults.HALFULP], **elsewhere), codes=()), '%s: the same elsewhere' % name)
tap.finish()
