# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/reduce/exact_sum.c
noinst_HEADERS += lib/op/reduce/exact_sum.h
libhalfulp_a_SOURCES += lib/op/reduce/norm.c
noinst_HEADERS += lib/op/reduce/norm.h
libhalfulp_a_SOURCES += lib/op/reduce/norm_apply.c
libhalfulp_a_SOURCES += lib/op/reduce/norm_dx.c
libhalfulp_a_SOURCES += lib/op/reduce/norm_exact.c
libhalfulp_a_SOURCES += lib/op/reduce/norm_sums.c
libhalfulp_a_SOURCES += lib/op/reduce/pool.c
noinst_HEADERS += lib/op/reduce/pool.h
libhalfulp_a_SOURCES += lib/op/reduce/reduce.c
noinst_HEADERS += lib/op/reduce/reduce.h
noinst_HEADERS += lib/op/reduce/reduce.inc
libhalfulp_a_SOURCES += lib/op/reduce/reduce_enclose.c
noinst_HEADERS += lib/op/reduce/window.h
