# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/page/counterexperiment.c
noinst_HEADERS += reports/page/measures.def
libhalfulp_a_SOURCES += reports/page/page.c
nobase_dist_pkgdata_DATA += reports/page/page.css
noinst_HEADERS += reports/page/page.h
nobase_dist_pkgdata_DATA += reports/page/page.js
libhalfulp_a_SOURCES += reports/page/page_cells.c
libhalfulp_a_SOURCES += reports/page/page_figures.c
libhalfulp_a_SOURCES += reports/page/page_layers.c
noinst_HEADERS += reports/page/page_parts.h
libhalfulp_a_SOURCES += reports/page/page_runs.c
libhalfulp_a_SOURCES += reports/page/page_shell.c
libhalfulp_a_SOURCES += reports/page/page_sources.c
noinst_HEADERS += reports/page/remedies.def
noinst_HEADERS += reports/page/sources.def
