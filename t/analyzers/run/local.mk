# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/analyzers/run/sentences.py
EXTRA_DIST += t/analyzers/run/sentences.tsv
SCRIPT_TESTS += t/analyzers/run/t-analyze-files.sh
SCRIPT_TESTS += t/analyzers/run/t-analyze.sh
SCRIPT_TESTS += t/analyzers/run/t-exact-zero.py
SCRIPT_TESTS += t/analyzers/run/t-opaque.py
SCRIPT_TESTS += t/analyzers/run/t-remedies.py
SCRIPT_TESTS += t/analyzers/run/t-sentences.py
SCRIPT_TESTS += t/analyzers/run/t-summary-apart.py
SCRIPT_TESTS += t/analyzers/run/t-summary-origin.py
SCRIPT_TESTS += t/analyzers/run/t-summary-words.py
SCRIPT_TESTS += t/analyzers/run/t-tables-whole.py
SCRIPT_TESTS += t/analyzers/run/t-what-if.sh
C_TESTS += t/analyzers/run/u-sweep
C_TESTS += t/analyzers/run/u-update-merge
EXPENSIVE_SCRIPT_TESTS += t/analyzers/run/x-sentences.py
