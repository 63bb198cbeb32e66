# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/table/bytes.c
noinst_HEADERS += lib/base/table/bytes.h
libhalfulp_a_SOURCES += lib/base/table/fields.c
noinst_HEADERS += lib/base/table/fields.h
libhalfulp_a_SOURCES += lib/base/table/fields_document.c
libhalfulp_a_SOURCES += lib/base/table/fields_print.c
libhalfulp_a_SOURCES += lib/base/table/fields_write.c
