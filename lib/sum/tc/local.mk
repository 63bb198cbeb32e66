# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/sum/tc/open.def
libhalfulp_a_SOURCES += lib/sum/tc/panel.c
noinst_HEADERS += lib/sum/tc/panel.h
noinst_HEADERS += lib/sum/tc/panel.inc
libhalfulp_avx2_a_SOURCES += lib/sum/tc/panel_avx2.c
libhalfulp_avx512_a_SOURCES += lib/sum/tc/panel_avx512.c
libhalfulp_a_SOURCES += lib/sum/tc/plan.c
libhalfulp_a_SOURCES += lib/sum/tc/scaled.c
noinst_HEADERS += lib/sum/tc/scaled.h
libhalfulp_a_SOURCES += lib/sum/tc/status.c
noinst_HEADERS += lib/sum/tc/status.h
libhalfulp_a_SOURCES += lib/sum/tc/sum.c
noinst_HEADERS += lib/sum/tc/sum.h
noinst_HEADERS += lib/sum/tc/tc.def
noinst_HEADERS += lib/sum/tc/tc.h
noinst_HEADERS += lib/sum/tc/unit.h
