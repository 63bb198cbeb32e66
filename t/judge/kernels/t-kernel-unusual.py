#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A seventh draw of right kernels and wrong ones (unusual.py), in fp32, bf16 and fp16: wrong ones are caught, each miss
# has its reason here, and no right one is condemned (draws.py). Needs torch.
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
sys.path[:0] = [TOP + '/t/tool', TOP + '/python', os.path.dirname(os.path.abspath(__file__))]
from tap import HALFULP, skip_all  # noqa: E402

try:
    import torch  # noqa: F401
except (ImportError, OSError) as why:
    skip_all('no PyTorch: %s' % str(why).splitlines()[0])
os.environ['HALFULP'] = HALFULP
import draws  # noqa: E402
import unusual  # noqa: E402

# a miss, and why no bound and no statistic can tell
WHY = {
    ('matmul', 'Kahan\'s correction has the other sign'): 'each term errs twice by a rounding, which 330 roundings in '
    'any order may do too',
    ('matmul', 'bf16 in three products'): 'what is left out is some 2^-17 of the terms, less than '
    '330 roundings add up to',
}
draws.run(unusual, 'seventh', 20261201, WHY, everything=False)
