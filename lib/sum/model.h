/* SPDX-License-Identifier: Apache-2.0
   The plain version of every summation model: one output's products in ascending k, with each operation of the
   accumulator rounded once to the accumulator's format. Host and device. Products are exact in double where operands
   have p <= 24, as all formats of tensors but fp64 have. Products of fp64 operands are rounded to double first,
   unless the accumulator is fp64 and fuses. */
#ifndef HU_SUM_MODEL_H
#define HU_SUM_MODEL_H

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/sum/sum.h"
#include "lib/sum/tc_scaled.h"

#include <math.h>

/* Where SR's random bits of one output's sum come from: term k draws at index first + k, and once more for each
   further rounding of the term. bits says how many bits of each draw SR uses (0: all 32); it is the model's (hu_sum)
   where a whole sum is computed. */
typedef struct hu_draw { uint64_t seed; uint32_t stream, step; uint64_t first; int bits; } hu_draw;

enum { HU_DRAW_SUM, HU_DRAW_PRODUCT, HU_DRAW_OUTER, HU_DRAW_KAHAN, HU_DRAW_EXTRA = 8 };

/* An output counts as stagnated where its sum ends in a run of at least this many swamped terms, which no longer
   move it. In chunked models the outer accumulator counts; pairwise sums have none and never stagnate. */
enum { HU_STAGNANT_RUN = 8 };

/* Counts of one sum, as doc/formats.md defines them; functions take NULL where nobody asks. Zero terms and
   non-finite operands are not counted. run is the number of swamped terms since the sum last moved. first is the
   first swamped term and last the last term that moved the sum (in chunked models the first term of the last chunk
   that moved the outer accumulator); both count from 1 within the part, and 0 means that there is none. */
typedef struct hu_sum_count { uint64_t additions, swamped, run, first, last; } hu_sum_count;

/* x + y rounded to odd: its error is folded into the last bit, so that a second rounding to p <= 51 bits gives what
   a single one would (Boldo and Melquiond 2008). Infinities and NaN pass through. */
HU_HD double
hu_add_odd(double x, double y)
{
	double s = x + y, t = s - x, e = (x - (s - t)) + (y - t);
	uint64_t u = hu_bits64(s);

	if (e == 0 || !hu_isfinite(s) || (u & 1))
		return s;
	/* s is even, so its neighbour in the direction of the error is odd */
	return hu_from_bits64((e > 0) == (s > 0) ? u | 1 : u - 1);
}

/* The random stream of a call's sums, distinct from that of its output's rounding. */
HU_HD uint32_t
hu_draw_stream(const char *seed_name)
{
	return hu_fnv1a32(seed_name) ^ 0x5355u;
}

/* Draw number `word` (below 16) of term k: hu_random_word with `word` in the counter's top four bits. */
HU_HD uint32_t
hu_draw_bits(const hu_draw *d, uint64_t k, int word)
{
	return hu_random_at(d->seed, d->stream, d->step, (d->first + k) >> 2 | (uint64_t)word << 60)
		.w[(d->first + k) & 3];
}

/* Rounds x, which is exact or rounded to odd, to f. */
HU_HD_CALL double
hu_acc_round(double x, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, int word)
{
	return hu_mode_draws(mode) ? hu_round(x, f, mode, HU_RANDOM_BITS(draw->bits), hu_draw_bits(draw, k, word))
				   : hu_round(x, f, mode, 0, 0);
}

/* x + y rounded once to f. Modes other than RNE need f.p < 53. */
HU_HD double
hu_acc_add(double x, double y, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, int word)
{
	return f.p == 53 ? x + y : hu_acc_round(hu_add_odd(x, y), f, mode, draw, k, word);
}

/* Counts nonzero term k, which met the accumulator acc. finite: both were finite; lost: the accumulator did not
   move. */
HU_HD void
hu_count_term(hu_sum_count *count, double acc, int finite, int lost, uint64_t k)
{
	if (!count)
		return;
	if (!finite) {
		count->run = 0;
		return;
	}
	count->additions += acc != 0;
	count->swamped += (uint64_t)lost;
	count->run = lost ? count->run + 1 : 0;
	if (lost && (!count->first || k + 1 < count->first))
		count->first = k + 1;
	if (!lost)
		count->last = k + 1;
}

/* Adds the counts of a slice. Whether the sum still moves is counted at the outer accumulator. */
HU_HD void
hu_count_slice(hu_sum_count *count, const hu_sum_count *inner)
{
	if (!count)
		return;
	count->additions += inner->additions;
	count->swamped += inner->swamped;
	if (inner->first && (!count->first || inner->first < count->first))
		count->first = inner->first;
}

