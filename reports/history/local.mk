# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += reports/history/history.css
libhalfulp_a_SOURCES += reports/history/history_draw.c
libhalfulp_a_SOURCES += reports/history/history_list.c
libhalfulp_a_SOURCES += reports/history/history_page.c
noinst_HEADERS += reports/history/history_page.h
noinst_HEADERS += reports/history/history_parts.h
