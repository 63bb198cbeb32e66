# SPDX-License-Identifier: Apache-2.0

nobase_dist_pkgdata_DATA += reports/model/model.css
libhalfulp_a_SOURCES += reports/model/model_against.c
libhalfulp_a_SOURCES += reports/model/model_curves.c
libhalfulp_a_SOURCES += reports/model/model_decision.c
libhalfulp_a_SOURCES += reports/model/model_nodes.c
libhalfulp_a_SOURCES += reports/model/model_page.c
noinst_HEADERS += reports/model/model_page.h
noinst_HEADERS += reports/model/model_parts.h
libhalfulp_a_SOURCES += reports/model/model_value.c
noinst_HEADERS += reports/model/model_value.h
