# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/ci/cmd_gate.c
libhalfulp_a_SOURCES += analyzers/ci/gate_figures.c
noinst_HEADERS += analyzers/ci/gate_figures.h
libhalfulp_a_SOURCES += analyzers/ci/history.c
noinst_HEADERS += analyzers/ci/history.h
