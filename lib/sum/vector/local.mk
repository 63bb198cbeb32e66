# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/sum/vector/interleave.inc
libhalfulp_a_SOURCES += lib/sum/vector/lanes.c
noinst_HEADERS += lib/sum/vector/lanes.h
noinst_HEADERS += lib/sum/vector/lanes.inc
libhalfulp_avx2_a_SOURCES += lib/sum/vector/lanes_avx2.c
libhalfulp_avx512_a_SOURCES += lib/sum/vector/lanes_avx512.c
noinst_HEADERS += lib/sum/vector/lanes_both.inc
noinst_HEADERS += lib/sum/vector/narrow.inc
noinst_HEADERS += lib/sum/vector/narrow_op.inc
noinst_HEADERS += lib/sum/vector/panel.h
noinst_HEADERS += lib/sum/vector/panel.inc
libhalfulp_avx2_a_SOURCES += lib/sum/vector/panel_avx2.c
libhalfulp_avx512_a_SOURCES += lib/sum/vector/panel_avx512.c
libhalfulp_a_SOURCES += lib/sum/vector/panel_scalar.c
