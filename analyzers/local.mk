# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += analyzers/analyzer.h
noinst_HEADERS += analyzers/analyzers.def
libhalfulp_a_SOURCES += analyzers/engine.c
noinst_HEADERS += analyzers/engine.h
libhalfulp_a_SOURCES += analyzers/harm.c
noinst_HEADERS += analyzers/harm.h
libhalfulp_a_SOURCES += analyzers/judge.c
noinst_HEADERS += analyzers/judge.h
