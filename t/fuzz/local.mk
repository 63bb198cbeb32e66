# SPDX-License-Identifier: Apache-2.0

t_libtap_a_SOURCES += t/fuzz/fuzz-specs.c
t_libtap_a_SOURCES += t/fuzz/spec-expression.c
t_libtap_a_SOURCES += t/fuzz/spec-option.c
noinst_HEADERS += t/fuzz/specs.h
EXTRA_DIST += t/fuzz/specs.txt
C_TESTS += t/fuzz/u-specs
