# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/narrow/narrow.c
noinst_HEADERS += lib/op/narrow/narrow.h
libhalfulp_a_SOURCES += lib/op/narrow/narrow_norm.c
libhalfulp_a_SOURCES += lib/op/narrow/narrow_stats.c
