# SPDX-License-Identifier: Apache-2.0

t_libtap_a_SOURCES += t/op/op-case.c
noinst_HEADERS += t/op/op-case.h
noinst_HEADERS += t/op/op-cases.def
noinst_HEADERS += t/op/op-values.h
SCRIPT_TESTS += t/op/t-conv.py
C_TESTS += t/op/u-conv
C_TESTS += t/op/u-emulate-some
C_TESTS += t/op/u-enclose
C_TESTS += t/op/u-gemm
C_TESTS += t/op/u-gradient
C_TESTS += t/op/u-op-order
C_TESTS += t/op/u-op-table
C_TESTS += t/op/u-op-values
C_TESTS += t/op/u-performed
C_TESTS += t/op/u-scaler
C_TESTS += t/op/u-tc-call
