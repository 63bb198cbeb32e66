# SPDX-License-Identifier: Apache-2.0

CUDA_SOURCES += cuda/probe/probe.cu
noinst_HEADERS += cuda/probe/probe.h
noinst_HEADERS += cuda/probe/probe_unit.h
