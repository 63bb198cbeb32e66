# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/sum/order/order.c
noinst_HEADERS += lib/sum/order/order.h
