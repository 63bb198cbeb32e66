# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += trainer/bench/bench.h
noinst_HEADERS += trainer/bench/benches.def
libhalfulp_a_SOURCES += trainer/bench/cast.c
noinst_HEADERS += trainer/bench/cast.h
libhalfulp_a_SOURCES += trainer/bench/cast_others.c
libhalfulp_a_SOURCES += trainer/bench/cmd_bench.c
libhalfulp_a_SOURCES += trainer/bench/gemm.c
noinst_HEADERS += trainer/bench/gemm.h
libhalfulp_a_SOURCES += trainer/bench/gemm_one.c
libhalfulp_a_SOURCES += trainer/bench/published.c
noinst_HEADERS += trainer/bench/published.def
noinst_HEADERS += trainer/bench/published.h
libhalfulp_a_SOURCES += trainer/bench/sweep.c
noinst_HEADERS += trainer/bench/sweep.h
libhalfulp_a_SOURCES += trainer/bench/train.c
libhalfulp_a_SOURCES += trainer/bench/why.c
