/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/tree/reveal.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"

#include <math.h>
#include <stdlib.h>

hu_status
hu_reveal_masks(hu_format term, int products, hu_format acc, size_t n, double *big, double *unit)
{
	/* Bits below big that a wider second accumulator or a tensor core's alignment keeps: 25, and two to spare. */
	enum { ALIGNED = 27 };
	int factors = products ? 2 : 1, log = 0, least = factors * (term.emin - term.p + 1), top, low, enough,
	    bottom = acc.emin - acc.p + 1;

	while (((size_t)1 << log) < n)
		log++;
	top = factors * term.emax < acc.emax ? factors * term.emax : acc.emax;
	if (top > 1000)
		top = 1000;
	bottom = least > bottom ? least : bottom;
	enough = top - acc.p - 2 - log; /* n units stay below a quarter of big's ulp, so that even below a power of two,
					   where the ulp is half as large, there is no tie */
	low = enough < top - ALIGNED - log ? enough : top - ALIGNED - log;
	if (low < bottom) /* as far below as the range allows */
		low = bottom;
	if (n > (size_t)1 << (acc.p < 40 ? acc.p : 40) || low > enough || top < 1)
		return hu_fail(HU_EUNABLE, "masks cannot tell %zu terms apart: %s of %s in %s leave room for %.0f", n,
			products ? "products" : "values", hu_format_name(term.id), hu_format_name(acc.id),
			enough + log < bottom ? 0 : fmin(hu_pow2(acc.p), hu_pow2(enough + log - bottom)));
	*big = hu_pow2(top);
	*unit = hu_pow2(low);
	return HU_OK;
}

typedef struct box {
	hu_reveal_sum *sum;
	void *to;
	size_t n, sums;
	double big, unit, *terms;
	int broken; /* 1 where the box returned something that is no count */
} box;

/* Returns the leaves under the node where terms i and j meet, as the box reports them. */
static size_t
meet(box *b, size_t i, size_t j)
{
	double r;

	b->terms[i] = b->big;
	b->terms[j] = -b->big;
	r = b->sum(b->to, b->terms, b->n) / b->unit;
	b->terms[i] = b->terms[j] = b->unit;
	b->sums++;
	if (!(r >= 0 && r <= (double)b->n - 2) || r != floor(r)) {
		b->broken = 1;
		return b->n;
	}
	return b->n - (size_t)r;
}

typedef struct met {
	size_t term, leaves;
} met;

static int
by_leaves(const void *a, const void *b)
{
	const met *x = a, *y = b;

	return x->leaves != y->leaves ? x->leaves < y->leaves ? -1 : 1 : x->term < y->term ? -1 : x->term > y->term;
}

/* Returns the tree of the terms of m[0..n-1], ascending; *top receives the leaves that the box has below its root. On
   the way from the first term to the root, the terms with the same count are the other leaves of one node. */
static hu_order *
build(box *b, met *m, size_t n, size_t *top)
{
	hu_order *o = hu_order_leaf(m[0].term);

	*top = 1;
	for (size_t k = 1; k < n; k++)
		m[k].leaves = meet(b, m[0].term, m[k].term);
	qsort(m + 1, n - 1, sizeof *m, by_leaves);
	for (size_t k = 1, end; k < n && !b->broken; k = end) {
		size_t here = m[k].leaves, below;
		for (end = k; end < n && m[end].leaves == here; end++)
			;
		hu_order *other = build(b, m + k, end - k, &below);
		if (below == here) { /* they meet at the node where they meet the first term: it has several children */
			hu_order *node = hu_order_node(o, other->child[0]);
			for (int i = 1; i < other->n; i++)
				hu_order_add(node, other->child[i]);
			free(other->child);
			free(other);
			o = node;
		} else {
			o = hu_order_node(o, other);
		}
		*top = here;
	}
	return o;
}

/* Compares the tree with the box for random pairs, so that a box that is no tree is found out. */
static void
verify(box *b, const hu_order *o)
{
	enum { PAIRS = 24 };

	for (unsigned k = 0; k < PAIRS && b->n > 1 && !b->broken; k++) {
		hu_random r = hu_random_at(20, hu_fnv1a32("reveal"), 0, k);
		size_t i = r.w[0] % b->n, j = r.w[1] % (b->n - 1);
		j += j >= i;
		if (meet(b, i, j) != hu_order_meet(o, i, j))
			b->broken = 1;
	}
}

hu_status
hu_reveal(hu_order **out, hu_reveal_sum *sum, void *to, size_t n, double big, double unit, size_t *sums)
{
	box b = { sum, to, n, 0, big, unit, hu_xmalloc(n * sizeof(double)), 0 };
	met *m = hu_xcalloc(n, sizeof *m);
	size_t top;

	for (size_t i = 0; i < n; i++) {
		b.terms[i] = unit;
		m[i].term = i;
	}
	*out = build(&b, m, n, &top);
	if (!b.broken && top != n && n > 1)
		b.broken = 1;
	if (!b.broken)
		verify(&b, *out);
	if (sums)
		*sums = b.sums;
	free(m);
	free(b.terms);
	if (!b.broken)
		return HU_OK;
	hu_order_free(*out);
	*out = NULL;
	return hu_fail(HU_EUNABLE, "no tree: terms reach the result that were added before the masks cancelled");
}
