# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/drift/bless.c
noinst_HEADERS += analyzers/drift/bless.h
libhalfulp_a_SOURCES += analyzers/drift/cmd_baseline.c
libhalfulp_a_SOURCES += analyzers/drift/cmd_check.c
libhalfulp_a_SOURCES += analyzers/drift/cmd_diff.c
libhalfulp_a_SOURCES += analyzers/drift/cmd_gate.c
libhalfulp_a_SOURCES += analyzers/drift/gate_figures.c
noinst_HEADERS += analyzers/drift/gate_figures.h
libhalfulp_a_SOURCES += analyzers/drift/history.c
noinst_HEADERS += analyzers/drift/history.h
libhalfulp_a_SOURCES += analyzers/drift/parting.c
noinst_HEADERS += analyzers/drift/parting.h
libhalfulp_a_SOURCES += analyzers/drift/run_compare.c
noinst_HEADERS += analyzers/drift/run_compare.h
