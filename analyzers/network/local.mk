# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/network/calibrate.c
noinst_HEADERS += analyzers/network/calibrate.h
libhalfulp_a_SOURCES += analyzers/network/given.c
noinst_HEADERS += analyzers/network/given.h
libhalfulp_a_SOURCES += analyzers/network/network.c
noinst_HEADERS += analyzers/network/network.h
noinst_HEADERS += analyzers/network/network_options.def
libhalfulp_a_SOURCES += analyzers/network/network_parts.c
noinst_HEADERS += analyzers/network/network_parts.h
libhalfulp_a_SOURCES += analyzers/network/samples.c
noinst_HEADERS += analyzers/network/samples.h
libhalfulp_a_SOURCES += analyzers/network/schemes.c
libhalfulp_a_SOURCES += analyzers/network/variants.c
noinst_HEADERS += analyzers/network/variants.h
