# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome.c
noinst_HEADERS += analyzers/drift/outcome/outcome.h
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_ci.c
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_json.c
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_markdown.c
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_sarif.c
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_text.c
libhalfulp_a_SOURCES += analyzers/drift/outcome/outcome_write.c
