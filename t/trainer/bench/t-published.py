# SPDX-License-Identifier: Apache-2.0
# Every published time and memory that `halfulp bench train --published` prints beside our own is the one in the list of
# published tables that comes with the optional data, and no number of that list is missing.
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, TOP, finish, ok, skip_all  # noqa: E402

data = os.environ.get('HALFULP_DATA') or os.path.join(TOP, '..', 'shared', 'data')
path = os.path.join(data, '..', 'facts', 'published-tables.md')
if not os.path.exists(path):
    skip_all('the list of published tables is not here (%s)' % path)
text = open(path, encoding='utf-8').read()
rows = json.loads(subprocess.run([HALFULP, 'bench', 'train', '--published', '--json'], check=True,
                                 stdout=subprocess.PIPE).stdout)
rows = rows if isinstance(rows, list) else rows['rows']

def table():
    """(device, batch, policy): milliseconds, None where the list has a dash; mixed is written first."""
    cells, devices = {}, None
    for line in text.splitlines():
        if not line.strip().startswith('|'):
            continue
        words = [w.strip() for w in line.strip().strip('|').split('|')]
        if words[0] == 'batch':
            devices = [re.sub(r' \(.*', '', w) for w in words[1:]]
        elif devices and words[0].isdigit():
            for device, cell in zip(devices, words[1:]):
                for policy, ms in zip(('mixed_float16', 'float32'), cell.split('/')):
                    cells[device, int(words[0]), policy] = None if ms.strip() in ('–', '-') else float(ms)
    return cells


want = table()
got = {(r['on'], r['batch'], r['policy']): r for r in rows if r['on'] in {key[0] for key in want}}
ok(len(want) == 30 and sum(ms is not None for ms in want.values()) == 27,
   'the list has a table of three devices, five batches and two policies (%d cells)' % len(want))
wrong = ['%s, batch %d, %s: the program prints %s, the list %s' % (*key, r['ms'], want.get(key, 'nothing')) for key,
         r in got.items() if key not in want or r['ms'] != want[key]]
ok(got and not wrong, '%d times are those of the list' % len(got), wrong)
missing = ['%s, batch %d, %s' % key for key in want if key not in got]
ok(not missing, 'none of the list is missing', missing)
wrong = ['%s, batch %d, %s' % key for key, r in got.items() if (r['ms'] is None) != (r.get('note') == 'out of memory')]
ok(not wrong, 'blank where the list has a dash, which is out of memory', wrong)
wrong = []
for (device, batch, policy), r in got.items():
    a, b = want.get((device, batch, policy)), want.get((device, batch, 'float32'))
    ratio = a / b if a is not None and b is not None else None
    if (r['ratio'] is None) != (ratio is None) or (
        ratio is not None and not math.isclose(r['ratio'], ratio, rel_tol=1e-12)
    ):
        wrong.append('%s, batch %d, %s: ratio %s, not %s' % (device, batch, policy, r['ratio'], ratio))
    if a is not None and not math.isclose(r['samples_per_s'], 1e3 * batch / a, rel_tol=1e-12):
        wrong.append('%s, batch %d, %s: %s images a second' % (device, batch, policy, r['samples_per_s']))
ok(not wrong, 'ratios and images a second follow from them', wrong)

cpu = sorted((r['batch'], r['ms']) for r in rows if r['on'] == 'CPU')
stock, vector = (float(x)
                 for x in re.search(r'CPU, batch 32: (\d+) s a step from the stock binary, (\d+) s with AVX2 and FMA',
                                    text).groups())
ok(cpu == sorted([(32, 1e3 * stock), (32, 1e3 * vector)]), 'the processor: %g and %g s a step' % (stock, vector),
   [str(cpu)])
image = re.search(r'(\d+)×(\d+)×(\d+)\*\*', text).groups()
ok({r['image'] for r in rows if r['on'] in ('CPU', *{key[0] for key in want})} == {'x'.join(image)}, 'the images are '
   + 'x'.join(image))

residual = re.search(
    r'inputs (\d+)×(\d+); (.*?)\): memory −(\d+) % for ([\d.]+) M parameters at batch (\d+), −(\d+) %'
    r' for (\d+) M at'
    r' batch (\d+), about ([\d ]+) MB; epoch time −(\d+) %',
    re.sub(r'\s+', ' ', text),
).groups()
height, width, device, less1, size1, batch1, less2, size2, batch2, mb, time = residual
mine = {r['batch']: r for r in rows if r['model'] == 'another'}
ok(
    set(mine) == {int(batch1), int(batch2)}
    and all(r['on'] == device and r['image'] == height + 'x' + width and r['ms'] is None for r in mine.values()),
    'the residual convnet: its device, images and batches',
)
first, second = mine.get(int(batch1), {}), mine.get(int(batch2), {})
ok('%s M parameters: memory -%s %%' % (size1, less1) in first.get('note', '') and 'epoch time -%s %%'
   % time in first.get('note', ''), 'and what it saved at batch ' + batch1)
ok('%s M parameters: memory -%s %%' % (size2, less2) in second.get('note', '') and mb.replace(' ', '')
   + ' MB' in second.get('note', '') and second.get('peak_mb') == float(mb.replace(' ', '')), 'and at batch '
   + batch2)
ok(len(rows) == len(want) + len(cpu) + len(mine), 'every row of the program is one of these (%d)' % len(rows))
finish()
