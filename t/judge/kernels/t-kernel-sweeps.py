#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Every kernel that judge knows is swept: PyTorch's own kernels keep their bounds on all that --make draws, boundary
# shapes and hostile values, with the exceptions that sweeps.py names, which have to be found; a kernel that is wrong
# where PyTorch's is right is caught. t-kernel-sweep.py has the others. Needs torch.
import json
import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', TOP + '/t/judge/kernels']
from tap import HALFULP, finish, home, ok, skip_all  # noqa: E402
from tap import halfulp as run  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
os.environ['HALFULP'] = HALFULP
import halfulp  # noqa: E402
from sweeps import LONGEST, ROWS, WRONG  # noqa: E402

os.chdir(home())
listed = {r['name'] for r in json.loads(run('judge', 'list', '--json').stdout) if r['kind'] == 'kernel'}
others = set(re.findall(r"'(\w+)': \(", open(TOP + '/t/judge/kernels/t-kernel-sweep.py').read()))
ok({r[0] for r in ROWS} | others >= listed, 'every kernel is swept', listed - {r[0] for r in ROWS} - others)


def verdicts(kernel, f, facts, seed):
    """The cases, and those of them that are condemned."""
    failed, n, why = [], 0, []
    for name, arrays in halfulp.cases(kernel, torch.bfloat16, seed=seed):
        if kernel in LONGEST and max(n for a in arrays.values() for n in a.shape) > LONGEST[kernel]:
            continue
        v = halfulp.judge(kernel, arrays, f(**arrays), options=('--no-culprit',), **facts)
        n += 1
        if v.failed:
            failed.append(name)
            why.append('%s: %s' % (name, v))
    return n, failed, why


for kernel, f, facts, known in ROWS:
    n, failed, why = verdicts(kernel, f, facts, 0)
    ok(n >= 13 and failed == list(known), "PyTorch's %s is right in %d of %d cases" % (kernel, n - len(known), n), why)
for kernel, what, f, facts, least in WRONG:
    n, failed, why = verdicts(kernel, f, facts, 1)
    ok(least in failed, '%s, %s: caught in %d of %d cases' % (kernel, what, len(failed), n), failed)
finish()
