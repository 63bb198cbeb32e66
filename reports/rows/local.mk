# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/rows/json_cell.c
noinst_HEADERS += reports/rows/json_cell.h
libhalfulp_a_SOURCES += reports/rows/obey.c
noinst_HEADERS += reports/rows/obey.h
libhalfulp_a_SOURCES += reports/rows/outputs.c
noinst_HEADERS += reports/rows/outputs.h
libhalfulp_a_SOURCES += reports/rows/sheet.c
noinst_HEADERS += reports/rows/sheet.h
libhalfulp_a_SOURCES += reports/rows/sheet_choose.c
libhalfulp_a_SOURCES += reports/rows/sheet_write.c
libhalfulp_a_SOURCES += reports/rows/tables.c
noinst_HEADERS += reports/rows/tables.h
