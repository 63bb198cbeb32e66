# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/allreduce/cmd_allreduce.c
libhalfulp_a_SOURCES += analyzers/allreduce/records.c
noinst_HEADERS += analyzers/allreduce/records.h
libhalfulp_a_SOURCES += analyzers/allreduce/reduce.c
noinst_HEADERS += analyzers/allreduce/reduce.h
libhalfulp_a_SOURCES += analyzers/allreduce/reduce_out.c
noinst_HEADERS += analyzers/allreduce/reduce_out.h
libhalfulp_a_SOURCES += analyzers/allreduce/series.c
noinst_HEADERS += analyzers/allreduce/series.h
