/* SPDX-License-Identifier: Apache-2.0
   Numbers in a call's compute format, one for each channel, row or tensor (hu_stat_slot), and what several operators do
   with them and with their elements. Each function launches kernels and waits for nothing. */
#ifndef HU_CUDA_STAT_H
#define HU_CUDA_STAT_H

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/element/formulas.h"

/* pointwise.cu: computes map m by a formula of lib/op/element/formulas.def. */
hu_status HU_SIDE(formula)(hu_work *w, const hu_field *m, int formula);

/* stat.cu has the others. These two allocate sum and compute it: sum_down sums t down the rows of each channel in each
   segment, sum_along sums each row of each elements. */
hu_status HU_SIDE(sum_down)(hu_work *w, const hu_slot *t, size_t segments, size_t rows, size_t channels, hu_slot *sum);
hu_status HU_SIDE(sum_along)(hu_work *w, const hu_slot *t, size_t rows, size_t each, hu_slot *sum);
/* Rounds s to the call's output t. */
hu_status HU_SIDE(stat_out)(hu_work *w, const hu_slot *s, const hu_slot *t);
/* Copies s to t, another stat of as many numbers. */
hu_status HU_SIDE(stat_copy)(hu_work *w, const hu_slot *s, const hu_slot *t);
/* Replaces s by s / n, in new memory. */
hu_status HU_SIDE(stat_divide)(hu_work *w, hu_slot *s, double n);
/* Allocates rstd = 1 / sqrt(var + the call's eps). */
hu_status HU_SIDE(stat_inverse)(hu_work *w, const hu_slot *var, hu_slot *rstd);
}
#endif
