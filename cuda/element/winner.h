/* SPDX-License-Identifier: Apache-2.0
   The largest or smallest element of each group, by its place (winner.cu). */
#ifndef HU_CUDA_WINNER_H
#define HU_CUDA_WINNER_H

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/reduce/dims.h"

/* Allocates *at and sets (*at)[g] to the place within group g of the element of x that wins: of equal ones the first,
   and the first NaN before every number. */
hu_status HU_SIDE(winners)(hu_work *w, const hu_slot *x, const hu_reduce_dims *d, int smallest, uint32_t **at);
/* Allocates top, a stat, and sets it to the largest element of each group in the compute format. */
hu_status HU_SIDE(tops)(hu_work *w, const hu_slot *x, const hu_reduce_dims *d, hu_slot *top);
}

/* An element and its place. */
typedef struct hu_candidate { double value; uint32_t at; } hu_candidate;

/* Whether b wins against a. */
HU_DEVICE int
hu_beats(hu_candidate b, hu_candidate a, int smallest)
{
	int first = b.at < a.at;

	if (a.value != a.value || b.value != b.value)
		return b.value != b.value && (a.value == a.value || first);
	return (smallest ? b.value < a.value : b.value > a.value) || (b.value == a.value && first);
}

/* The winner of a warp's lanes, in every lane. One without an element has the place 0xffffffff and a value that
   loses. */
HU_DEVICE hu_candidate
hu_warp_winner(hu_candidate mine, int smallest)
{
	for (unsigned by = 16; by; by /= 2) {
		hu_candidate other = { hu_shfl_xor(mine.value, by), hu_shfl_xor(mine.at, by) };
		if (hu_beats(other, mine, smallest))
			mine = other;
	}
	return mine;
}

HU_DEVICE hu_candidate
hu_no_candidate(int smallest)
{
	hu_candidate c = { hu_inf(!smallest), 0xffffffffu };

	return c;
}
#endif
