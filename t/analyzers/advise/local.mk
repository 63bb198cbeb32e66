# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/analyzers/advise/advised_model.py
SCRIPT_TESTS += t/analyzers/advise/t-advise-files.py
SCRIPT_TESTS += t/analyzers/advise/t-advise-written.py
SCRIPT_TESTS += t/analyzers/advise/t-advise.py
EXPENSIVE_SCRIPT_TESTS += t/analyzers/advise/x-deployed.py
