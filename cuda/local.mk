# SPDX-License-Identifier: Apache-2.0

NO_CUDA_SOURCES += cuda/absent.c
CUDA_SOURCES += cuda/device.cu
noinst_HEADERS += cuda/device.h
