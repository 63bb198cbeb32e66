# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/probe/cmd_probe.c
noinst_HEADERS += analyzers/probe/instructions.def
libhalfulp_a_SOURCES += analyzers/probe/probe.c
noinst_HEADERS += analyzers/probe/probe.h
libhalfulp_a_SOURCES += analyzers/probe/probe_command.c
noinst_HEADERS += analyzers/probe/probe_command.h
libhalfulp_a_SOURCES += analyzers/probe/probe_device.c
noinst_HEADERS += analyzers/probe/probe_device.h
libhalfulp_a_SOURCES += analyzers/probe/probe_features.c
noinst_HEADERS += analyzers/probe/probe_features.h
libhalfulp_a_SOURCES += analyzers/probe/probe_list.c
noinst_HEADERS += analyzers/probe/probe_list.h
libhalfulp_a_SOURCES += analyzers/probe/probe_model.c
libhalfulp_a_SOURCES += analyzers/probe/probe_random.c
noinst_HEADERS += analyzers/probe/probe_sums.def
