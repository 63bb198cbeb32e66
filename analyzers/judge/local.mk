# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/judge/cmd_judge.c
libhalfulp_a_SOURCES += analyzers/judge/judge_json.c
libhalfulp_a_SOURCES += analyzers/judge/judge_report.c
libhalfulp_a_SOURCES += analyzers/judge/make.c
noinst_HEADERS += analyzers/judge/make.def
noinst_HEADERS += analyzers/judge/make.h
