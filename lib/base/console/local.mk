# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/base/console/addition.c
noinst_HEADERS += lib/base/console/addition.h
libhalfulp_a_SOURCES += lib/base/console/command.c
noinst_HEADERS += lib/base/console/command.h
libhalfulp_a_SOURCES += lib/base/console/command_main.c
libhalfulp_a_SOURCES += lib/base/console/opt.c
noinst_HEADERS += lib/base/console/opt.h
libhalfulp_a_SOURCES += lib/base/console/opt_need.c
noinst_HEADERS += lib/base/console/opt_need.h
libhalfulp_a_SOURCES += lib/base/console/progress.c
noinst_HEADERS += lib/base/console/progress.h
libhalfulp_a_SOURCES += lib/base/console/show.c
noinst_HEADERS += lib/base/console/show.h
libhalfulp_a_SOURCES += lib/base/console/show_json.c
noinst_HEADERS += lib/base/console/show_json.h
