/* SPDX-License-Identifier: Apache-2.0
   The index map of gather, and what its operand i names. */
#ifndef HU_CUDA_PLACE_CUH
#define HU_CUDA_PLACE_CUH

#include "cuda/move/hop.cuh"

/* Rows of inner elements, of which the gathered axis has length; outer of them are named. */
struct hu_places {
	uint32_t inner, outer, length;
	hu_divisor by_inner, by_outer, by_length;
	hu_store_operand index;
	hu_pulse *pulse;

	/* The place along the axis that index o names, counted from the end where it is negative. One that names none
	   is reported, and 0 is returned. */
	HU_DEVICE_MEMBER uint32_t
	place(uint32_t o) const
	{
		double v = hu_load_f64(&index, o), n = (double)length;

		if (!(v >= -n && v < n) || v != (double)(int32_t)v) {
			pulse->fault = HU_FAULT_INDEX;
			return 0;
		}
		return (uint32_t)(v < 0 ? v + n : v);
	}
	HU_DEVICE_MEMBER hu_hop
	at(uint32_t i) const
	{
		uint32_t line = hu_quotient(i, by_inner), rest = i - line * inner, row = hu_quotient(line, by_outer);
		hu_hop h = { (row * length + place(line - row * outer)) * inner + rest, 1, 0, 0xffffffffu, 1, 0 };

		return h;
	}
};

/* On the host: of the gather that call w or, where it is a gradient, its forward call makes of x by i. */
static inline hu_status
hu_places_of(hu_places *p, const hu_work *w, const hu_slot *x, const hu_slot *i)
{
	hu_shape in[2] = { x->shape, i->shape };
	hu_moves m;

	HU_TRY(hu_moves_describe(&m, w->call, in));
	p->inner = (uint32_t)m.inner;
	p->outer = (uint32_t)m.outer;
	p->length = (uint32_t)m.length[0];
	p->by_inner = hu_divisor_of(p->inner);
	p->by_outer = hu_divisor_of(p->outer);
	p->by_length = hu_divisor_of(p->length);
	p->index = hu_operand_of(i, HU_AT_EACH);
	p->pulse = w->pulse;
	return HU_OK;
}

static inline uint32_t
hu_places_neighbours(const hu_places *p)
{
	return p->inner % 8 == 0 ? 8 : p->inner % 4 == 0 ? 4 : 1;
}
#endif
