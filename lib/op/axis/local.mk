# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/axis/axes.c
noinst_HEADERS += lib/op/axis/axes.h
libhalfulp_a_SOURCES += lib/op/axis/exact_exp.c
noinst_HEADERS += lib/op/axis/exact_exp.h
libhalfulp_a_SOURCES += lib/op/axis/extreme.c
noinst_HEADERS += lib/op/axis/extreme.h
libhalfulp_a_SOURCES += lib/op/axis/extreme_dx.c
