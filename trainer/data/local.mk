# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/data/data.c
noinst_HEADERS += trainer/data/data.h
noinst_HEADERS += trainer/data/datasets.def
libhalfulp_a_SOURCES += trainer/data/digits.c
noinst_HEADERS += trainer/data/digits.h
libhalfulp_a_SOURCES += trainer/data/digits_draw.c
noinst_HEADERS += trainer/data/glyphs.def
libhalfulp_a_SOURCES += trainer/data/idx.c
libhalfulp_a_SOURCES += trainer/data/input.c
noinst_HEADERS += trainer/data/input.h
libhalfulp_a_SOURCES += trainer/data/npz.c
