# SPDX-License-Identifier: Apache-2.0

NO_CUDA_SOURCES += cuda/device/absent.c
noinst_HEADERS += cuda/device/capabilities.def
libhalfulp_a_SOURCES += cuda/device/capability.c
noinst_HEADERS += cuda/device/capability.h
CUDA_SOURCES += cuda/device/device.cu
noinst_HEADERS += cuda/device/device.h
noinst_HEADERS += cuda/device/devices.def
CUDA_SOURCES += cuda/device/memory.cu
CUDA_SOURCES += cuda/device/queue.cu
libhalfulp_a_SOURCES += cuda/device/roofline.c
noinst_HEADERS += cuda/device/roofline.h
CUDA_SOURCES += cuda/device/selftest.cu
libhalfulp_a_SOURCES += cuda/device/usable.c
noinst_HEADERS += cuda/device/usable.h
libhalfulp_a_SOURCES += cuda/device/vendor.c
noinst_HEADERS += cuda/device/vendor.h
