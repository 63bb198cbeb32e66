# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += cuda/bulk/bulk.h
CUDA_SOURCES += cuda/bulk/bulk_map.cu
noinst_HEADERS += cuda/bulk/bulk_map.h
noinst_HEADERS += cuda/bulk/gemm_bulk.cuh
noinst_HEADERS += cuda/bulk/gemm_split.cuh
