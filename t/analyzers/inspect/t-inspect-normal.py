#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What block formats of four bits lose of normal numbers, as halfulp inspect tells it: 1000 times the relative square
# error by each rule of the scale, beside what is known of it. t/number/block/u-block-rules.c holds the casts to more.
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from npzfile import npy  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

KNOWN = {'mxfp4:floor': 13.2, 'mxfp4:even': 12.5, 'mxfp4:rceil': 13.3, 'mxfp4:ceil': 20.8, 'nvfp4': 9.05,
         'nvfp4:fouroversix': 7.57, 'nvfp4:SR:headroom=17/16': 23.6}  # fmt: skip
ROWS, COLUMNS = 256, 1024
random.seed(38)
path = os.path.join(home(), 'x.npy')
with open(path, 'wb') as f:
    f.write(npy((ROWS, COLUMNS), [random.gauss(0, 1) for _ in range(ROWS * COLUMNS)]))
p = halfulp('inspect', path, '--to', ','.join(KNOWN), '--json')
rows = json.loads(p.stdout) if p.returncode == 0 else []
ok(len(rows) == len(KNOWN), 'a row for each of %d formats' % len(KNOWN), p.stderr)
for name, row in zip(KNOWN, rows):
    # n numbers leave 2 / sqrt(n) = 0.4 % of an error open; 1 % and half of the last digit are allowed
    lost = 1000 * row['rel_l2'] ** 2
    digit = 0.05 if name in ('nvfp4:SR:headroom=17/16',) or name.startswith('mxfp4') else 0.005
    ok(row['to'] == name and abs(lost - KNOWN[name]) < 0.01 * KNOWN[name] + digit,
       '%s loses %.2f thousandths of the squares; %g are known' % (name, lost, KNOWN[name]),
       str(row)[:200])  # fmt: skip
finish()
