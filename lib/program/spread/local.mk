# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/program/spread/part.h
libhalfulp_a_SOURCES += lib/program/spread/part_cpu.c
libhalfulp_a_SOURCES += lib/program/spread/spread.c
noinst_HEADERS += lib/program/spread/spread.h
libhalfulp_a_SOURCES += lib/program/spread/spread_run.c
