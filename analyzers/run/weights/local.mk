# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/weights/coverage.c
noinst_HEADERS += analyzers/run/weights/coverage.h
libhalfulp_a_SOURCES += analyzers/run/weights/weight.c
noinst_HEADERS += analyzers/run/weights/weight.h
libhalfulp_a_SOURCES += analyzers/run/weights/weights.c
