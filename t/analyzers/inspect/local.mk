# SPDX-License-Identifier: Apache-2.0

SCRIPT_TESTS += t/analyzers/inspect/t-inspect-best.py
SCRIPT_TESTS += t/analyzers/inspect/t-inspect-columns.py
SCRIPT_TESTS += t/analyzers/inspect/t-inspect-files.py
SCRIPT_TESTS += t/analyzers/inspect/t-inspect-normal.py
SCRIPT_TESTS += t/analyzers/inspect/t-inspect-onnx.py
SCRIPT_TESTS += t/analyzers/inspect/t-inspect.sh
