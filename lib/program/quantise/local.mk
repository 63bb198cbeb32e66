# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/program/quantise/factor.c
noinst_HEADERS += lib/program/quantise/factor.h
noinst_HEADERS += lib/program/quantise/pass.h
libhalfulp_a_SOURCES += lib/program/quantise/pass_build.c
libhalfulp_a_SOURCES += lib/program/quantise/pass_product.c
libhalfulp_a_SOURCES += lib/program/quantise/pass_quantise.c
libhalfulp_a_SOURCES += lib/program/quantise/range.c
noinst_HEADERS += lib/program/quantise/range.h
libhalfulp_a_SOURCES += lib/program/quantise/scheme.c
noinst_HEADERS += lib/program/quantise/scheme.h
noinst_HEADERS += lib/program/quantise/schemes.def
libhalfulp_a_SOURCES += lib/program/quantise/share.c
noinst_HEADERS += lib/program/quantise/share.h
libhalfulp_a_SOURCES += lib/program/quantise/version.c
noinst_HEADERS += lib/program/quantise/version.h
noinst_HEADERS += lib/program/quantise/words.def
