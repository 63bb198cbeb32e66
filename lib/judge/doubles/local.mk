# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/judge/doubles/continuous.def
libhalfulp_a_SOURCES += lib/judge/doubles/doubles.c
noinst_HEADERS += lib/judge/doubles/doubles.h
