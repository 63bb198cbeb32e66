# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/store/series/series.c
noinst_HEADERS += lib/store/series/series.h
libhalfulp_a_SOURCES += lib/store/series/series_json.c
libhalfulp_a_SOURCES += lib/store/series/series_rows.c
noinst_HEADERS += lib/store/series/series_rows.h
libhalfulp_a_SOURCES += lib/store/series/series_table.c
