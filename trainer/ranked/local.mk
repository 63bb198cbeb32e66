# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/ranked/account.c
libhalfulp_a_SOURCES += trainer/ranked/agree.c
libhalfulp_a_SOURCES += trainer/ranked/fetch.c
noinst_HEADERS += trainer/ranked/machine.h
libhalfulp_a_SOURCES += trainer/ranked/orders.c
noinst_HEADERS += trainer/ranked/orders.h
libhalfulp_a_SOURCES += trainer/ranked/ranked.c
noinst_HEADERS += trainer/ranked/ranked.h
libhalfulp_a_SOURCES += trainer/ranked/rows.c
libhalfulp_a_SOURCES += trainer/ranked/serve.c
libhalfulp_a_SOURCES += trainer/ranked/session_open.c
noinst_HEADERS += trainer/ranked/session_open.h
