# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/sum/cdna/units.c
noinst_HEADERS += lib/sum/cdna/units.h
noinst_HEADERS += lib/sum/cdna/wide.h
