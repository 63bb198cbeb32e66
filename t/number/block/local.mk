# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/number/block/t-block-rules.py
SCRIPT_TESTS += t/number/block/t-makers.py
SCRIPT_TESTS += t/number/block/t-round-blocks.sh
C_TESTS += t/number/block/u-block-orders
C_TESTS += t/number/block/u-block-rules
C_TESTS += t/number/block/u-block
