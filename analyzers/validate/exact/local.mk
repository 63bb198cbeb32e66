# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += analyzers/validate/exact/exact_compare.c
noinst_HEADERS += analyzers/validate/exact/exact_compare.h
libhalfulp_a_SOURCES += analyzers/validate/exact/exact_network.c
noinst_HEADERS += analyzers/validate/exact/exact_network.h
