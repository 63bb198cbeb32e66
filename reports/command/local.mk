# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += reports/command/cmd_report.c
