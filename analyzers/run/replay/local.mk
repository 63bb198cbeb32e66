# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/replay/replay.c
libhalfulp_a_SOURCES += analyzers/run/replay/replay_rows.c
noinst_HEADERS += analyzers/run/replay/replay_rows.h
libhalfulp_a_SOURCES += analyzers/run/replay/replay_tensor.c
noinst_HEADERS += analyzers/run/replay/replay_tensor.h
