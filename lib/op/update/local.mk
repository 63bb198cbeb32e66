# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/update/moments.c
noinst_HEADERS += lib/op/update/moments.h
libhalfulp_a_SOURCES += lib/op/update/moments_alone.c
libhalfulp_a_SOURCES += lib/op/update/update.c
noinst_HEADERS += lib/op/update/update.h
