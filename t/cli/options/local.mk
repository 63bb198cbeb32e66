# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/cli/options/effects.txt
EXTRA_DIST += t/cli/options/idle.txt
EXTRA_DIST += t/cli/options/lines.py
