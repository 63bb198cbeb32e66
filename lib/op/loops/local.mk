# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/loops/lanes.h
noinst_HEADERS += lib/op/loops/loops.h
noinst_HEADERS += lib/op/loops/loops.inc
libhalfulp_avx2_a_SOURCES += lib/op/loops/loops_avx2.c
libhalfulp_avx512_a_SOURCES += lib/op/loops/loops_avx512.c
