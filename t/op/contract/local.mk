# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/op/contract/gemm_operands.h
SCRIPT_TESTS += t/op/contract/t-conv.py
C_TESTS += t/op/contract/u-contract-low
C_TESTS += t/op/contract/u-conv-axis
C_TESTS += t/op/contract/u-conv
C_TESTS += t/op/contract/u-gemm
C_TESTS += t/op/contract/u-tc-call
