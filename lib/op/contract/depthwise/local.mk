# SPDX-License-Identifier: Apache-2.0
libhalfulp_a_SOURCES += lib/op/contract/depthwise/depthwise.c
noinst_HEADERS += lib/op/contract/depthwise/depthwise.h
libhalfulp_avx2_a_SOURCES += lib/op/contract/depthwise/depthwise_avx2.c
libhalfulp_avx512_a_SOURCES += lib/op/contract/depthwise/depthwise_avx512.c
libhalfulp_a_SOURCES += lib/op/contract/depthwise/depthwise_plain.c
noinst_HEADERS += lib/op/contract/depthwise/depthwise_sum.inc
