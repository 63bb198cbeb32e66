# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/ci/services.py
SCRIPT_TESTS += t/ci/t-ci-jobs.py
SCRIPT_TESTS += t/ci/t-ci-tensors.py
SCRIPT_TESTS += t/ci/t-holding.py
SCRIPT_TESTS += t/ci/t-workflows.py
