# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/judge/verdict/bias.c
noinst_HEADERS += lib/judge/verdict/bias.h
libhalfulp_a_SOURCES += lib/judge/verdict/vanishing.c
noinst_HEADERS += lib/judge/verdict/vanishing.h
libhalfulp_a_SOURCES += lib/judge/verdict/verdict.c
noinst_HEADERS += lib/judge/verdict/verdict.h
noinst_HEADERS += lib/judge/verdict/verdict.inc
libhalfulp_avx2_a_SOURCES += lib/judge/verdict/verdict_avx2.c
libhalfulp_avx512_a_SOURCES += lib/judge/verdict/verdict_avx512.c
libhalfulp_a_SOURCES += lib/judge/verdict/ziv.c
noinst_HEADERS += lib/judge/verdict/ziv.h
