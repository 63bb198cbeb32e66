# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/command/cmd_report.c
libhalfulp_a_SOURCES += reports/command/page_file.c
noinst_HEADERS += reports/command/page_file.h
