# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/differ/apart.c
noinst_HEADERS += lib/program/differ/apart.h
libhalfulp_a_SOURCES += lib/program/differ/describe.c
noinst_HEADERS += lib/program/differ/describe.h
