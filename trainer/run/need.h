/* SPDX-License-Identifier: Apache-2.0
   The memory that training takes, computed before anything is allocated. `bench train` and `plan --memory` decide by it
   what fits. It is never less than what `bench train` measures (t/trainer/bench/t-memory.py). memory.h has the memory
   of the tensors in their formats alone, by category. */
#ifndef HU_TRAINER_NEED_H
#define HU_TRAINER_NEED_H

#include "trainer/run/build.h"

/* Sets *bytes to the memory of c's steps and evaluation on backend. For "cpu" it is the resident memory of the
   emulation: every tensor of both programs as floats (fp64: doubles), the working memory of calls with the threads in
   use, the images and one batch of them, and an allowance for the process itself (HU_NEED_PROCESS, HU_NEED_THREAD). For
   a device it is what is allocated there: every tensor of both programs in its format's codes, the next batch, scratch
   memory of products, and what a step leaves for the host. It is found by opening the programs on a device that only
   counts. data needs dimensions only. HU_EUNABLE where this build has no such device, or where a tensor is larger than
   kernels can address. */
hu_status hu_need(const hu_config *c, const hu_dataset *data, const char *backend, double *bytes);

/* The same for a device that is not known, for plans: the shim's, whose kernels take as much as those of any
   architecture, or in a build without it a bound computed from the shapes. */
hu_status hu_need_device(const hu_config *c, const hu_dataset *data, double *bytes);

/* Returns 1 if hu_need_device counts, 0 if it bounds. */
int hu_need_counts(void);

/* HU_NEED_PROCESS allows for the code and libraries that a first step touches, tables, options and programs;
   HU_NEED_THREAD for a thread's stack and heap. */
enum { HU_NEED_PROCESS = 2 << 20, HU_NEED_THREAD = 1 << 19 };
#endif
