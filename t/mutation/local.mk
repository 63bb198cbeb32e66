# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/mutation/__init__.py
EXTRA_DIST += t/mutation/builder.py
EXTRA_DIST += t/mutation/kernels.py
EXTRA_DIST += t/mutation/known.py
EXTRA_DIST += t/mutation/rules.py
EXTRA_DIST += t/mutation/sources.py
