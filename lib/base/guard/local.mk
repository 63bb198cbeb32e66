# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/guard/allocators.c
noinst_HEADERS += lib/base/guard/allocators.h
libhalfulp_a_SOURCES += lib/base/guard/cut.c
noinst_HEADERS += lib/base/guard/cut.h
libhalfulp_a_SOURCES += lib/base/guard/ended.c
noinst_HEADERS += lib/base/guard/ended.h
libhalfulp_a_SOURCES += lib/base/guard/file.c
libhalfulp_a_SOURCES += lib/base/guard/guard.c
noinst_HEADERS += lib/base/guard/guard.h
libhalfulp_a_SOURCES += lib/base/guard/input.c
noinst_HEADERS += lib/base/guard/input.h
libhalfulp_a_SOURCES += lib/base/guard/limit.c
noinst_HEADERS += lib/base/guard/limit.h
libhalfulp_a_SOURCES += lib/base/guard/temporary.c
noinst_HEADERS += lib/base/guard/temporary.h
