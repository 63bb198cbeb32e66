# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/exact/dd/dd.c
noinst_HEADERS += lib/exact/dd/dd.h
libhalfulp_a_SOURCES += lib/exact/dd/dd_step.c
libhalfulp_a_SOURCES += lib/exact/dd/dd_turn.c
