#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Each operator's radius holds all that its operands' radii allow, and its exact values are float64's.
# HALFULP_RADII says how many elements are drawn for each operator. Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', os.path.join(TOP, 't', 'judge', 'kernels')]
from tap import finish, ok, skip_all  # noqa: E402

try:
    import torch
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
torch.set_num_threads(1)
import radii  # noqa: E402

N = int(os.environ.get('HALFULP_RADII', 20000))
for form in ('e4m3', 'bf16'):
    for name, (over, n, exact, unbounded), want in radii.tests(N, form):
        # sums in float64 in two orders differ by n units of 2^-53; a difference of 1 takes away what is common
        scale = 64 * 2.0 ** -53 * (want.abs().max() + 1)
        off = (exact.reshape(want.shape) - want).abs().max()
        what = '%s: %d elements moved by half an ulp of %s are within the bound' % (name, n, form)
        ok(over == 0 and unbounded == 0, what, '%d are beyond, %d have none' % (over, unbounded))
        ok(bool(off <= 8 * scale), '%s: exact values' % name, 'off by %g' % off)
finish()
