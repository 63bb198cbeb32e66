# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/units/cmd_analyze.c
libhalfulp_a_SOURCES += analyzers/units/cmd_merge.c
libhalfulp_a_SOURCES += analyzers/units/cut.c
noinst_HEADERS += analyzers/units/cut.h
libhalfulp_a_SOURCES += analyzers/units/walk.c
noinst_HEADERS += analyzers/units/walk.h
