# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/validate/cmd_validate.c
libhalfulp_a_SOURCES += analyzers/validate/list_ops.c
noinst_HEADERS += analyzers/validate/list_ops.h
