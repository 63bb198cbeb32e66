# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += cuda/nccl/nccl.c
noinst_HEADERS += cuda/nccl/nccl.h
CUDA_SOURCES += cuda/nccl/nccl_check.cu
