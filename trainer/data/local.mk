# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/data/cifar.c
libhalfulp_a_SOURCES += trainer/data/data.c
noinst_HEADERS += trainer/data/data.h
noinst_HEADERS += trainer/data/datasets.def
libhalfulp_a_SOURCES += trainer/data/idx.c
libhalfulp_a_SOURCES += trainer/data/input.c
noinst_HEADERS += trainer/data/input.h
libhalfulp_a_SOURCES += trainer/data/made.c
noinst_HEADERS += trainer/data/made.h
libhalfulp_a_SOURCES += trainer/data/npz.c
libhalfulp_a_SOURCES += trainer/data/ranking.c
noinst_HEADERS += trainer/data/ranking.h
libhalfulp_a_SOURCES += trainer/data/text.c
libhalfulp_a_SOURCES += trainer/data/udata.c
