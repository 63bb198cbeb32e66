/* SPDX-License-Identifier: Apache-2.0
   How much memory training takes, computed before anything is allocated: what blank cells and `plan --memory` rest on.
   Never less than what `bench train` measures (t/trainer/t-memory.py). memory.h has what the formats alone would take,
   by category. */
#ifndef HU_TRAINER_NEED_H
#define HU_TRAINER_NEED_H

#include "trainer/run/build.h"

/* Bytes of c's steps and evaluation on backend. "cpu": the resident memory of the emulation, which holds every tensor
   of both programs as floats (fp64: doubles), its calls' working memory with the threads in use, the images and a batch
   of them, and an allowance for the process itself (HU_NEED_PROCESS, HU_NEED_THREAD). A device: what is allocated
   there, of every tensor of both programs in its format's codes, the next batch, the products' scratch room and what a
   step leaves for the host, found by opening the programs on a device that only counts. data: of c, dimensions at
   least. HU_EUNABLE where this build has no such device, and where a tensor is larger than kernels reach. */
hu_status hu_need(const hu_config *c, const hu_dataset *data, const char *backend, double *bytes);

/* The same of some device, for plans: the shim's, whose kernels take what those of any architecture do, or in a build
   without it a bound from the shapes. */
hu_status hu_need_device(const hu_config *c, const hu_dataset *data, double *bytes);

/* Code and libraries that a first step touches, tables, options and programs; a thread's stack and heap. */
enum { HU_NEED_PROCESS = 2 << 20, HU_NEED_THREAD = 1 << 19 };
#endif
