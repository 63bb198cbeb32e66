# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/import/half_ulps.py
EXTRA_DIST += t/import/nodetests.py
EXTRA_DIST += t/import/ort_tools.py
SCRIPT_TESTS += t/import/t-advised-lists.py
SCRIPT_TESTS += t/import/t-chosen.py
SCRIPT_TESTS += t/import/t-fourier.py
SCRIPT_TESTS += t/import/t-fp16-tools.py
SCRIPT_TESTS += t/import/t-half-kernels.py
SCRIPT_TESTS += t/import/t-half-ulps.py
SCRIPT_TESTS += t/import/t-microsoft-nodes.py
SCRIPT_TESTS += t/import/t-nodes.py
SCRIPT_TESTS += t/import/t-onnx-nodes.py
SCRIPT_TESTS += t/import/t-ort-dynamic.py
SCRIPT_TESTS += t/import/t-ort-static.py
SCRIPT_TESTS += t/import/t-quantised-lstm.py
EXPENSIVE_C_TESTS += t/import/x-fuzz-import
