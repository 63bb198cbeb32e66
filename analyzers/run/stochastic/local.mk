# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/run/stochastic/noise.c
noinst_HEADERS += analyzers/run/stochastic/noise.h
libhalfulp_a_SOURCES += analyzers/run/stochastic/redraw.c
noinst_HEADERS += analyzers/run/stochastic/redraw.h
libhalfulp_a_SOURCES += analyzers/run/stochastic/stochastic.c
