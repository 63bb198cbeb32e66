# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/calc/cmd_calc.c
