# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/plan/cmd_compare.c
libhalfulp_a_SOURCES += trainer/plan/cmd_plan.c
libhalfulp_a_SOURCES += trainer/plan/compare.c
noinst_HEADERS += trainer/plan/compare.h
libhalfulp_a_SOURCES += trainer/plan/ladder.c
noinst_HEADERS += trainer/plan/ladder.h
libhalfulp_a_SOURCES += trainer/plan/memory.c
noinst_HEADERS += trainer/plan/memory.h
noinst_HEADERS += trainer/plan/networks.def
libhalfulp_a_SOURCES += trainer/plan/plan_rows.c
noinst_HEADERS += trainer/plan/plan_rows.h
libhalfulp_a_SOURCES += trainer/plan/ranks.c
noinst_HEADERS += trainer/plan/ranks.h
libhalfulp_a_SOURCES += trainer/plan/ranks_out.c
noinst_HEADERS += trainer/plan/ranks_out.h
