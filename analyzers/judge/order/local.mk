# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += analyzers/judge/order/order.c
noinst_HEADERS += analyzers/judge/order/order.h
libhalfulp_a_SOURCES += analyzers/judge/order/order_attention.c
libhalfulp_a_SOURCES += analyzers/judge/order/order_parts.c
noinst_HEADERS += analyzers/judge/order/order_parts.h
