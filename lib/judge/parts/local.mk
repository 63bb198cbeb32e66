# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/judge/parts/packs.c
noinst_HEADERS += lib/judge/parts/packs.h
