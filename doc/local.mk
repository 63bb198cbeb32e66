# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/analysis.md
EXTRA_DIST += doc/architecture.md
EXTRA_DIST += doc/demo.sh
EXTRA_DIST += doc/formats.md
