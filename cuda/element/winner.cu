/* SPDX-License-Identifier: Apache-2.0
   The largest or smallest element of each group (winner.h). Groups are cut into pieces of 4096 elements, whose winners
   make groups again. */
#include "cuda/element/groups.cuh"
#include "cuda/element/winner.h"

typedef struct winning { uint32_t middle, inner, pieces, most; hu_divisor by_inner, by_pieces; int smallest; } winning;

/* Candidate m of group (outer, inner): the place in the group that from names, or m itself. */
HU_DEVICE hu_candidate
candidate(const winning *g, const hu_store_operand *x, const uint32_t *from, uint32_t outer, uint32_t m, uint32_t inner)
{
	hu_candidate c = { 0, from ? from[(outer * g->middle + m) * g->inner + inner] : m };

	c.value = hu_load_f64(x, (outer * g->most + c.at) * g->inner + inner);
	return c;
}

/* to[(outer * pieces + p) * inner + i] becomes the winner of piece p of group (outer, i). Groups of neighbours have a
   warp for each piece, others a thread. */
HU_KERNEL
winner_kernel(HU_PARAM winning g, HU_PARAM hu_store_operand x, const uint32_t *from, uint32_t *to,
	uint32_t n, int warps)
{
	uint32_t lanes = warps ? 32 : 1, lane = threadIdx.x % lanes, each = blockDim.x / lanes;

	for (uint32_t t = blockIdx.x * each + threadIdx.x / lanes; t < n; t += gridDim.x * each) {
		uint32_t line = hu_quotient(t, g.by_inner), inner = t - line * g.inner,
			 outer = hu_quotient(line, g.by_pieces), first = (line - outer * g.pieces) * HU_SUM_BLOCK,
			 last = g.middle - first < HU_SUM_BLOCK ? g.middle : first + HU_SUM_BLOCK;
		hu_candidate best = hu_no_candidate(g.smallest);
		for (uint32_t m = first + lane; m < last; m += lanes) {
			hu_candidate c = candidate(&g, &x, from, outer, m, inner);
			if (hu_beats(c, best, g.smallest))
				best = c;
		}
		if (warps)
			best = hu_warp_winner(best, g.smallest);
		if (lane == 0)
			to[t] = best.at;
	}
}

extern "C" hu_status
HU_SIDE(winners)(hu_work *w, const hu_slot *x, const hu_reduce_dims *d, int smallest, uint32_t **at)
{
	winning g = { (uint32_t)d->middle, (uint32_t)d->inner, 0, (uint32_t)d->middle,
		hu_divisor_of((uint32_t)d->inner), hu_divisor_of(1), smallest };
	const uint32_t *from = NULL;

	do {
		g.pieces = (uint32_t)hu_sum_blocks(g.middle);
		g.by_pieces = hu_divisor_of(g.pieces);
		size_t n = d->outer * g.pieces * d->inner;
		uint32_t *to = (uint32_t *)hu_work_take(w, n * sizeof *to);
		int warps = d->inner == 1;
		HU_TRY(HU_GO(w, winner_kernel, hu_blocks_for(n, warps ? HU_SUM_WARPS : 256, 65535), 32 * HU_SUM_WARPS,
			0, g, hu_operand_of(x, HU_AT_EACH), from, to, (uint32_t)n, warps));
		from = *at = to;
		g.middle = g.pieces;
	} while (g.middle > 1);
	return HU_OK;
}

HU_KERNEL
top_kernel(HU_PARAM winning g, HU_PARAM hu_store_operand x, const uint32_t *at, uint32_t n, hu_format compute,
	HU_PARAM hu_store_result top)
{
	HU_ONCE
	for (uint32_t t = blockIdx.x * blockDim.x + threadIdx.x; t < n; t += gridDim.x * blockDim.x) {
		uint32_t outer = hu_quotient(t, g.by_inner), inner = t - outer * g.inner;
		hu_store_f64(&top, t, hu_rne(compute, hu_load_f64(&x, (outer * g.middle + at[t]) * g.inner + inner)));
	}
}

extern "C" hu_status
HU_SIDE(tops)(hu_work *w, const hu_slot *x, const hu_reduce_dims *d, hu_slot *top)
{
	size_t n = hu_group_count(d);
	winning g = { (uint32_t)d->middle, (uint32_t)d->inner, 1, (uint32_t)d->middle,
		hu_divisor_of((uint32_t)d->inner), hu_divisor_of(1), 0 };
	uint32_t *at;

	HU_TRY(HU_SIDE(winners)(w, x, d, 0, &at));
	*top = hu_stat_slot(w, n);
	return HU_GO(w, top_kernel, hu_blocks_for(n, 256, 65535), 256, 0, g, hu_operand_of(x, HU_AT_EACH),
		(const uint32_t *)at, (uint32_t)n, hu_format_of(w->call->fmt.compute), hu_result_of(top, 0));
}
