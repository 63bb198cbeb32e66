# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/signal_node/fourier.c
libhalfulp_a_SOURCES += lib/import/signal_node/signal.c
noinst_HEADERS += lib/import/signal_node/turn.h
