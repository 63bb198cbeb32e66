# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/tool/aborts.h
EXTRA_DIST += t/tool/clean-root.sh
EXTRA_DIST += t/tool/lists.sh
EXTRA_DIST += t/tool/mutate-gate.py
EXTRA_DIST += t/tool/mutate.py
EXTRA_DIST += t/tool/npzfile.py
EXTRA_DIST += t/tool/onnxfile.py
noinst_HEADERS += t/tool/progress.h
EXTRA_DIST += t/tool/run.sh
SCRIPT_TESTS += t/tool/t-mutation.py
t_libtap_a_SOURCES += t/tool/tap.c
noinst_HEADERS += t/tool/tap.h
EXTRA_DIST += t/tool/tap.py
EXTRA_DIST += t/tool/tap.sh
EXTRA_DIST += t/tool/tensorsfile.py
EXPENSIVE_SCRIPT_TESTS += t/tool/x-mutate.sh
