# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/exact/dd/dd.c
noinst_HEADERS += lib/exact/dd/dd.h
libhalfulp_a_SOURCES += lib/exact/dd/dd_erf.c
noinst_HEADERS += lib/exact/dd/dd_series.h
libhalfulp_a_SOURCES += lib/exact/dd/dd_step.c
libhalfulp_a_SOURCES += lib/exact/dd/dd_turn.c
libhalfulp_a_SOURCES += lib/exact/dd/dd_vector.c
noinst_HEADERS += lib/exact/dd/dd_vector.h
libhalfulp_a_SOURCES += lib/exact/dd/ddw.c
noinst_HEADERS += lib/exact/dd/ddw.h
