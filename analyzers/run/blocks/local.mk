# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/blocks/blocks.c
libhalfulp_a_SOURCES += analyzers/run/blocks/tally.c
noinst_HEADERS += analyzers/run/blocks/tally.h
