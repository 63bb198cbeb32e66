# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/nonfinite/cause.c
noinst_HEADERS += analyzers/run/nonfinite/cause.h
libhalfulp_a_SOURCES += analyzers/run/nonfinite/nonfinite.c
