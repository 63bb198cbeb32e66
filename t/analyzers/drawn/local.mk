# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/analyzers/drawn/__init__.py
EXTRA_DIST += t/analyzers/drawn/operation.py
EXTRA_DIST += t/analyzers/drawn/panel.py
EXTRA_DIST += t/analyzers/drawn/rounded.py
EXTRA_DIST += t/analyzers/drawn/sums.py
EXTRA_DIST += t/analyzers/drawn/svg.py
