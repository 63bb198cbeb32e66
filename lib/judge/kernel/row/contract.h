/* SPDX-License-Identifier: Apache-2.0
   Matrix products of balls, which convolutions, experts and gradients of attention use too. */
#ifndef HU_JUDGE_ROW_CONTRACT_H
#define HU_JUDGE_ROW_CONTRACT_H

#include "lib/judge/kernel/graph.h"

/* y[m,n] = a b for balls, a[m,k] or its transpose stored as [k,m]. want says which of radius, variance and shared part
   any operand has. */
void hu_contract_balls(hu_ball *y, const hu_ball *a, const hu_ball *b, size_t m, size_t n, size_t k, int ta, int tb,
	const int want[3], const hu_roundoffs *roundoffs);
#endif
