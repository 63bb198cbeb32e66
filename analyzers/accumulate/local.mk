# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/accumulate/accumulate_options.c
noinst_HEADERS += analyzers/accumulate/accumulate_options.h
libhalfulp_a_SOURCES += analyzers/accumulate/accumulate_run.c
noinst_HEADERS += analyzers/accumulate/accumulate_run.h
libhalfulp_a_SOURCES += analyzers/accumulate/accumulate_say.c
noinst_HEADERS += analyzers/accumulate/accumulate_say.h
libhalfulp_a_SOURCES += analyzers/accumulate/cmd_accumulate.c
libhalfulp_a_SOURCES += analyzers/accumulate/terms.c
noinst_HEADERS += analyzers/accumulate/terms.h
