# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/outcome/outcome.c
noinst_HEADERS += analyzers/outcome/outcome.h
libhalfulp_a_SOURCES += analyzers/outcome/outcome_ci.c
libhalfulp_a_SOURCES += analyzers/outcome/outcome_markdown.c
libhalfulp_a_SOURCES += analyzers/outcome/outcome_sarif.c
libhalfulp_a_SOURCES += analyzers/outcome/outcome_text.c
