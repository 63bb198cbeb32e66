/* SPDX-License-Identifier: Apache-2.0
   gather_dx dy, i, x: each row of dx is the sum of the rows of dy for which i names it, in the order of i. The
   positions in i are sorted by what they name, so that a row finds its own without a search. */
#include "cuda/move/move_sum.cuh"
#include "cuda/move/place.cuh"
#include "cuda/move/sort.cuh"

namespace {
struct named : hu_places {
	const uint32_t *first, *position;

	HU_DEVICE_MEMBER hu_hop
	at(uint32_t i) const
	{
		uint32_t line = hu_quotient(i, by_inner), rest = i - line * inner, row = hu_quotient(line, by_length),
			 key = line - row * length;
		hu_hop h = { row * outer * inner + rest, 1, 0, 0xffffffffu, first[key + 1] - first[key], first[key] };

		return h;
	}
	HU_DEVICE_MEMBER uint32_t
	term(const hu_hop *h, uint32_t k) const
	{
		return h->at + position[h->key + k] * inner;
	}
};
}

HU_KERNEL
named_keys_kernel(HU_PARAM hu_places p, hu_sorted to)
{
	HU_ONCE
	for (uint32_t o = blockIdx.x * blockDim.x + threadIdx.x; o < p.outer; o += gridDim.x * blockDim.x) {
		to.key[o] = p.place(o);
		to.position[o] = o;
	}
}

extern "C" hu_status
HU_SIDE(op_gather_dx)(hu_work *w)
{
	hu_sorted s = hu_sorted_take(w, w->in[1]->n);
	uint32_t *first;
	hu_places p;
	named m;

	HU_TRY(hu_places_of(&p, w, w->in[2], w->in[1]));
	HU_TRY(HU_GO(w, named_keys_kernel, hu_blocks_for(p.outer, 256, 65535), 256, 0, p, s));
	HU_TRY(hu_sort(w, &s, p.outer, p.length, &first));
	(hu_places &)m = p;
	m.first = first;
	m.position = s.position;
	return hu_move_sum(w, &m, p.inner, hu_places_neighbours(&p));
}
