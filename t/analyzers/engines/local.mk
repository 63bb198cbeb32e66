# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/analyzers/engines/t-engines-batch.py
SCRIPT_TESTS += t/analyzers/engines/t-engines-routers.py
SCRIPT_TESTS += t/analyzers/engines/t-engines-runs.py
SCRIPT_TESTS += t/analyzers/engines/t-engines.py
