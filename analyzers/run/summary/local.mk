# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += analyzers/run/summary/remedies.def
libhalfulp_a_SOURCES += analyzers/run/summary/summary.c
noinst_HEADERS += analyzers/run/summary/summary.h
libhalfulp_a_SOURCES += analyzers/run/summary/summary_apart.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_coverage.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_draws.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_json.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_next.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_origin.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_sentences.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_still.c
libhalfulp_a_SOURCES += analyzers/run/summary/summary_table.c
