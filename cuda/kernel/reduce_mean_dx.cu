/* SPDX-License-Identifier: Apache-2.0
   reduce_mean_dx dy, x: every element's gradient is that of its mean, divided by the number of elements. */
#include "cuda/element/groups.cuh"

extern "C" hu_status
HU_SIDE(op_reduce_mean_dx)(hu_work *w)
{
	return hu_group_spread<hu_divided>(w, 1, 0);
}
