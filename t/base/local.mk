# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/base/t-faults.py
SCRIPT_TESTS += t/base/t-inherited.py
SCRIPT_TESTS += t/base/t-ranks.sh
SCRIPT_TESTS += t/base/t-temporaries.py
C_TESTS += t/base/u-base
C_TESTS += t/base/u-cut
C_TESTS += t/base/u-fields
C_TESTS += t/base/u-pack
C_TESTS += t/base/u-ranks
C_TESTS += t/base/u-room
C_TESTS += t/base/u-spec
C_TESTS += t/base/u-tap
C_TESTS += t/base/u-team
C_TESTS += t/base/u-threshold
EXPENSIVE_SCRIPT_TESTS += t/base/x-faults.py
EXPENSIVE_SCRIPT_TESTS += t/base/x-kills.py
