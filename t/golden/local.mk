# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/golden/digests.tsv
EXTRA_DIST += t/golden/golden.sh
SCRIPT_TESTS += t/golden/t-golden.sh
SCRIPT_TESTS += t/golden/t-outputs.py
