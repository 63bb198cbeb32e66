/* SPDX-License-Identifier: Apache-2.0
   Measures the upper limits of this processor, in the form of a data sheet's row: the rate that its cores compute at
   and the bandwidth of its caches and memory. No emulated call can be faster than either. */
#ifndef HU_TRAINER_CEILING_H
#define HU_TRAINER_CEILING_H

#include "cuda/device/roofline.h"

/* Measures for about a second, with the threads and the instruction set in use. Arithmetic: fused multiply-adds in
   registers give the rate of every format that the emulation accumulates in fp32, and half of it that of fp64; without
   such an instruction, the fastest thing there is, products of 768^3, is timed. Bandwidth: the faster of copies and
   reads of 16 KiB to 64 MiB. Launch: the fastest of two calls on one element. Names and source in *d are static
   text. */
hu_status hu_ceiling_measure(hu_peaks *d);
#endif
