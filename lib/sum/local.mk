# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/sum/bound.c
noinst_HEADERS += lib/sum/bound.h
noinst_HEADERS += lib/sum/collective.h
noinst_HEADERS += lib/sum/compensated.h
noinst_HEADERS += lib/sum/model.h
noinst_HEADERS += lib/sum/parts.h
libhalfulp_a_SOURCES += lib/sum/roundings.c
noinst_HEADERS += lib/sum/roundings.h
noinst_HEADERS += lib/sum/slices.h
noinst_HEADERS += lib/sum/step.h
libhalfulp_a_SOURCES += lib/sum/sum.c
noinst_HEADERS += lib/sum/sum.h
noinst_HEADERS += lib/sum/sums.def
noinst_HEADERS += lib/sum/tree.h
noinst_HEADERS += lib/sum/tree.inc
