# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/weights/coverage.c
noinst_HEADERS += analyzers/run/weights/coverage.h
libhalfulp_a_SOURCES += analyzers/run/weights/next_step.c
noinst_HEADERS += analyzers/run/weights/next_step.h
libhalfulp_a_SOURCES += analyzers/run/weights/rows.c
noinst_HEADERS += analyzers/run/weights/rows.h
libhalfulp_a_SOURCES += analyzers/run/weights/weight.c
noinst_HEADERS += analyzers/run/weights/weight.h
libhalfulp_a_SOURCES += analyzers/run/weights/weights.c
