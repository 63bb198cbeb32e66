/* SPDX-License-Identifier: Apache-2.0
   Groups of a tensor's elements (lib/op/reduce/dims.h) on the device: sums of a formula's results over each group by
   the fixed tree, and maps whose operands are one number for each group. For the host. */
#ifndef HU_CUDA_GROUPS_CUH
#define HU_CUDA_GROUPS_CUH

#include "cuda/element/reduce.cuh"

extern "C" {
#include "lib/op/reduce/dims.h"
}

static inline size_t hu_group_count(const hu_reduce_dims *d) { return d->outer * d->inner; }

/* A map of all elements of the groups. */
static inline hu_field
hu_group_field(const hu_work *w, const hu_reduce_dims *d)
{
	hu_field m = hu_field_of(w, d->outer * d->middle * d->inner, d->inner == 1 ? d->middle : d->inner);

	m.by_image = hu_divisor_of((uint32_t)(d->middle * d->inner));
	return m;
}

/* How such a map reads one number for each group. */
static inline int
hu_group_how(const hu_reduce_dims *d)
{
	return d->inner == 1 ? HU_AT_ROW : d->outer == 1 ? HU_AT_CHANNEL : HU_AT_IMAGE;
}

/* Allocates sum[k] and computes it: result k of m's formula summed over each group. */
template <class F>
static hu_status
hu_group_sum(hu_work *w, hu_field *m, const hu_reduce_dims *d, hu_slot *sum)
{
	return d->inner == 1 ? hu_sum_along<F>(w, m, d->outer, d->middle, sum)
			     : hu_sum_down<F>(w, m, d->outer, d->middle, sum);
}

/* Computes a gradient that spreads over groups: the call's output, of the shape of its input x, by a formula of every
   other input's number for the group and, if it reads x, of x's element, in the inputs' order. Constant 0 is the number
   of elements of a group. */
template <class F>
static hu_status
hu_group_spread(hu_work *w, int x, int reads_x)
{
	hu_reduce_dims d;
	hu_shape y;

	HU_TRY(hu_axes_of(w->call, w->in[x]->shape, &y, &d));
	hu_field m = hu_group_field(w, &d);
	for (int i = 0; i < w->call->nin; i++)
		if (i != x || reads_x)
			hu_field_in(&m, w->in[i], i == x ? HU_AT_EACH : hu_group_how(&d));
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = (double)d.middle;
	return hu_field_run<F>(w, &m);
}

/* A map from stat, one number for each group, to the call's output. Constant 0 is k. */
static inline hu_field
hu_group_out(hu_work *w, const hu_slot *stat, double k)
{
	hu_field m = hu_field_of(w, w->out[0]->n, 1);

	hu_field_in(&m, stat, HU_AT_EACH);
	hu_field_out(w, &m, w->out[0]);
	m.nk = 1;
	m.k[0] = k;
	return m;
}
#endif
