# SPDX-License-Identifier: Apache-2.0
# Tests: u-*.c and t-* run in `make check`, x-* in `make check-expensive`.

EXTRA_DIST += t/lists.sh
EXTRA_DIST += t/run.sh
SCRIPT_TESTS += t/t-fastmath.sh
SCRIPT_TESTS += t/t-floors.sh
SCRIPT_TESTS += t/t-help.sh
SCRIPT_TESTS += t/t-lists.sh
t_libtap_a_SOURCES += t/tap.c
noinst_HEADERS += t/tap.h
C_TESTS += t/u-device
C_TESTS += t/u-digits
C_TESTS += t/u-elementary
C_TESTS += t/u-fastmath
C_TESTS += t/u-idx
C_TESTS += t/u-npy
C_TESTS += t/u-program
C_TESTS += t/u-safetensors
C_TESTS += t/u-tap
