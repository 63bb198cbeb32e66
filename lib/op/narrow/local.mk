# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/narrow/narrow.c
noinst_HEADERS += lib/op/narrow/narrow.h
