/* SPDX-License-Identifier: Apache-2.0
   The kernel that moves elements by an index map: a struct M, passed to it by value, with a device member hu_hop
   at(uint32_t i) that says where the neighbouring elements of the result from i on come from. A thread makes V
   neighbours of a row. move_sum.cuh adds up the gradients of moved elements by the same maps, which then have a second
   member (there), and turn.cuh transposes matrices. */
#ifndef HU_CUDA_HOP_CUH
#define HU_CUDA_HOP_CUH

#include "cuda/element/map.cuh"

extern "C" {
#include "lib/op/attr.h"
#include "lib/op/move/index_map.h"
}

/* Of the result's elements i, i + 1, ... number v is element at + v * step of the source if from <= v < to, else a
   constant. count and key are for sums: how many elements are added, and what the map needs to find them. */
typedef struct hu_hop { uint32_t at, step, from, to, count, key; } hu_hop;

/* What a kernel of moves needs besides its map. wide is 1 if the V elements of a whole run with neither end cut off are
   neighbours in the source too and begin at a multiple of V there. */
typedef struct hu_moving {
	hu_store_operand x;
	hu_store_result y;
	uint32_t n, whole;
	int wide;
	double fill;
} hu_moving;

HU_DEVICE float hu_move_load(const hu_store_operand *o, uint32_t i, float) { return hu_load_f32(o, i); }
HU_DEVICE double hu_move_load(const hu_store_operand *o, uint32_t i, double) { return hu_load_f64(o, i); }
HU_DEVICE void hu_move_store(const hu_store_result *r, uint32_t i, float x) { hu_store_f32(r, i, x); }
HU_DEVICE void hu_move_store(const hu_store_result *r, uint32_t i, double x) { hu_store_f64(r, i, x); }

template <class M, class T, int V>
HU_KERNEL
hu_move_kernel(HU_PARAM M map, HU_PARAM hu_moving m)
{
	uint32_t runs = hu_runs(m.n, m.whole, V);

	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < runs; t += gridDim.x * blockDim.x) {
		hu_element_run run = hu_run_at<V>(t, m.whole);
		hu_hop h = map.at(run.i);
		T x[V];
		if (m.wide && run.many == V && h.from == 0 && h.to >= V) {
			hu_vector_load<V, 1>(x, &m.x, m.x.data, h.at);
		} else {
			HU_UNROLL
			for (uint32_t v = 0; v < V; v++)
				x[v] = v < run.many && v >= h.from && v < h.to
					       ? hu_move_load(&m.x, h.at + v * h.step, T())
					       : (T)m.fill;
		}
		if (run.many == V)
			hu_vector_store<V, 1>(&m.y, m.y.data, run.i, x);
		else
			hu_move_store(&m.y, run.i, x[0]);
	}
}

/* On the host: how many elements a thread makes, 8, 4 or 1, of a tensor in rows of this many, if all addresses allow
   it. */
static inline uint32_t
hu_move_width(const hu_slot *x, const hu_slot *y, size_t row)
{
	int codes = hu_slot_size(x->format) <= 2 && hu_slot_size(y->format) <= 2;

	if (!hu_aligned(x->data) || !hu_aligned(y->data))
		return 1;
	return codes && row % 8 == 0 ? 8 : row % 4 == 0 ? 4 : 1;
}

template <class M, class T, int V>
static hu_status
hu_move_launch(hu_work *w, const M *map, hu_moving m, uint32_t width)
{
	m.whole = width == V ? m.n / V : 0;
	return HU_GO(w, (hu_move_kernel<M, T, V>), hu_blocks_for(hu_runs(m.n, m.whole, V), HU_FIELD_THREADS, 65535),
		HU_FIELD_THREADS, 0, *map, m);
}

/* Describes the move of x to the call's output; where that cannot be rounded by a kernel *raw is what is written.
   Returns 1 if doubles have to carry the values, which floats hold but for those of doubles. */
static inline int
hu_moving_begin(hu_moving *m, hu_slot *raw, hu_work *w, const hu_slot *x, double fill)
{
	const hu_slot *y = w->out[0];
	int twice = x->format == HU_FP64 || y->format == HU_FP64 || (double)(float)fill != fill;

	memset(m, 0, sizeof *m);
	m->x = hu_operand_of(x, HU_AT_EACH);
	m->y = hu_result_begin(w, y, raw, twice);
	m->n = (uint32_t)y->n;
	m->fill = fill;
	return twice || m->y.kind == HU_KIND_F64;
}

/* Moves x to the call's output, whose rows have row elements; fill is the constant. Of how many neighbours the source's
   pieces are made, each beginning at a multiple of that: 8, 4, or 1 for none. */
template <class M>
static hu_status
hu_move_run(hu_work *w, const M *map, const hu_slot *x, size_t row, uint32_t neighbours, double fill)
{
	const hu_slot *y = w->out[0];
	uint32_t width = hu_move_width(x, y, row);
	hu_slot raw;
	hu_moving m;

	if (!y->n)
		return HU_OK;
	int twice = hu_moving_begin(&m, &raw, w, x, fill);
	if (width == 8 && (twice || neighbours % 8))
		width = 4;
	m.wide = neighbours % width == 0;
	if (twice)
		HU_TRY((hu_move_launch<M, double, 4>(w, map, m, width)));
	else if (width == 8)
		HU_TRY((hu_move_launch<M, float, 8>(w, map, m, width)));
	else
		HU_TRY((hu_move_launch<M, float, 4>(w, map, m, width)));
	return hu_result_finish(w, &raw, y);
}
#endif
