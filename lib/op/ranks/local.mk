# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/ranks/over_ranks.c
noinst_HEADERS += lib/op/ranks/over_ranks.h
