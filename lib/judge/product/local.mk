# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/judge/product/product.c
noinst_HEADERS += lib/judge/product/product.h
libhalfulp_avx2_a_SOURCES += lib/judge/product/product_avx2.c
libhalfulp_avx512_a_SOURCES += lib/judge/product/product_avx512.c
noinst_HEADERS += lib/judge/product/product_loop.h
noinst_HEADERS += lib/judge/product/product_loop.inc
