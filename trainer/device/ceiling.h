/* SPDX-License-Identifier: Apache-2.0
   The measured ceilings of the processor at hand, as a row beside the data sheets': what its cores can compute and
   what its caches and memory give, neither of which an emulated call can pass. */
#ifndef HU_TRAINER_CEILING_H
#define HU_TRAINER_CEILING_H

#include "trainer/device/roofline.h"

/* Measures for about a second, with the threads and instruction set in use: fused multiply-adds in registers, which are
   the rate of every format that the emulation accumulates in fp32, and half as many of fp64 (without such an
   instruction: products of 768^3, the fastest thing there is); copies and reads of 16 KiB to 64 MiB, the faster of the
   two; and the faster of two calls on one element. Names and source are static text. */
hu_status hu_ceiling_measure(hu_peaks *d);
#endif
