# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/analyzers/sums/drawn/__init__.py
EXTRA_DIST += t/analyzers/sums/drawn/operation.py
EXTRA_DIST += t/analyzers/sums/drawn/panel.py
EXTRA_DIST += t/analyzers/sums/drawn/rounded.py
EXTRA_DIST += t/analyzers/sums/drawn/sums.py
EXTRA_DIST += t/analyzers/sums/drawn/svg.py
