# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/element/runtime/mlas.c
noinst_HEADERS += lib/op/element/runtime/mlas.h
noinst_HEADERS += lib/op/element/runtime/mlas.inc
libhalfulp_avx2_a_SOURCES += lib/op/element/runtime/mlas_avx2.c
libhalfulp_avx512_a_SOURCES += lib/op/element/runtime/mlas_avx512.c
