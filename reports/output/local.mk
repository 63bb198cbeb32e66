# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/output/output.c
noinst_HEADERS += reports/output/output.h
