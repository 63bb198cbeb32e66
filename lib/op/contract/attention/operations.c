/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/contract/attention/flash.h"

#include "lib/op/attr.h"

/* The sizes of a call, and pairs of a query and a key in blocks that are not left out: of one query matrix, in blocks
   of keys (of which there are `blocks`) and in blocks of queries. */
typedef struct sizes {
	double E, V, L, S, matrices, keys, mask, pairs, blocks, pairs_of_keys;
} sizes;

static sizes
sizes_of(const hu_call *c, const hu_shape *in, int mask)
{
	size_t L = in[0].d[in[0].rank - 2], S = in[1].d[in[1].rank - 2], block = hu_flash_block(c);
	sizes z = { .E = (double)hu_last(in[0]),
		.V = (double)hu_last(in[2]),
		.L = (double)L,
		.S = (double)S,
		.matrices = (double)(hu_count(in[0]) / (L * hu_last(in[0]))),
		.keys = (double)(hu_count(in[1]) / (S * hu_last(in[1]))),
		.mask = c->nin > mask ? 2 : 0 };
	int causal = hu_attr_num(c, "causal", 0) != 0;

	for (size_t i = 0; i < L; i++) {
		size_t all = (S - 1) / block + 1, seen = causal && i / block + 1 < all ? i / block + 1 : all;
		z.blocks += (double)seen;
		z.pairs += (double)(seen < all ? seen * block : S);
	}
	for (size_t j = 0; j < S; j++) {
		size_t first = causal ? j / block * block : 0;
		z.pairs_of_keys += first < L ? (double)(L - first) : 0;
	}
	return z;
}

double
hu_flash_forward_operations(const hu_call *c, const hu_shape *in)
{
	sizes z = sizes_of(c, in, 3);

	return z.matrices * (z.pairs * (2 * z.E + 4 + z.mask + 2 * z.V) + z.blocks * (4 + z.V) + z.L * (z.V + 3));
}

double
hu_flash_backward_operations(const hu_call *c, const hu_shape *in)
{
	sizes z = sizes_of(c, in, 6);
	double pair = 2 * z.E + 2 * z.V + 5 + z.mask;

	return z.matrices * (z.L * (2 * z.V + 1 + z.E) + z.pairs * (pair + 2 * z.E) +
				    z.pairs_of_keys * (pair + 2 * z.E + 2 * z.V)) +
	       z.keys * z.S * z.E;
}
