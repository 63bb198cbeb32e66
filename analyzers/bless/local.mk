# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/bless/bless.c
noinst_HEADERS += analyzers/bless/bless.h
libhalfulp_a_SOURCES += analyzers/bless/bless_run.c
noinst_HEADERS += analyzers/bless/bless_run.h
libhalfulp_a_SOURCES += analyzers/bless/blessing.c
noinst_HEADERS += analyzers/bless/blessing.h
libhalfulp_a_SOURCES += analyzers/bless/cmd_baseline.c
