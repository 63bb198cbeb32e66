# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/terminal/excerpts.c
noinst_HEADERS += lib/base/terminal/excerpts.h
libhalfulp_a_SOURCES += lib/base/terminal/fitted.c
noinst_HEADERS += lib/base/terminal/fitted.h
libhalfulp_a_SOURCES += lib/base/terminal/pager.c
noinst_HEADERS += lib/base/terminal/pager.h
libhalfulp_a_SOURCES += lib/base/terminal/progress.c
noinst_HEADERS += lib/base/terminal/progress.h
