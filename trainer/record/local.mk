# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/record/census.c
noinst_HEADERS += trainer/record/census.h
libhalfulp_a_SOURCES += trainer/record/machine.c
noinst_HEADERS += trainer/record/machine.h
libhalfulp_a_SOURCES += trainer/record/manifest.c
noinst_HEADERS += trainer/record/manifest.h
libhalfulp_a_SOURCES += trainer/record/manifest_parts.c
noinst_HEADERS += trainer/record/manifest_parts.h
libhalfulp_a_SOURCES += trainer/record/metrics.c
noinst_HEADERS += trainer/record/metrics.h
libhalfulp_a_SOURCES += trainer/record/origin.c
noinst_HEADERS += trainer/record/origin.h
libhalfulp_a_SOURCES += trainer/record/passes.c
noinst_HEADERS += trainer/record/passes.h
libhalfulp_a_SOURCES += trainer/record/record.c
noinst_HEADERS += trainer/record/record.h
