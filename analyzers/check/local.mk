# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/check/baseline.c
noinst_HEADERS += analyzers/check/baseline.h
libhalfulp_a_SOURCES += analyzers/check/baseline_collect.c
libhalfulp_a_SOURCES += analyzers/check/baseline_file.c
libhalfulp_a_SOURCES += analyzers/check/baseline_program.c
noinst_HEADERS += analyzers/check/baseline_program.h
libhalfulp_a_SOURCES += analyzers/check/check_out.c
noinst_HEADERS += analyzers/check/check_out.h
libhalfulp_a_SOURCES += analyzers/check/cmd_check.c
libhalfulp_a_SOURCES += analyzers/check/cmd_diff.c
libhalfulp_a_SOURCES += analyzers/check/drift.c
noinst_HEADERS += analyzers/check/drift.h
libhalfulp_a_SOURCES += analyzers/check/outcome.c
noinst_HEADERS += analyzers/check/outcome.h
libhalfulp_a_SOURCES += analyzers/check/run_compare.c
noinst_HEADERS += analyzers/check/run_compare.h
