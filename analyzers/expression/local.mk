# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/expression/correct.c
noinst_HEADERS += analyzers/expression/correct.h
libhalfulp_a_SOURCES += analyzers/expression/evaluate.c
libhalfulp_a_SOURCES += analyzers/expression/evaluate_exact.c
libhalfulp_a_SOURCES += analyzers/expression/evaluate_sum.c
noinst_HEADERS += analyzers/expression/evaluate_sum.h
libhalfulp_a_SOURCES += analyzers/expression/expr.c
noinst_HEADERS += analyzers/expression/expr.h
noinst_HEADERS += analyzers/expression/functions.def
libhalfulp_a_SOURCES += analyzers/expression/vary.c
noinst_HEADERS += analyzers/expression/vary.h
