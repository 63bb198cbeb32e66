# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/trainer/page.py
SCRIPT_TESTS += t/trainer/t-experiments.py
EXTRA_DIST += t/trainer/trained.py
EXPENSIVE_SCRIPT_TESTS += t/trainer/x-experiments.py
