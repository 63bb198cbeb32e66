#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The Python of doc/kernels.md runs and prints what the page says, and its command lines are lines that judge takes.
# Needs torch.
import contextlib
import io
import json
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python']
from tap import HALFULP, finish, halfulp, home, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
torch.manual_seed(1)
os.environ['HALFULP'] = HALFULP
page = open(TOP + '/doc/kernels.md', encoding='utf-8').read()
os.chdir(home())


def commands(name):
    """The lines of the page that judge the kernel, as words."""
    return [shlex.split(line)[1:] for line in re.findall(r'^    (halfulp judge %s --.*)' % name, page, re.M)]


make, judged = commands('attention')
ok(halfulp(*make).returncode == 0, 'operands are drawn as the page says')
for code in re.findall(r'```python\n(.*?)```', page, re.S):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    said = printed.getvalue().strip()
    ok(said and '`%s`' % said in page, 'the example runs, and prints what the page says', said)
first = halfulp(*judged).stdout.split('\n')[0]
ok(first == 'right' and 'first line of the answer is `right`' in page, 'the command line judges the result', first)
wrong = halfulp(*judged[:-1], judged[-1] + ' causal=1').stdout
ok(wrong.startswith('beyond the proven bound\n') and 'culprit    as if causal were 0\n' in wrong and
   '`as if causal were 0`' in page, 'and says what a wrong declaration looks like', wrong)
r = [json.loads(halfulp(*judged[:-1], facts, '--json').stdout)['results'][0]['radius_half_ulps']
     for facts in ('in=bf16 p=none', 'in=bf16')]
ok(100 < r[1] / r[0] < 1000, 'a stored P has a bound some hundred times as wide', r)
listed = halfulp('judge', 'list').stdout
for line in re.findall(r'^    halfulp judge (\w+) --', page, re.M):
    ok(re.search(r'^  %s ' % line, listed, re.M), 'kernel %s is there' % line)
for word in set(re.findall(r'`(?:--given )?(\w+)=[^`]*`', page)) - {'h', 'PYTHONPATH'}:
    ok(re.search(r'\b%s\b' % word, listed), 'fact %s is there' % word)
train = open(TOP + '/doc/train.md', encoding='utf-8').read()
kernels = len(re.findall(r'^  \w+ +.* -> ', listed, re.M))
ok('attention` and %d other kernels' % (kernels - 1) in train, 'doc/train.md says how many kernels there are', kernels)
verdicts = ('right', 'right, but not by the declared roundings', 'biased', 'beyond the probable bound',
            'beyond the proven bound')
ok(all('| %s |' % v in page for v in verdicts), 'every verdict is explained')
inf = torch.full((64,), float('inf'))
if torch.__version__.startswith('2.15') and torch.backends.cpu.get_cpu_capability() == 'AVX512':
    ok(torch.nn.functional.gelu(inf).isnan().any(), 'GELU of +Inf is NaN in PyTorch')
finish()
