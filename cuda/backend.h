/* SPDX-License-Identifier: Apache-2.0
   The rows that this floor adds to the back-end table. */
#ifndef HU_CUDA_BACKEND_H
#define HU_CUDA_BACKEND_H

#include "lib/program/backend.h"

/* Opens only where the build has CUDA, the machine a device, and every operator of the
   program a kernel; otherwise HU_EUNABLE or HU_EDEVICE says which of these is missing. */
extern const hu_backend hu_backend_cuda;
/* The same kernels run on the host (cuda/shim.h): opens wherever the build had a C++ compiler. */
extern const hu_backend hu_backend_shim;
#endif
