# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += analyzers/validate/against/against.c
noinst_HEADERS += analyzers/validate/against/against.h
libhalfulp_a_SOURCES += analyzers/validate/against/against_out.c
libhalfulp_a_SOURCES += analyzers/validate/against/against_run.c
noinst_HEADERS += analyzers/validate/against/against_run.h
