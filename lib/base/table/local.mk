# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/table/columns.c
noinst_HEADERS += lib/base/table/columns.h
libhalfulp_a_SOURCES += lib/base/table/columns_document.c
libhalfulp_a_SOURCES += lib/base/table/columns_print.c
libhalfulp_a_SOURCES += lib/base/table/columns_write.c
