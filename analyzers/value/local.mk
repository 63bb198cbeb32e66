# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/value/rounding_args.c
noinst_HEADERS += analyzers/value/rounding_args.h
libhalfulp_a_SOURCES += analyzers/value/rows.c
noinst_HEADERS += analyzers/value/rows.h