/* acc + y rounded to f, counted as term k. */
HU_HD double
hu_acc_term(
	double acc, double y, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, int word, hu_sum_count *count)
{
	double s = hu_acc_add(acc, y, f, mode, draw, k, word);

	if (y != 0)
		hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(y), acc != 0 && s == acc, k);
	return s;
}

/* acc + a b rounded once to f, counted as term k. */
HU_HD double
hu_model_fma(
	double acc, double a, double b, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, hu_sum_count *count)
{
	double s;

	if (f.p != 53)
		return hu_acc_term(acc, a * b, f, mode, draw, k, HU_DRAW_SUM, count);
	s = fma(a, b, acc);
	if (a != 0 && b != 0)
		hu_count_term(
			count, acc, hu_isfinite(acc) && hu_isfinite(a) && hu_isfinite(b), acc != 0 && s == acc, k);
	return s;
}

/* a b rounded to f. */
HU_HD double
hu_model_product(double a, double b, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k)
{
	return f.p == 53 ? a * b : hu_acc_round(a * b, f, mode, draw, k, HU_DRAW_PRODUCT);
}

/* Counts s = x + y for two subtrees. It is swamped where either operand vanished. */
HU_HD void
hu_count_node(hu_sum_count *count, double x, double y, double s, uint64_t k)
{
	if (!count || x == 0 || y == 0 || !hu_isfinite(x) || !hu_isfinite(y))
		return;
	count->additions++;
	count->swamped += s == x || s == y;
	if ((s == x || s == y) && (!count->first || k + 1 < count->first))
		count->first = k + 1;
}

/* x + y for two subtrees, of which the second begins at term k, so that every addition has its own index. */
HU_HD double
hu_model_node(double x, double y, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, hu_sum_count *count)
{
	double s = hu_acc_add(x, y, f, mode, draw, k, HU_DRAW_SUM);

	hu_count_node(count, x, y, s, k);
	return s;
}

/* Rounds n products and sums them by halves. The first half is the largest power of two below n. */
HU_HD double
hu_model_pairwise(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double level[64], x;
	size_t size[64], at;
	int top = 0;

	/* Finished subtrees are kept like the digits of a binary counter, which needs no recursion on a device. */
	for (size_t k = 0; k < n; k++) {
		x = hu_model_product(a[k], b[k], f, mode, draw, k);
		for (at = 1; top && size[top - 1] == at; at *= 2)
			x = hu_model_node(level[--top], x, f, mode, draw, k + 1 - at, count);
		level[top] = x;
		size[top++] = at;
	}
	if (!top)
		return 0;
	x = level[--top];
	for (at = n - size[top]; top; at -= size[top]) {
		top--;
		x = hu_model_node(level[top], x, f, mode, draw, at, count);
	}
	return x;
}

/* Kahan 1965. acc and extra are judged as one value: a term is lost where neither moves. */
HU_HD double
hu_model_kahan(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k);
		double y = hu_acc_add(x, -extra, f, mode, draw, k, HU_DRAW_SUM),
		       t = hu_acc_add(acc, y, f, mode, draw, k, HU_DRAW_KAHAN);
		double d = hu_acc_add(t, -acc, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       e = hu_acc_add(d, -y, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(
				count, acc, hu_isfinite(acc) && hu_isfinite(x), acc != 0 && t == acc && e == extra, k);
		acc = t;
		extra = e;
	}
	return acc;
}

/* Adds n terms by fma, from +0. The first of them is term k of the sum. */
HU_HD double
hu_model_slice(const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k,
	hu_sum_count *count)
{
	double acc = 0;

	for (size_t i = 0; i < n; i++)
		acc = hu_model_fma(acc, a[i], b[i], f, mode, draw, k + i, count);
	return acc;
}

/* Returns how many of the `left` last terms the next slice has, where slices have `length` terms. With evened = 1 what
   is longer than one slice and shorter than two is cut into halves, of which the first may be longer by one. */
HU_HD size_t
hu_slice_terms(size_t left, size_t length, int evened)
{
	if (left <= length)
		return left;
	return evened && left < 2 * length ? (left + 1) / 2 : length;
}

/* fma in f within slices (hu_slice_terms); the slice sums are added in the format outer, in ascending order. */
HU_HD double
hu_model_slices(const double *a, const double *b, size_t n, size_t length, int evened, hu_format f, hu_format outer,
	hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0;

	for (size_t k = 0, m; k < n; k += m) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		m = hu_slice_terms(n - k, length, evened);
		double slice = hu_model_slice(a + k, b + k, m, f, mode, draw, k, count ? &inner : 0);
		acc = hu_acc_term(acc, slice, outer, mode, draw, k, HU_DRAW_OUTER, count);
		hu_count_slice(count, &inner);
	}
	return acc;
}

