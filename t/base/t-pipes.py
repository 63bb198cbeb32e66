# SPDX-License-Identifier: Apache-2.0
# Promise: What a pipe says may be read again by the command that it is given to, and a failure of the system on the way
# is exit 4 in one line, never a bad file.
# HALFULP names the program. Each call of the C library that concerns a pipe fails in turn (t/stub/functions.c).
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import tap
from fault_commands import TRAIN, environment

# Commands with pipes as files: a part is merged, a baseline is read twice, a table of text is compared.
COMMANDS = {'merge': 'merge <(cat one.part) <(cat two.part)', 'check': 'check run --baseline <(cat base.tsv)',
            'gate': 'gate run --baseline <(cat base.tsv) --quiet'}
FUNCTIONS = 'open fcntl lseek tmpfile fdopen fstat read fread fwrite fflush fclose close'.split()


def bash(line, **more):
    more['HALFULP_RESULTS'] = ''    # check is read by a person, not as TAP
    p = subprocess.run(['bash', '-c', 'exec "$HALFULP" ' + line], capture_output=True, text=True, timeout=60,
                       stdin=subprocess.DEVNULL, env=environment(HALFULP=tap.HALFULP, **more))
    return p.returncode, re.sub(r'[\d.]+ s\b', '', p.stdout), p.stderr     # without times


if faults.watched():
    tap.skip_all('a sanitizer watches the program, which has allocators and exits of its own')
home = tap.home()
library = faults.build(home, 'functions.c', '-shared', '-fPIC')
report = os.path.join(home, 'report')
os.chdir(home)
for line in ('train %s --steps 2 run' % TRAIN, 'analyze run --threads 1', 'baseline run -o base.tsv --reason first',
             'analyze run --only state --shard 1/2:part=one.part',
             'analyze run --only state --shard 2/2:part=two.part'):
    code, _, said = bash(line)
    if code:
        tap.bail_out('%s: %s' % (line, said))
names = subprocess.run([tap.HALFULP], env=environment(LD_PRELOAD=library, FAULT_FUNCTION='list'), capture_output=True,
                       text=True).stdout.split()
for name, line in COMMANDS.items():
    line = line.replace('<(cat', '<(env -u LD_PRELOAD cat')
    want = bash(line)
    tap.ok(want[0] == 0 and (name != 'check' or '/dev/fd/' in want[1]), '%s reads pipes' % name, want[2])
    how, wrong, tried = dict(LD_PRELOAD=library, FAULT_REPORT=report), [], 0
    bash(line, FAULT_AT='0', **how)
    counts = dict(zip(names, struct.unpack('<%dq' % (len(names) + 1), open(report, 'rb').read())))
    for f in FUNCTIONS:
        for n in faults.chosen(counts[f], 10):
            if os.path.exists(report):
                os.remove(report)
            code, out, said = bash(line, FAULT_FUNCTION=f, FAULT_AT=str(n), **how)
            tried += 1
            lines = [x for x in said.splitlines() if x]
            if not (code == 4 and 1 <= len(lines) <= (2 if name == 'gate' else 1)) and not (
                    code == 0 and out == want[1] and said == want[2]):
                wrong.append('%s, call %d of %d: exit %d, %s' % (f, n, counts[f], code, said.strip() or out[-200:]))
    tap.none(wrong, '%s: %d calls about pipes and other files fail' % (name, tried))
tap.finish()
