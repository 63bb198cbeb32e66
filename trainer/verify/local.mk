# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += trainer/verify/cmd_verify.c
libhalfulp_a_SOURCES += trainer/verify/verify.c
noinst_HEADERS += trainer/verify/verify.h
libhalfulp_a_SOURCES += trainer/verify/verify_trace.c
libhalfulp_a_SOURCES += trainer/verify/verify_where.c
