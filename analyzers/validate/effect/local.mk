# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += analyzers/validate/effect/accept.c
noinst_HEADERS += analyzers/validate/effect/accept.h
libhalfulp_a_SOURCES += analyzers/validate/effect/evaluate.c
noinst_HEADERS += analyzers/validate/effect/evaluate.h
libhalfulp_a_SOURCES += analyzers/validate/effect/measures.c
noinst_HEADERS += analyzers/validate/effect/measures.h
