#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# doc/onnx.md says what its table says; and where Python has onnx 1.22, some operators are measured again.
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
    os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool')]
import half_ulps
import nodetests
from tap import finish, ok, skip

rows = half_ulps.read(half_ulps.TABLE)
text = open(half_ulps.PAGE, encoding='utf-8').read().split(half_ulps.BEGIN)[1].split(half_ulps.END)[0]
ok(text.strip().splitlines() == half_ulps.page(rows), 'the page is made from the table')
ok(all('%.4f' % (int(r[3]) / int(r[2])) == r[4] and (float(r[5]) > 0.5) == (int(r[3]) > 0) for r in rows)
   and len(rows) > 90, 'a share is that of its counts, and the largest distance belongs to them')
AGAIN = ['Exp', 'Gemm', 'Softplus', 'Tanh']
if nodetests.names() and not nodetests.MADE:
    got = list(half_ulps.rows_of(AGAIN))
    ok(got == [r for r in rows if r[0] in AGAIN], '%s are as they were' % ', '.join(AGAIN), [str(r) for r in got])
else:
    skip('some operators again', 'no Python package onnx with node tests (onnx 1.22)')
finish()
