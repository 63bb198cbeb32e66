# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/validate/cmd_validate.c
libhalfulp_a_SOURCES += analyzers/validate/list_ops.c
noinst_HEADERS += analyzers/validate/list_ops.h
libhalfulp_a_SOURCES += analyzers/validate/validate_cut.c
noinst_HEADERS += analyzers/validate/validate_details.def
libhalfulp_a_SOURCES += analyzers/validate/validate_exact.c
libhalfulp_a_SOURCES += analyzers/validate/validate_memory.c
libhalfulp_a_SOURCES += analyzers/validate/validate_nodes.c
noinst_HEADERS += analyzers/validate/validate_options.def
libhalfulp_a_SOURCES += analyzers/validate/validate_run.c
libhalfulp_a_SOURCES += analyzers/validate/validate_typed.c
noinst_HEADERS += analyzers/validate/validate_typed.h
libhalfulp_a_SOURCES += analyzers/validate/validate_units.c
noinst_HEADERS += analyzers/validate/validate_units.h
