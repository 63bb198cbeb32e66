/* SPDX-License-Identifier: Apache-2.0
   Numbers in a call's compute format, one a channel, row or tensor (hu_stat_slot), and what
   several operators do with them. Defined in cuda/element/stat.cu; everything is launched, nothing waited for. */
#ifndef HU_CUDA_STAT_H
#define HU_CUDA_STAT_H

#include "cuda/element/map.cuh"

extern "C" {
/* SUM, made here: T summed down the ROWS rows of CHANNELS numbers in each of SEGMENTS, or along
   each of ROWS rows of EACH. */
hu_status HU_SIDE(sum_down)(hu_work *w, const hu_slot *t, size_t segments, size_t rows, size_t channels, hu_slot *sum);
hu_status HU_SIDE(sum_along)(hu_work *w, const hu_slot *t, size_t rows, size_t each, hu_slot *sum);
/* S rounded into the call's output T. */
hu_status HU_SIDE(stat_out)(hu_work *w, const hu_slot *s, const hu_slot *t);
/* S copied to T, another stat of as many numbers. */
hu_status HU_SIDE(stat_copy)(hu_work *w, const hu_slot *s, const hu_slot *t);
/* S becomes S / N, elsewhere. */
hu_status HU_SIDE(stat_divide)(hu_work *w, hu_slot *s, double n);
/* RSTD, made here: 1 / sqrt(VAR + the call's eps). */
hu_status HU_SIDE(stat_inverse)(hu_work *w, const hu_slot *var, hu_slot *rstd);
}
#endif
