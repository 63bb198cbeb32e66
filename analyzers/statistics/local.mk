# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/statistics/aggregates.c
noinst_HEADERS += analyzers/statistics/aggregates.h
libhalfulp_a_SOURCES += analyzers/statistics/check_statistics.c
noinst_HEADERS += analyzers/statistics/check_statistics.h
libhalfulp_a_SOURCES += analyzers/statistics/statistics.c
noinst_HEADERS += analyzers/statistics/statistics.h
libhalfulp_a_SOURCES += analyzers/statistics/statistics_file.c
libhalfulp_a_SOURCES += analyzers/statistics/statistics_judge.c
libhalfulp_a_SOURCES += analyzers/statistics/student.c
noinst_HEADERS += analyzers/statistics/student.h
