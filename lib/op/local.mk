# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/call.h
libhalfulp_a_SOURCES += lib/op/op.c
noinst_HEADERS += lib/op/op.h
noinst_HEADERS += lib/op/ops.def
noinst_HEADERS += lib/op/tensor.h
