# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/calc/cmd_calc.c
libhalfulp_a_SOURCES += analyzers/calc/correct.c
noinst_HEADERS += analyzers/calc/correct.h
libhalfulp_a_SOURCES += analyzers/calc/evaluate.c
libhalfulp_a_SOURCES += analyzers/calc/evaluate_exact.c
libhalfulp_a_SOURCES += analyzers/calc/evaluate_sum.c
noinst_HEADERS += analyzers/calc/evaluate_sum.h
libhalfulp_a_SOURCES += analyzers/calc/expr.c
noinst_HEADERS += analyzers/calc/expr.h
noinst_HEADERS += analyzers/calc/functions.def
libhalfulp_a_SOURCES += analyzers/calc/rounding_args.c
noinst_HEADERS += analyzers/calc/rounding_args.h
libhalfulp_a_SOURCES += analyzers/calc/rows.c
noinst_HEADERS += analyzers/calc/rows.h
libhalfulp_a_SOURCES += analyzers/calc/vary.c
noinst_HEADERS += analyzers/calc/vary.h
