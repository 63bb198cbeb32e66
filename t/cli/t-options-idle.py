# SPDX-License-Identifier: Apache-2.0
# Lines on which an option has no effect, each a row of options/idle.txt: exit 2, one line that names the option, and
# nothing is written. Arguments: these commands alone.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/cli/options'))
import lines
from tap import finish, ok

lines.prepare()
for option, line in lines.rows('idle.txt'):
    line = lines.expand(line)
    if sys.argv[1:] and line.split()[0] not in sys.argv[1:]:
        continue
    seen, (code, err) = lines.observe(line)
    ok(code == 2 and err.count('\n') == 0 and '--%s has no effect' % option in err and not seen[2],
       'refused: %s' % line.replace(lines.home, ''), '%d: %s' % (code, err))
finish()
