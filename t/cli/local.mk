# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/cli/t-badinput.sh
SCRIPT_TESTS += t/cli/t-ci-jobs.py
SCRIPT_TESTS += t/cli/t-defaults.sh
SCRIPT_TESTS += t/cli/t-demo.sh
SCRIPT_TESTS += t/cli/t-environment.sh
SCRIPT_TESTS += t/cli/t-floors.sh
SCRIPT_TESTS += t/cli/t-help.sh
SCRIPT_TESTS += t/cli/t-install.sh
SCRIPT_TESTS += t/cli/t-lists.sh
SCRIPT_TESTS += t/cli/t-names.sh
SCRIPT_TESTS += t/cli/t-options.py
SCRIPT_TESTS += t/cli/t-readme.sh
SCRIPT_TESTS += t/cli/t-rooms.py
SCRIPT_TESTS += t/cli/t-workflows.py
EXPENSIVE_SCRIPT_TESTS += t/cli/x-add.sh
EXPENSIVE_SCRIPT_TESTS += t/cli/x-demo.sh
