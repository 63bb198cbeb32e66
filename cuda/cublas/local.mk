# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += cuda/cublas/cublas.c
noinst_HEADERS += cuda/cublas/cublas.h
libhalfulp_a_SOURCES += cuda/cublas/cublas_bound.c
CUDA_SOURCES += cuda/cublas/cublas_check.cu
libhalfulp_a_SOURCES += cuda/cublas/cublas_words.c
