#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A fifth draw of wrong kernels and right ones (subtle.py), in fp32, bf16 and fp16: wrong ones are caught, each miss has
# its reason here, and no right one is condemned (draws.py). Needs torch.
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
import subtle  # noqa: E402

# a miss, and why no bound and no statistic can tell
BELOW = 'roundings of the hidden values in 16 bits, which are declared, err more'
WHY = {('attention', '2^x of degree 2'): 'its errors are below the roundings of P to bf16',
       ('newton_schulz', 'the products are added in 16 bits'): 'the products are stored in 16 bits, which errs as much',
       ('mlp', 'tanh\'s GELU'): 'it differs from erf\'s by less than the hidden value\'s rounding',
       **{(kernel, what): BELOW for kernel in ('mlp', 'gated_mlp') for what in (
           'rounded stochastically', 'a quarter ulp is added', 'stored in one bit less')}}
draws.run(subtle, 'fifth', 20261130, WHY)
