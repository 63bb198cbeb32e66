# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/trace/t-library.py
SCRIPT_TESTS += t/trace/t-torch-step.py
EXPENSIVE_SCRIPT_TESTS += t/trace/x-torch-models.py
