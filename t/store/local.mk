# SPDX-License-Identifier: Apache-2.0

t_libtap_a_SOURCES += t/store/fuzz-baseline.c
t_libtap_a_SOURCES += t/store/fuzz-idx.c
t_libtap_a_SOURCES += t/store/fuzz-npy.c
t_libtap_a_SOURCES += t/store/fuzz-npz.c
t_libtap_a_SOURCES += t/store/fuzz-rules.c
t_libtap_a_SOURCES += t/store/fuzz-safetensors.c
t_libtap_a_SOURCES += t/store/fuzz-series.c
noinst_HEADERS += t/store/fuzz.h
SCRIPT_TESTS += t/store/t-npz.sh
C_TESTS += t/store/u-fuzz-files
C_TESTS += t/store/u-idx
C_TESTS += t/store/u-npy
C_TESTS += t/store/u-npz
C_TESTS += t/store/u-run-trace
C_TESTS += t/store/u-run
C_TESTS += t/store/u-safetensors
