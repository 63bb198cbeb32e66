# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += cuda/fuse/fuse.h
CUDA_SOURCES += cuda/fuse/fuse_cast.cu
CUDA_SOURCES += cuda/fuse/fuse_chain.cu
CUDA_SOURCES += cuda/fuse/fuse_gradients.cu
CUDA_SOURCES += cuda/fuse/fuse_scaled.cu
CUDA_SOURCES += cuda/fuse/fuse_update.cu
noinst_HEADERS += cuda/fuse/fusions.def
libhalfulp_a_SOURCES += cuda/fuse/plan.c
noinst_HEADERS += cuda/fuse/plan.h
libhalfulp_a_SOURCES += cuda/fuse/plan_stage.c
noinst_HEADERS += cuda/fuse/side.h
