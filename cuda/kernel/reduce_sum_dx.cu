/* SPDX-License-Identifier: Apache-2.0
   reduce_sum_dx dy, x: every element's gradient is that of its sum. Of x only the shape is read. */
#include "cuda/element/groups.cuh"

extern "C" hu_status
HU_SIDE(op_reduce_sum_dx)(hu_work *w)
{
	return hu_group_spread<hu_itself>(w, 1, 0);
}
