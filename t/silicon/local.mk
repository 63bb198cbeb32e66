# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/silicon/README.md
EXTRA_DIST += t/silicon/make-sample.py
SCRIPT_TESTS += t/silicon/t-measured.py
EXTRA_DIST += t/silicon/tensor-core.npz
