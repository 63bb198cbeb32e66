# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/exact/grid/dot.inc
libhalfulp_a_SOURCES += lib/exact/grid/grid.c
noinst_HEADERS += lib/exact/grid/grid.h
noinst_HEADERS += lib/exact/grid/grid.inc
libhalfulp_avx2_a_SOURCES += lib/exact/grid/grid_avx2.c
libhalfulp_avx512_a_SOURCES += lib/exact/grid/grid_avx512.c
noinst_HEADERS += lib/exact/grid/sum.inc
noinst_HEADERS += lib/exact/grid/table.inc
noinst_HEADERS += lib/exact/grid/wide.inc
