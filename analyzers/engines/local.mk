# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/engines/cmd_engines.c
libhalfulp_a_SOURCES += analyzers/engines/cone.c
noinst_HEADERS += analyzers/engines/cone.h
libhalfulp_a_SOURCES += analyzers/engines/cone_replay.c
libhalfulp_a_SOURCES += analyzers/engines/forward.c
noinst_HEADERS += analyzers/engines/forward.h
libhalfulp_a_SOURCES += analyzers/engines/logits.c
noinst_HEADERS += analyzers/engines/logits.h
libhalfulp_a_SOURCES += analyzers/engines/mismatch.c
noinst_HEADERS += analyzers/engines/mismatch.h
libhalfulp_a_SOURCES += analyzers/engines/mismatch_out.c
noinst_HEADERS += analyzers/engines/mismatch_out.h
libhalfulp_a_SOURCES += analyzers/engines/node.c
noinst_HEADERS += analyzers/engines/node.h
libhalfulp_a_SOURCES += analyzers/engines/node_out.c
noinst_HEADERS += analyzers/engines/node_out.h
