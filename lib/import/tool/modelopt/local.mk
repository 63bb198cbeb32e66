# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/import/tool/modelopt/modelopt.h
libhalfulp_a_SOURCES += lib/import/tool/modelopt/modelopt_choose.c
libhalfulp_a_SOURCES += lib/import/tool/modelopt/modelopt_graph.c
libhalfulp_a_SOURCES += lib/import/tool/modelopt/modelopt_groups.c
libhalfulp_a_SOURCES += lib/import/tool/modelopt/tool_int8.c
