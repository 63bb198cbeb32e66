# SPDX-License-Identifier: Apache-2.0

NO_CUDA_SOURCES += cuda/absent.c
libhalfulp_a_SOURCES += cuda/backend.c
noinst_HEADERS += cuda/backend.h
CUDA_SOURCES += cuda/device.cu
noinst_HEADERS += cuda/device.h
