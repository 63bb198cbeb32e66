# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += lib/judge/kernel/attention/attention_loops.c
noinst_HEADERS += lib/judge/kernel/attention/attention_loops.h
noinst_HEADERS += lib/judge/kernel/attention/attention_loops.inc
