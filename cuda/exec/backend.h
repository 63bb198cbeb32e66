/* SPDX-License-Identifier: Apache-2.0
   The back ends that cuda/ adds to the table of back ends. */
#ifndef HU_CUDA_BACKEND_H
#define HU_CUDA_BACKEND_H

#include "lib/program/spread/backend.h"

/* The GPU. It opens only if the build has CUDA, the machine a device, and every operator of the program a kernel;
   otherwise HU_EUNABLE or HU_EDEVICE says which of these is missing. */
extern const hu_backend hu_backend_cuda;
/* The same kernels run on the host by the launch shim (cuda/base/shim.h). It opens if the build had a C++ compiler. */
extern const hu_backend hu_backend_shim;

/* A back end that runs nothing and only counts, for its peak, the memory that a program opened on it would allocate on
   the back end name: "cuda" (which must then be usable) or "shim", whose kernels take the scratch space of a device of
   any architecture. NULL if the build has neither. */
const hu_backend *hu_backend_counted(const char *name);
#endif
