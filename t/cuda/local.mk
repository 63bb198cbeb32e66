# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += t/cuda/choices.def
noinst_HEADERS += t/cuda/cuda-sides.h
SCRIPT_TESTS += t/cuda/t-cuda-faults.sh
SCRIPT_TESTS += t/cuda/t-cuda-train.sh
SCRIPT_TESTS += t/cuda/t-gpu.sh
C_TESTS += t/cuda/u-cuda-choice
C_TESTS += t/cuda/u-cuda-count
C_TESTS += t/cuda/u-cuda-cublas
C_TESTS += t/cuda/u-cuda-fuse
C_TESTS += t/cuda/u-cuda-gemm
C_TESTS += t/cuda/u-cuda-mma
C_TESTS += t/cuda/u-cuda-op
C_TESTS += t/cuda/u-cuda-verdict
C_TESTS += t/cuda/u-device
C_TESTS += t/cuda/u-shim
EXPENSIVE_SCRIPT_TESTS += t/cuda/x-cuda-train.sh
