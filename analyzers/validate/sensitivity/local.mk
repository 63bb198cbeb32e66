# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += analyzers/validate/sensitivity/sensitivity.c
noinst_HEADERS += analyzers/validate/sensitivity/sensitivity.h
libhalfulp_a_SOURCES += analyzers/validate/sensitivity/sensitivity_list.c
libhalfulp_a_SOURCES += analyzers/validate/sensitivity/sensitivity_node.c
libhalfulp_a_SOURCES += analyzers/validate/sensitivity/sensitivity_out.c
