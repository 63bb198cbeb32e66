# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/attr.c
libhalfulp_a_SOURCES += lib/import/axes.c
libhalfulp_a_SOURCES += lib/import/constant.c
libhalfulp_a_SOURCES += lib/import/emit.c
libhalfulp_a_SOURCES += lib/import/import.c
noinst_HEADERS += lib/import/import.h
noinst_HEADERS += lib/import/importing.h
libhalfulp_a_SOURCES += lib/import/known.c
libhalfulp_a_SOURCES += lib/import/operand.c
libhalfulp_a_SOURCES += lib/import/operators.c
noinst_HEADERS += lib/import/operators.def
libhalfulp_a_SOURCES += lib/import/types.c
libhalfulp_a_SOURCES += lib/import/value.c
libhalfulp_a_SOURCES += lib/import/window.c
