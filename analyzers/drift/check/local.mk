# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/drift/check/check_out.c
noinst_HEADERS += analyzers/drift/check/check_out.h
libhalfulp_a_SOURCES += analyzers/drift/check/check_text.c
noinst_HEADERS += analyzers/drift/check/check_text.h
libhalfulp_a_SOURCES += analyzers/drift/check/why.c
noinst_HEADERS += analyzers/drift/check/why.h
libhalfulp_a_SOURCES += analyzers/drift/check/why_cause.c
