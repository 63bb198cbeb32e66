# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/rows/json_cell.c
noinst_HEADERS += reports/rows/json_cell.h
libhalfulp_a_SOURCES += reports/rows/json_table.c
noinst_HEADERS += reports/rows/json_table.h
libhalfulp_a_SOURCES += reports/rows/json_table_choose.c
libhalfulp_a_SOURCES += reports/rows/json_table_write.c
libhalfulp_a_SOURCES += reports/rows/outputs.c
noinst_HEADERS += reports/rows/outputs.h
libhalfulp_a_SOURCES += reports/rows/rerun.c
noinst_HEADERS += reports/rows/rerun.h
libhalfulp_a_SOURCES += reports/rows/tables.c
noinst_HEADERS += reports/rows/tables.h
