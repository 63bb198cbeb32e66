# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/bins.c
noinst_HEADERS += lib/program/bins.h
libhalfulp_a_SOURCES += lib/program/exec.c
noinst_HEADERS += lib/program/exec.h
libhalfulp_a_SOURCES += lib/program/gemm.c
noinst_HEADERS += lib/program/gemm.h
noinst_HEADERS += lib/program/gemms.def
libhalfulp_a_SOURCES += lib/program/json.c
libhalfulp_a_SOURCES += lib/program/links.c
noinst_HEADERS += lib/program/links.h
libhalfulp_a_SOURCES += lib/program/opaque.c
noinst_HEADERS += lib/program/opaque.h
libhalfulp_a_SOURCES += lib/program/print.c
libhalfulp_a_SOURCES += lib/program/program.c
noinst_HEADERS += lib/program/program.h
libhalfulp_a_SOURCES += lib/program/validate.c
