# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/newcomer/t-paths.py
