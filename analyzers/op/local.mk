# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/op/cmd_op.c
libhalfulp_a_SOURCES += analyzers/op/foreign.c
noinst_HEADERS += analyzers/op/foreign.h
libhalfulp_a_SOURCES += analyzers/op/op_args.c
libhalfulp_a_SOURCES += analyzers/op/op_codes.c
libhalfulp_a_SOURCES += analyzers/op/op_dot.c
libhalfulp_a_SOURCES += analyzers/op/op_layout.c
noinst_HEADERS += analyzers/op/op_layout.h
libhalfulp_a_SOURCES += analyzers/op/op_run.c
noinst_HEADERS += analyzers/op/op_run.h
libhalfulp_a_SOURCES += analyzers/op/op_scaled.c
noinst_HEADERS += analyzers/op/op_scaled.h
libhalfulp_a_SOURCES += analyzers/op/op_verdict.c
noinst_HEADERS += analyzers/op/op_verdict.h
libhalfulp_a_SOURCES += analyzers/op/rowdot.c
noinst_HEADERS += analyzers/op/rowdot.h
