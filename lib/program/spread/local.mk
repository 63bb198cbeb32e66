# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/spread/backend.c
noinst_HEADERS += lib/program/spread/backend.h
libhalfulp_a_SOURCES += lib/program/spread/backend_cpu.c
noinst_HEADERS += lib/program/spread/backend_cpu.h
noinst_HEADERS += lib/program/spread/part.h
libhalfulp_a_SOURCES += lib/program/spread/part_cpu.c
libhalfulp_a_SOURCES += lib/program/spread/spread.c
noinst_HEADERS += lib/program/spread/spread.h
libhalfulp_a_SOURCES += lib/program/spread/spread_run.c
