/* SPDX-License-Identifier: Apache-2.0
   The rows that this floor adds to the back-end table. */
#ifndef HU_CUDA_BACKEND_H
#define HU_CUDA_BACKEND_H

#include "lib/program/backend.h"

/* Opens only where the build has CUDA, the machine a device, and every operator of the
   program a kernel; otherwise HU_EUNABLE or HU_EDEVICE says which of these is missing. */
extern const hu_backend hu_backend_cuda;
/* The same kernels run on the host (cuda/shim/shim.h): opens wherever the build had a C++ compiler. */
extern const hu_backend hu_backend_shim;

/* The row of a device that only counts what programs opened on it allocate, which its peak tells: laid out as on
   NAME's, "cuda" (which must then be usable) or "shim", whose kernels take the room that a device of any architecture
   would. It runs nothing. NULL where the build has neither. */
const hu_backend *hu_backend_counted(const char *name);
#endif
