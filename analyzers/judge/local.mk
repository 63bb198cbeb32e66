# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += analyzers/judge/alternatives.def
libhalfulp_a_SOURCES += analyzers/judge/cmd_judge.c
libhalfulp_a_SOURCES += analyzers/judge/composite.c
noinst_HEADERS += analyzers/judge/composite.h
noinst_HEADERS += analyzers/judge/composites.def
libhalfulp_a_SOURCES += analyzers/judge/culprit.c
noinst_HEADERS += analyzers/judge/culprit.h
libhalfulp_a_SOURCES += analyzers/judge/judge_args.c
noinst_HEADERS += analyzers/judge/judge_args.h
libhalfulp_a_SOURCES += analyzers/judge/judge_report.c
libhalfulp_a_SOURCES += analyzers/judge/kernel_job.c
noinst_HEADERS += analyzers/judge/kernel_job.h
libhalfulp_a_SOURCES += analyzers/judge/kernel_run.c
libhalfulp_a_SOURCES += analyzers/judge/layout.c
libhalfulp_a_SOURCES += analyzers/judge/program_args.c
