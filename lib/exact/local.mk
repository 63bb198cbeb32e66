# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/exact/dot.c
noinst_HEADERS += lib/exact/dot.h
