/* SPDX-License-Identifier: Apache-2.0
   Finds the largest batch whose training fits into a given memory. */
#ifndef HU_TRAINER_FITS_H
#define HU_TRAINER_FITS_H

#include "trainer/run/build.h"

/* Sets *batch to the largest batch whose training allocates at most `bytes` on a device, by hu_need_device, which
   counts both programs and the scratch memory of kernels; to 0 where not even one image fits. c->batch is restored
   afterwards. */
hu_status hu_largest_batch(const hu_config *c, const hu_dataset *data, double bytes, size_t *batch);
#endif
