# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/op/pool/pool.c
noinst_HEADERS += lib/op/pool/pool.h
noinst_HEADERS += lib/op/pool/window.h
