# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/advise/remedy/remedies.c
noinst_HEADERS += analyzers/advise/remedy/remedies.def
noinst_HEADERS += analyzers/advise/remedy/remedies.h
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedies_report.c
noinst_HEADERS += analyzers/advise/remedy/remedy.h
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_channels.c
noinst_HEADERS += analyzers/advise/remedy/remedy_channels.h
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_concat.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_constants.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_graph.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_means.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_smooth.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_squares.c
libhalfulp_a_SOURCES += analyzers/advise/remedy/remedy_stream.c
