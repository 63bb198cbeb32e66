/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/hops.h"

#include "lib/sum/collective.h"
#include "lib/sum/model/row.h"

typedef struct hops {
	int *list;
	size_t n;
} hops;

/* A node's ranks, each of which adds its own part to what it receives. */
static void
ring(hops *h, size_t first, size_t end)
{
	for (size_t r = first; r < end; r++) {
		h->list[h->n++] = (int)r;
		if (r > first)
			h->list[h->n++] = HU_HOP;
	}
}

static void
member(hops *h, size_t i, size_t node, size_t ranks)
{
	size_t first = i * node;

	ring(h, first, ranks - first < node ? ranks : first + node);
}

/* hu_ranks_tree without its numbers. */
static void
tree(hops *h, size_t ranks, size_t node, int halving)
{
	size_t members = (ranks + node - 1) / node, two = 1, extra;
	int bits = 0;

	for (; 2 * two <= members; two *= 2)
		bits++;
	extra = members - two;
	for (size_t i = 0; i < two; i++) {
		size_t at = halving ? hu_ranks_reverse(i, bits) : i, first = at < extra ? 2 * at : at + extra;
		member(h, first, node, ranks);
		if (at < extra) {
			member(h, first + 1, node, ranks);
			h->list[h->n++] = HU_HOP;
		}
		for (size_t done = i; done & 1; done >>= 1)
			h->list[h->n++] = HU_HOP;
	}
}

void
hu_hops_list(int *list, hu_sum s)
{
	hops h = { list, 0 };
	size_t n = (size_t)s.n;
	hu_sum_ranks how = hu_sum_model_of(s.id)->ranks(s, n);

	tree(&h, n, how.node, how.halving);
	HU_ASSERT(h.n == 2 * n - 1);
}

/* A finished subtree of each size 1, 2, 4, …, one member that waits for its neighbour, and one rank more. */
int
hu_hops_depth(int n)
{
	int depth = 3;

	for (; n > 1; n /= 2)
		depth++;
	return depth;
}
