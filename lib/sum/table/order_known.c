/* SPDX-License-Identifier: Apache-2.0
   Builds the documented trees of the models and of other known sums. */
#include "lib/sum/order/order.h"

#include "lib/base/mem.h"
#include "lib/sum/model/row.h"
#include "lib/sum/slices.h"
#include "lib/sum/tree.h"

#include <stdlib.h>

/* Returns a chain of the terms from `first` on, step apart, below `end`. */
static hu_order *
chain(size_t first, size_t end, size_t step)
{
	hu_order *o = NULL;

	for (size_t k = first; k < end; k += step)
		o = hu_order_node(o, hu_order_leaf(k));
	return o;
}

hu_order *
hu_order_ascending(size_t n)
{
	return chain(0, n, 1);
}

hu_order *
hu_order_slices(size_t n, size_t length, int evened)
{
	hu_order *o = NULL;

	for (size_t k = 0, m; k < n; k += m) {
		m = hu_slice_terms(n - k, length, evened);
		o = hu_order_node(o, chain(k, k + m, 1));
	}
	return o;
}

static hu_order *
halves(size_t first, size_t n)
{
	size_t half = 1;

	if (n == 1)
		return hu_order_leaf(first);
	while (2 * half < n)
		half *= 2;
	return hu_order_node(halves(first, half), halves(first + half, n - half));
}

hu_order *
hu_order_pairwise(size_t n)
{
	return halves(0, n);
}

/* Distributes x's n trees over lanes: lane j adds j, j + lanes, …; lanes without a tree vanish. */
static hu_order *
fold(hu_order **x, size_t n, size_t lanes)
{
	hu_order **lane = hu_xcalloc(lanes, sizeof(hu_order *)), *o;

	for (size_t i = 0; i < n; i++)
		lane[i % lanes] = hu_order_node(lane[i % lanes], x[i]);
	for (size_t step = lanes / 2; step; step /= 2)
		for (size_t j = 0; j < step; j++)
			lane[j] = hu_order_node(lane[j], lane[j + step]);
	o = lane[0];
	free(lane);
	return o;
}

static hu_order *
joined(hu_order **x, size_t n, size_t lanes, size_t block)
{
	for (; block && n > block; n = (n + block - 1) / block)
		for (size_t b = 0; b * block < n; b++)
			x[b] = fold(x + b * block, n - b * block < block ? n - b * block : block, lanes);
	return fold(x, n, lanes);
}

hu_order *
hu_order_lanes(size_t n, size_t lanes, size_t block)
{
	hu_order **x = hu_xcalloc(n, sizeof(hu_order *)), *o;

	for (size_t i = 0; i < n; i++)
		x[i] = hu_order_leaf(i);
	o = joined(x, n, lanes, block);
	free(x);
	return o;
}

/* Returns a fused node of the sum so far and the terms that `takes` selects by k. */
static hu_order *
fuse(hu_order *before, size_t first, size_t end, int half)
{
	hu_order *o = NULL, *node = NULL;

	for (size_t k = first; k < end; k++) {
		if (half >= 0 && (k - first) % 4 / 2 != (size_t)half)
			continue;
		hu_order *leaf = hu_order_leaf(k);
		if (node)
			hu_order_add(node, leaf);
		else if (before || o)
			node = hu_order_node(before ? before : o, leaf);
		else
			o = leaf;
	}
	return node ? node : o ? o : before;
}

hu_order *
hu_order_blocks(size_t n, size_t width)
{
	hu_order *o = NULL;

	for (size_t k = 0; k < n; k += width)
		o = fuse(o, k, n - k < width ? n : k + width, -1);
	return o;
}

hu_order *
hu_order_half_blocks(size_t n, size_t width)
{
	hu_order *o = NULL;

	for (size_t k = 0; k < n; k += 2 * width) {
		size_t end = n - k < 2 * width ? n : k + 2 * width;
		o = hu_order_node(o, fuse(fuse(NULL, k, end, 0), k, end, 1));
	}
	return o;
}

/* Adds x's n trees as recursive doubling does, or as recursive halving does. */
static hu_order *
exchanged(hu_order **x, size_t n, int halving)
{
	size_t two = 1, extra;

	for (; 2 * two <= n; two *= 2)
		;
	extra = n - two;
	for (size_t i = 0; i < two; i++)
		x[i] = i < extra ? hu_order_node(x[2 * i], x[2 * i + 1]) : x[i + extra];
	for (size_t left = two; left > 1; left /= 2)
		for (size_t i = 0; i < left / 2; i++)
			x[i] = halving ? hu_order_node(x[i], x[i + left / 2]) : hu_order_node(x[2 * i], x[2 * i + 1]);
	return x[0];
}

hu_order *
hu_order_ranks(hu_sum s, size_t n)
{
	size_t ranks = n < (size_t)s.n ? n : (size_t)s.n, members = 0;
	hu_sum_ranks how = hu_sum_model_of(s.id)->ranks(s, ranks);
	hu_order **x = hu_xcalloc(ranks, sizeof(hu_order *)), *o;

	for (size_t r = 0; r < ranks; r++) {
		o = chain(r * n / ranks, (r + 1) * n / ranks, 1);
		if (r % how.node)
			x[members - 1] = hu_order_node(x[members - 1], o);
		else
			x[members++] = o;
	}
	o = exchanged(x, members, how.halving);
	free(x);
	return o;
}

hu_order *
hu_order_chain(hu_sum s, size_t n)
{
	(void)s;
	return hu_order_ascending(n);
}

hu_order *
hu_order_sliced(hu_sum s, size_t n)
{
	hu_sum_slices by = hu_sum_model_of(s.id)->lengths(s, n);

	return hu_order_slices(n, by.length, by.evened);
}

static hu_order *
one_part(hu_sum s, size_t n)
{
	const hu_sum_model *m = hu_sum_model_of(s.id);

	return m->order ? m->order(s, n) : NULL;
}

hu_order *
hu_order_moved(hu_order *o, size_t by)
{
	o->leaf += by;
	for (int i = 0; i < o->n; i++)
		hu_order_moved(o->child[i], by);
	return o;
}

hu_order *
hu_order_of_model(hu_sum s, size_t n, size_t part)
{
	hu_order **x, *o;
	size_t parts = 0;

	if (!part || part >= n)
		return one_part(s, n);
	x = hu_xcalloc((n + part - 1) / part, sizeof(hu_order *));
	for (size_t k = 0; k < n; k += part) {
		o = one_part(s, n - k < part ? n - k : part);
		if (!o)
			break;
		x[parts++] = hu_order_moved(o, k);
	}
	o = parts ? joined(x, parts, 32, HU_TREE_BLOCK) : NULL;
	free(x);
	return o;
}
