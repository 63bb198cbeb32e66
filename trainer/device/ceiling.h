/* SPDX-License-Identifier: Apache-2.0
   The measured ceilings of the processor at hand, as a row beside the data sheets': what the
   emulating interpreter reaches on one large product, and what memory gives. */
#ifndef HU_TRAINER_CEILING_H
#define HU_TRAINER_CEILING_H

#include "trainer/device/roofline.h"

/* Measures for about a second, with the threads and instruction set in use: products of 768^3 in each format of
   the rates (emulated, so fp16's is that of rounding operands and accumulating in fp32), a copy of 64 MB
   (bytes read and written), and a call on one element. Names and source are static text. */
hu_status hu_ceiling_measure(hu_peaks *d);
#endif
