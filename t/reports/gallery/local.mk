# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/reports/gallery/cores.py
EXTRA_DIST += t/reports/gallery/layers.py
EXTRA_DIST += t/reports/gallery/papers.py
EXTRA_DIST += t/reports/gallery/rounding.py
EXTRA_DIST += t/reports/gallery/sums.py
EXTRA_DIST += t/reports/gallery/training.py
