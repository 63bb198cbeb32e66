/* SPDX-License-Identifier: Apache-2.0
   The largest batch whose step fits into a memory. */
#ifndef HU_TRAINER_FITS_H
#define HU_TRAINER_FITS_H

#include "trainer/run/build.h"

/* *batch: the largest whose training takes at most bytes of a device (hu_need_device: both programs, scratch room and
   all); 0 where not even one image's does. c's own batch is as before afterwards. */
hu_status hu_largest_batch(const hu_config *c, const hu_dataset *data, double bytes, size_t *batch);
#endif
