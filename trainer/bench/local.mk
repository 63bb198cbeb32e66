# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += trainer/bench/bench.h
noinst_HEADERS += trainer/bench/benches.def
libhalfulp_a_SOURCES += trainer/bench/cast.c
noinst_HEADERS += trainer/bench/cast.h
libhalfulp_a_SOURCES += trainer/bench/cast_others.c
