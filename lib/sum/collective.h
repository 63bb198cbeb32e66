/* SPDX-License-Identifier: Apache-2.0
   The sum of one gradient's element over ranks, as an all-reduce forms it: ring, recursive doubling, recursive halving,
   and rings within nodes below a tree of nodes. The arithmetic is that of one element, not the traffic. Host and
   device.

   The n terms are distributed over R = min(N, n) ranks: rank r has the terms from floor(r n / R) to before
   floor((r+1) n / R), which it adds by fma in the accumulator's format. It rounds its sum to the wire's format (the
   model's `outer`; the accumulator's where none is named). Two such values are added in the accumulator's format and
   rounded to the wire's, at every hop. Results travel back as they are, so that all ranks hold the same bits.

   Orders: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, Int. J. High
   Perform. Comput. Appl. 19(1), 2005, also for numbers of ranks that are no powers of two: with 2^m the largest power
   of two below R and e = R - 2^m, ranks 2i and 2i+1 are added first for i < e. */
#ifndef HU_SUM_COLLECTIVE_H
#define HU_SUM_COLLECTIVE_H

#include "lib/sum/slices.h"
#include "lib/sum/sum.h"

/* What ranks do again and again stands in each model's file once, since models flatten what they call. */
#ifdef __cplusplus
#define HU_RANKS_CALL HU_HD
#else
#define HU_RANKS_CALL static __attribute__((unused, noinline, flatten))
#endif

/* How many ranks one call of the operator all_reduce adds: as many as a training has micro-batches; a kernel's
   parameters hold that many addresses. */
enum { HU_OVER_RANKS = 256 };

/* What a rank's part of the sum needs. */
typedef struct hu_ranks {
	const double *a, *b;
	size_t n, ranks;
	hu_format f, wire;
	hu_mode mode;
	const hu_draw *draw;
	hu_sum_count *count;
	uint64_t hops; /* hops so far: hop number h draws at index h */
} hu_ranks;

/* Returns the first term of rank r; r = ranks gives n. */
HU_HD size_t
hu_ranks_first(const hu_ranks *c, size_t r)
{
	return (size_t)((uint64_t)r * c->n / c->ranks); /* both are below 2^32 wherever sums have fewer terms */
}

/* Returns what rank r sends, before it has received anything. */
HU_RANKS_CALL double
hu_ranks_part(const hu_ranks *c, size_t r)
{
	size_t first = hu_ranks_first(c, r);
	hu_sum_count inner = { 0, 0, 0, 0, 0 };
	double x = hu_model_slice(c->a + first, c->b + first, hu_ranks_first(c, r + 1) - first, c->f, c->mode, c->draw,
		first, c->count ? &inner : 0);

	hu_count_slice(c->count, &inner);
	return c->wire.id == c->f.id ? x : hu_acc_round(x, c->wire, c->mode, c->draw, first, HU_DRAW_EXTRA);
}

/* Returns x + y as the next rank sends it on. */
HU_RANKS_CALL double
hu_ranks_hop(hu_ranks *c, double x, double y)
{
	uint64_t h = c->hops++;
	double s = hu_acc_add(x, y, c->f, c->mode, c->draw, h, HU_DRAW_OUTER);

	return c->wire.id == c->f.id ? s : hu_acc_round(s, c->wire, c->mode, c->draw, h, HU_DRAW_EXTRA + 1);
}

/* Adds the ranks from `first` to before `end` in ascending order: each adds its own sum to what it receives. */
HU_HD_CALL double
hu_ranks_ring(hu_ranks *c, size_t first, size_t end)
{
	double acc = hu_ranks_part(c, first);

	if (acc != 0)
		hu_count_term(c->count, 0, hu_isfinite(acc), 0, hu_ranks_first(c, first));
	for (size_t r = first + 1; r < end; r++) {
		double own = hu_ranks_part(c, r), s = hu_ranks_hop(c, acc, own);
		if (own != 0)
			hu_count_term(c->count, acc, hu_isfinite(acc) && hu_isfinite(own), acc != 0 && s == acc,
				hu_ranks_first(c, r));
		acc = s;
	}
	return acc;
}

/* Returns i with its lowest `bits` bits in reverse order. */
HU_HD size_t
hu_ranks_reverse(size_t i, int bits)
{
	size_t r = 0;

	for (int k = 0; k < bits; k++)
		r |= (i >> k & 1) << (bits - 1 - k);
	return r;
}

HU_HD double
hu_ranks_join(hu_ranks *c, double x, double y, uint64_t k)
{
	double s = hu_ranks_hop(c, x, y);

	hu_count_node(c->count, x, y, s, k);
	return s;
}

/* Returns the sum of member i of a tree: a node of `node` ranks, whose last one may be smaller. */
HU_HD double
hu_ranks_member(hu_ranks *c, size_t i, size_t node)
{
	size_t first = i * node, end = c->ranks - first < node ? c->ranks : first + node;

	return node == 1 ? hu_ranks_part(c, first) : hu_ranks_ring(c, first, end);
}

/* Adds nodes of `node` ranks by a tree. halving 0: neighbours first (recursive doubling); 1: those half of all apart
   first (recursive halving), so that leaves come in bit-reversed order. Finished subtrees are kept like the digits of
   a binary counter. */
HU_HD_CALL double
hu_ranks_tree(hu_ranks *c, size_t node, int halving)
{
	size_t members = (c->ranks + node - 1) / node, two = 1, extra;
	double level[64];
	int bits = 0, top = 0;

	for (; 2 * two <= members; two *= 2)
		bits++;
	extra = members - two;
	for (size_t i = 0; i < two; i++) {
		size_t at = halving ? hu_ranks_reverse(i, bits) : i, first = at < extra ? 2 * at : at + extra;
		double x = hu_ranks_member(c, first, node);
		if (at < extra)
			x = hu_ranks_join(
				c, x, hu_ranks_member(c, first + 1, node), hu_ranks_first(c, (first + 1) * node));
		for (size_t done = i; done & 1; done >>= 1)
			x = hu_ranks_join(c, level[--top], x, hu_ranks_first(c, first * node));
		level[top++] = x;
	}
	return level[0];
}

/* Returns how n products are distributed over the ranks of the all-reduce s. */
HU_HD hu_ranks
hu_ranks_of(
	const double *a, const double *b, size_t n, hu_sum s, hu_format wire, const hu_draw *draw, hu_sum_count *count)
{
	hu_ranks c = { a, b, n, n < (size_t)s.n ? n : (size_t)s.n, hu_format_of(s.acc), wire, s.mode, draw, count, 0 };

	return c;
}

/* Adds n products over ranks by the all-reduce s, nodes of `node` ranks by a tree (hu_ranks_tree). */
HU_HD_CALL double
hu_model_ranks(const double *a, const double *b, size_t n, hu_sum s, size_t node, int halving, hu_format wire,
	const hu_draw *draw, hu_sum_count *count)
{
	hu_ranks c = hu_ranks_of(a, b, n, s, wire, draw, count);

	return n ? hu_ranks_tree(&c, node, halving) : 0;
}
#endif
