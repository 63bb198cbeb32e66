# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/measured/README.md
EXTRA_DIST += doc/measured/page.py
