# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/engines/cmd_engines.c
libhalfulp_a_SOURCES += analyzers/engines/logits.c
noinst_HEADERS += analyzers/engines/logits.h
libhalfulp_a_SOURCES += analyzers/engines/mismatch.c
noinst_HEADERS += analyzers/engines/mismatch.h
