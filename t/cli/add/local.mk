# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/cli/add/kinds.sh
EXTRA_DIST += t/cli/add/rows.sh
EXTRA_DIST += t/cli/add/shares.sh
EXPENSIVE_SCRIPT_TESTS += t/cli/add/x-add.sh