/* fma within blocks of `length` terms; the block sums are added by Kahan's method and counted as in hu_model_kahan. */
HU_HD double
hu_model_fabsum(const double *a, const double *b, size_t n, size_t length, hu_format f, hu_mode mode,
	const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k += length) {
		hu_sum_count inner = { 0, 0, 0, 0, 0 };
		double x = hu_model_slice(
			a + k, b + k, n - k < length ? n - k : length, f, mode, draw, k, count ? &inner : 0);
		double y = hu_acc_add(x, -extra, f, mode, draw, k, HU_DRAW_OUTER),
		       t = hu_acc_add(acc, y, f, mode, draw, k, HU_DRAW_KAHAN);
		double d = hu_acc_add(t, -acc, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       e = hu_acc_add(d, -y, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(
				count, acc, hu_isfinite(acc) && hu_isfinite(x), acc != 0 && t == acc && e == extra, k);
		hu_count_slice(count, &inner);
		acc = t;
		extra = e;
	}
	return acc;
}

/* Neumaier 1974: the error is computed from the larger addend, which loses no bits. acc and extra are
   judged as one value. */
HU_HD double
hu_model_neumaier(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k),
		       s = hu_acc_add(acc, x, f, mode, draw, k, HU_DRAW_SUM);
		int larger = (acc < 0 ? -acc : acc) >= (x < 0 ? -x : x);
		double d = hu_acc_add(larger ? acc : x, -s, f, mode, draw, k, HU_DRAW_KAHAN),
		       e = hu_acc_add(d, larger ? x : acc, f, mode, draw, k, HU_DRAW_KAHAN + 1);
		double next = hu_acc_add(extra, e, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		if (x != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(x),
				acc != 0 && s == acc && next == extra, k);
		acc = s;
		extra = next;
	}
	return n ? hu_acc_add(acc, extra, f, mode, draw, n - 1, HU_DRAW_OUTER) : 0;
}

/* a b - p rounded to f, where p is the rounded product: one fused operation. */
HU_HD double
hu_model_residue(double a, double b, double p, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k)
{
	return f.p == 53 ? fma(a, b, -p) : hu_acc_add(a * b, -p, f, mode, draw, k, HU_DRAW_EXTRA);
}

/* Dot2 of Ogita, Rump and Oishi 2005: the errors of sums (Knuth's TwoSum) and of products are added beside the sum. */
HU_HD double
hu_model_dot2(
	const double *a, const double *b, size_t n, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double acc = 0, extra = 0;

	for (size_t k = 0; k < n; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k),
		       r = hu_model_residue(a[k], b[k], x, f, mode, draw, k);
		double s = hu_acc_add(acc, x, f, mode, draw, k, HU_DRAW_SUM),
		       z = hu_acc_add(s, -acc, f, mode, draw, k, HU_DRAW_KAHAN);
		double u = hu_acc_add(s, -z, f, mode, draw, k, HU_DRAW_KAHAN + 1),
		       v = hu_acc_add(acc, -u, f, mode, draw, k, HU_DRAW_KAHAN + 2);
		double w = hu_acc_add(x, -z, f, mode, draw, k, HU_DRAW_EXTRA + 1),
		       e = hu_acc_add(v, w, f, mode, draw, k, HU_DRAW_EXTRA + 2);
		double q = hu_acc_add(e, r, f, mode, draw, k, HU_DRAW_EXTRA + 3),
		       next = hu_acc_add(extra, q, f, mode, draw, k, HU_DRAW_EXTRA + 4);
		if (x != 0)
			hu_count_term(count, acc, hu_isfinite(acc) && hu_isfinite(x),
				acc != 0 && s == acc && next == extra, k);
		acc = s;
		extra = next;
	}
	return n ? hu_acc_add(acc, extra, f, mode, draw, n - 1, HU_DRAW_OUTER) : 0;
}

/* Returns a tensor core's sum from c. s is resolved. A nonzero product that is chopped to nothing counts as swamped.
   Block-scaled operands have scales of 1 here; hu_tc_scaled takes others. */
