/* SPDX-License-Identifier: Apache-2.0
   Makes, frees, hashes and measures summation trees. */
#include "lib/sum/order/order.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"

#include <stdlib.h>

hu_order *
hu_order_leaf(size_t leaf)
{
	hu_order *o = hu_xcalloc(1, sizeof *o);

	o->leaf = leaf;
	o->leaves = 1;
	return o;
}

/* Returns the smallest term below o; children are sorted by theirs. */
static size_t
first(const hu_order *o)
{
	while (o->n)
		o = o->child[0];
	return o->leaf;
}

void
hu_order_add(hu_order *o, hu_order *c)
{
	int at = o->n;

	HU_GROW(o->child, o->n, o->cap);
	for (; at && first(o->child[at - 1]) > first(c); at--)
		o->child[at] = o->child[at - 1];
	o->child[at] = c;
	o->n++;
	o->leaves += c->leaves;
}

hu_order *
hu_order_node(hu_order *a, hu_order *b)
{
	hu_order *o;

	if (!a || !b)
		return a ? a : b;
	o = hu_xcalloc(1, sizeof *o);
	hu_order_add(o, a);
	hu_order_add(o, b);
	return o;
}

void
hu_order_free(hu_order *o)
{
	if (!o)
		return;
	for (int i = 0; i < o->n; i++)
		hu_order_free(o->child[i]);
	free(o->child);
	free(o);
}

uint64_t
hu_order_hash(const hu_order *o)
{
	uint64_t sum = 0;

	if (!o->n)
		return hu_mix64(o->leaf + 1);
	for (int i = 0; i < o->n; i++) /* hashes of siblings are added, since siblings have no order */
		sum += hu_order_hash(o->child[i]);
	return hu_mix64(sum ^ (uint64_t)o->n * 0x9e3779b97f4a7c15u);
}

/* Returns how many of the terms i and j are below o; sets *met at the lowest node that has both. */
static int
count_pair(const hu_order *o, size_t i, size_t j, size_t *met)
{
	int have = 0;

	if (!o->n)
		return (o->leaf == i) + (o->leaf == j);
	for (int k = 0; k < o->n && have < 2; k++)
		have += count_pair(o->child[k], i, j, met);
	if (have == 2 && !*met)
		*met = o->leaves;
	return have;
}

size_t
hu_order_meet(const hu_order *o, size_t i, size_t j)
{
	size_t met = 0;

	count_pair(o, i, j, &met);
	return met;
}
