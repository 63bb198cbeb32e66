# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += t/tool/mutation/__init__.py
EXTRA_DIST += t/tool/mutation/builder.py
EXTRA_DIST += t/tool/mutation/kernels.py
EXTRA_DIST += t/tool/mutation/known.py
EXTRA_DIST += t/tool/mutation/mutate-gate.py
EXTRA_DIST += t/tool/mutation/mutate.py
EXTRA_DIST += t/tool/mutation/python.py
EXTRA_DIST += t/tool/mutation/python_builder.py
EXTRA_DIST += t/tool/mutation/reach.py
EXTRA_DIST += t/tool/mutation/recorded.py
EXTRA_DIST += t/tool/mutation/rules.py
EXTRA_DIST += t/tool/mutation/sources.py
SCRIPT_TESTS += t/tool/mutation/t-mutation.py
EXPENSIVE_SCRIPT_TESTS += t/tool/mutation/x-mutate.sh