HU_HD_CALL double
hu_model_tc(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)
{
	enum { STEP = 64 }; /* a multiple of every block */
	int32_t am[STEP], ae[STEP], bm[STEP], be[STEP];
	unsigned char lost[STEP];
	hu_tc t = hu_tc_of_sum(s);
	hu_format out = hu_format_of(s.out), fa = hu_tc_inner(t, hu_format_of(s.in)),
		  fb = hu_tc_inner(t, hu_format_of(s.in2));

	for (size_t k = 0; k < n; k += STEP) {
		size_t m = n - k < STEP ? n - k : STEP;
		int finite = hu_isfinite(c);
		for (size_t i = 0; i < m && !s.group; i++) {
			hu_tc_split(a[k + i], fa, &am[i], &ae[i]);
			hu_tc_split(b[k + i], fb, &bm[i], &be[i]);
		}
		c = s.group ? hu_tc_scaled(a + k, 0, b + k, 0, m, c, s, count ? lost : 0)
			    : hu_tc_sum(am, ae, bm, be, m, fa.p + fb.p - 2, c, t, out, count ? lost : 0);
		finite &= hu_isfinite(c);
		for (size_t i = 0; count && i < m; i++)
			if (a[k + i] != 0 && b[k + i] != 0)
				hu_count_term(count, 1, finite, finite && lost[i], k + i);
	}
	return c;
}

#include "lib/sum/collective.h"

/* Returns 1 where a sum has its result in another format than acc: that of the second accumulator or of the wire. */
HU_HD int
hu_sum_has_outer(hu_sum s)
{
	return s.id == HU_SUM_PROMOTE || s.id == HU_SUM_RING || s.id == HU_SUM_TREE || s.id == HU_SUM_HALVING ||
	       s.id == HU_SUM_HIER;
}

/* The format in which parts and lanes combine; for promote that of the second accumulator, for an all-reduce the
   wire's. */
HU_HD hu_format
hu_outer_format(hu_sum s)
{
	if (s.outer == HU_NO_FORMAT && s.id == HU_SUM_PROMOTE)
		return hu_format_of(s.acc == HU_FP64 ? HU_FP64 : HU_FP32);
	return hu_format_of(s.outer == HU_NO_FORMAT ? s.acc : s.outer);
}

/* The format of one part's sum. */
HU_HD hu_format
hu_part_format(hu_sum s)
{
	return hu_sum_has_outer(s) ? hu_outer_format(s) : hu_format_of(s.acc);
}

/* A copy of draw with as many bits as model s uses; zeros where draw is NULL. */
HU_HD hu_draw
hu_draw_of(const hu_draw *draw, hu_sum s)
{
	hu_draw d = { 0, 0, 0, 0, 0 };

	if (draw)
		d = *draw;
	d.bits = s.bits;
	return d;
}

/* Computes one part: n products a[k] * b[k], added from +0 by the resolved model s. count may be NULL, and so may
   `from` where the mode draws nothing. */
HU_HD double
hu_model_run(const double *a, const double *b, size_t n, hu_sum s, const hu_draw *from, hu_sum_count *count)
{
	hu_format f = hu_format_of(s.acc);
	hu_draw all = hu_draw_of(from, s);
	const hu_draw *draw = &all;
	double acc = 0;

	switch (s.id) {
	case HU_SUM_FMA:
		for (size_t k = 0; k < n; k++)
			acc = hu_model_fma(acc, a[k], b[k], f, s.mode, draw, k, count);
		return acc;
	case HU_SUM_SEQUENTIAL:
		for (size_t k = 0; k < n; k++)
			acc = hu_acc_term(acc, hu_model_product(a[k], b[k], f, s.mode, draw, k), f, s.mode, draw, k,
				HU_DRAW_SUM, count);
		return acc;
	case HU_SUM_CHUNK:
	case HU_SUM_OPENBLAS:
		return hu_model_slices(a, b, n, (size_t)s.n, s.id == HU_SUM_OPENBLAS, f, f, s.mode, draw, count);
	case HU_SUM_PAIRWISE: return hu_model_pairwise(a, b, n, f, s.mode, draw, count);
	case HU_SUM_KAHAN: return hu_model_kahan(a, b, n, f, s.mode, draw, count);
	case HU_SUM_NEUMAIER: return hu_model_neumaier(a, b, n, f, s.mode, draw, count);
	case HU_SUM_DOT2: return hu_model_dot2(a, b, n, f, s.mode, draw, count);
	case HU_SUM_FABSUM: return hu_model_fabsum(a, b, n, (size_t)s.n, f, s.mode, draw, count);
	case HU_SUM_SPLITK:
		return hu_model_slices(a, b, n, (n + (size_t)s.n - 1) / (size_t)s.n + !n, 0, f, f, s.mode, draw, count);
	case HU_SUM_PROMOTE:
		return hu_model_slices(a, b, n, (size_t)s.n, 0, f, hu_outer_format(s), s.mode, draw, count);
	case HU_SUM_TC: return hu_model_tc(a, b, n, 0, s, count);
	case HU_SUM_RING:
	case HU_SUM_TREE:
	case HU_SUM_HALVING:
	case HU_SUM_HIER: return hu_model_ranks(a, b, n, s, hu_outer_format(s), draw, count);
	default: return hu_nan();
	}
}
#endif
