# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/diff/cmd_diff.c
libhalfulp_a_SOURCES += analyzers/diff/parting.c
noinst_HEADERS += analyzers/diff/parting.h
libhalfulp_a_SOURCES += analyzers/diff/run_compare.c
noinst_HEADERS += analyzers/diff/run_compare.h
