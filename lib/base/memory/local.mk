# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/memory/resident.c
noinst_HEADERS += lib/base/memory/resident.h
libhalfulp_a_SOURCES += lib/base/memory/room.c
noinst_HEADERS += lib/base/memory/room.h
