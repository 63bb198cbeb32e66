# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/advise/advice.c
noinst_HEADERS += analyzers/advise/advice.h
libhalfulp_a_SOURCES += analyzers/advise/advise_units.c
noinst_HEADERS += analyzers/advise/advise_units.h
libhalfulp_a_SOURCES += analyzers/advise/cmd_advise.c
libhalfulp_a_SOURCES += analyzers/advise/lists.c
noinst_HEADERS += analyzers/advise/lists.h
libhalfulp_a_SOURCES += analyzers/advise/lists_report.c
noinst_HEADERS += analyzers/advise/lists_report.h
libhalfulp_a_SOURCES += analyzers/advise/search.c
noinst_HEADERS += analyzers/advise/search.h
libhalfulp_a_SOURCES += analyzers/advise/search_cost.c
libhalfulp_a_SOURCES += analyzers/advise/search_measure.c
libhalfulp_a_SOURCES += analyzers/advise/typed.c
noinst_HEADERS += analyzers/advise/typed.h
