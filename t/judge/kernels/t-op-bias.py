#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# op --got says whether errors have mean zero: results that were rounded in one direction are called biased, those to
# nearest are not.
import json
import os
import struct
import sys

TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path.insert(0, TOP + '/t/tool')
from npzfile import npz  # noqa: E402
from tap import finish, halfulp, home, ok  # noqa: E402

os.chdir(home())
N = 4096


def f32(v):
    return struct.unpack('<f', struct.pack('<f', v))[0]


state, x = 1, []
for i in range(N):
    state = state * 6364136223846793005 + 1442695040888963407 & 2 ** 64 - 1
    x.append(f32((state >> 40) / 2 ** 23 - 1))
npz('x.npz', x=((64, 64), x))
for op in ('exp', 'gelu', 'sigmoid', 'neg'):
    for mode in ('RNE', 'RZ', 'RU'):
        words = ['op', op, '--in', 'a=x.npz:x', '--set', 'out=bf16']
        made = halfulp(*words, '--set', 'mode=' + mode, '--out', 'y.npy')
        got = halfulp(*words, '--as', 'bound', '--got', 'y.npy', '--json')
        bias = json.loads(got.stdout)['bias']
        good = made.returncode == 0 and bias['alarm'] == (mode != 'RNE')
        ok(good, '%s stored by %s: %s' % (op, mode, bias), got.stderr)
        if mode == 'RU' and op in ('exp', 'sigmoid'):
            ok(0.45 < bias['ulp_mean'] < 0.55, 'rounded up, by half an ulp on the mean', bias)
finish()
