# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/judge/parts/bias_emulate.c
libhalfulp_a_SOURCES += lib/judge/parts/bias_sum.c
noinst_HEADERS += lib/judge/parts/bias_sum.h
libhalfulp_a_SOURCES += lib/judge/parts/packs.c
noinst_HEADERS += lib/judge/parts/packs.h
