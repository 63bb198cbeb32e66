# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/sum/bound.c
noinst_HEADERS += lib/sum/bound.h
noinst_HEADERS += lib/sum/model.h
noinst_HEADERS += lib/sum/narrow.inc
noinst_HEADERS += lib/sum/panel.h
noinst_HEADERS += lib/sum/panel.inc
libhalfulp_avx2_a_SOURCES += lib/sum/panel_avx2.c
libhalfulp_avx512_a_SOURCES += lib/sum/panel_avx512.c
libhalfulp_a_SOURCES += lib/sum/panel_scalar.c
noinst_HEADERS += lib/sum/parts.h
libhalfulp_a_SOURCES += lib/sum/sum.c
noinst_HEADERS += lib/sum/sum.h
noinst_HEADERS += lib/sum/sums.def
noinst_HEADERS += lib/sum/tree.h
noinst_HEADERS += lib/sum/tree.inc
