# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/import/nodes/case.py
EXTRA_DIST += t/import/nodes/moves.py
EXTRA_DIST += t/import/nodes/norms.py
EXTRA_DIST += t/import/nodes/pointwise.py
EXTRA_DIST += t/import/nodes/products.py
EXTRA_DIST += t/import/nodes/quantised.py
EXTRA_DIST += t/import/nodes/recurrent.py
EXTRA_DIST += t/import/nodes/regions.py
