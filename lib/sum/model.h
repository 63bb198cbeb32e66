/* SPDX-License-Identifier: Apache-2.0
   The plain version of every summation model: one output's products, k ascending, with
   each accumulator operation rounded once to the accumulator's format. Host and device.
   Operands are values of formats with p <= 24 unless the accumulator is fp64, so that a
   product is exact in double. */
#ifndef HU_SUM_MODEL_H
#define HU_SUM_MODEL_H

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/sum/sum.h"

#include <math.h>

/* Where SR's random bits of one output's sum come from: index = first + k. */
typedef struct hu_draw { uint64_t seed; uint32_t stream, step; uint64_t first; } hu_draw;

/* An output counts as stagnated where the sum ends in a run of at least this many swamped
   terms with no term between them that moved it: its last part has stopped responding. */
enum { HU_STAGNANT_RUN = 8 };

/* Counts of one sum, in the words of doc/formats.md; run: swamped terms since the sum last
   moved. NULL where nobody asks. */
typedef struct hu_sum_count { uint64_t additions, swamped, run; } hu_sum_count;

/* x + y with its error folded into the last bit (round to odd), so that a second rounding to
   p <= 51 bits is as if done once (Boldo and Melquiond 2008). Infinities and NaN pass through. */
HU_HD double
hu_add_odd(double x, double y)
{
	double s = x + y, t = s - x, e = (x - (s - t)) + (y - t);
	uint64_t u = hu_bits64(s);

	if (e == 0 || !hu_isfinite(s) || (u & 1))
		return s;
	/* toward zero where the error points there, then odd: one step either way sets the last bit */
	return hu_from_bits64((e > 0) == (s > 0) ? u | 1 : u - 1);
}

/* The stream of a call's sums: apart from that of its output rounding. */
HU_HD uint32_t
hu_draw_stream(const char *seed_name)
{
	return hu_fnv1a32(seed_name) ^ 0x5355u;
}

HU_HD uint32_t
hu_draw_bits(const hu_draw *d, uint64_t k)
{
	return hu_random_at(d->seed, d->stream, d->step, d->first + k).w[0];
}

/* One rounded addition of the exact value Y to the accumulator. */
HU_HD double
hu_acc_add(double acc, double y, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, hu_sum_count *count)
{
	double s = f.p == 53 ? acc + y : hu_round(hu_add_odd(acc, y), f, mode, 0, mode == HU_SR ? hu_draw_bits(draw, k) : 0);

	if (count && hu_isfinite(acc) && hu_isfinite(y) && y != 0) {
		int lost = acc != 0 && s == acc;
		count->additions += acc != 0;
		count->swamped += (uint64_t)lost;
		count->run = lost ? count->run + 1 : 0;
	}
	return s;
}

HU_HD double
hu_model_fma(double acc, double a, double b, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k, hu_sum_count *count)
{
	if (f.p == 53) {
		double s = fma(a, b, acc);
		if (count && hu_isfinite(acc) && hu_isfinite(a * b) && a != 0 && b != 0 && acc != 0) {
			count->additions++;
			count->swamped += s == acc;
			count->run = s == acc ? count->run + 1 : 0;
		}
		return s;
	}
	return hu_acc_add(acc, a * b, f, mode, draw, k, count);
}

HU_HD double
hu_model_product(double a, double b, hu_format f, hu_mode mode, const hu_draw *draw, uint64_t k)
{
	return f.p == 53 ? a * b : hu_round(a * b, f, mode, 0, mode == HU_SR ? hu_draw_bits(draw, k) : 0);
}

/* Products lo..hi-1 rounded and summed by halves, the first half the larger power of two below. */
HU_HD double
hu_model_pairwise(const double *a, const double *b, size_t lo, size_t hi, hu_format f, hu_mode mode, const hu_draw *draw, hu_sum_count *count)
{
	double level[64];
	size_t size[64];
	int top = 0;

	/* A binary counter of finished subtrees, so that there is no recursion on a device. */
	for (size_t k = lo; k < hi; k++) {
		double x = hu_model_product(a[k], b[k], f, mode, draw, k);
		size_t n = 1;
		while (top && size[top - 1] == n) {
			top--;
			x = hu_acc_add(level[top], x, f, mode, draw, k, count);
			n *= 2;
		}
		level[top] = x;
		size[top++] = n;
	}
	double x = top ? level[--top] : 0.0;
	while (top)
		x = hu_acc_add(level[--top], x, f, mode, draw, hi, count);
	return x;
}

/* One part: K products a[k] * b[k] from +0 in model S. COUNT may be NULL. */
HU_HD double
hu_model_run(const double *a, const double *b, size_t n, hu_sum s, const hu_draw *draw, hu_sum_count *count)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0, extra = 0;

	switch (s.id) {
	case HU_SUM_FMA:
		for (size_t k = 0; k < n; k++)
			acc = hu_model_fma(acc, a[k], b[k], f, s.mode, draw, k, count);
		return acc;
	case HU_SUM_SEQUENTIAL:
		for (size_t k = 0; k < n; k++)
			acc = hu_acc_add(acc, hu_model_product(a[k], b[k], f, s.mode, draw, k), f, s.mode, draw, k, count);
		return acc;
	case HU_SUM_CHUNK:
		for (size_t k0 = 0; k0 < n; k0 += (size_t)s.n) {
			double part = 0;
			for (size_t k = k0; k < n && k < k0 + (size_t)s.n; k++)
				part = hu_model_fma(part, a[k], b[k], f, s.mode, draw, k, count);
			acc = hu_acc_add(acc, part, f, s.mode, draw, k0, count);
		}
		return acc;
	case HU_SUM_PAIRWISE:
		return hu_model_pairwise(a, b, 0, n, f, s.mode, draw, count);
	case HU_SUM_KAHAN:
		/* Kahan 1965; (acc, extra) is judged as one value: a term is lost where neither moves. */
		for (size_t k = 0; k < n; k++) {
			double x = hu_model_product(a[k], b[k], f, s.mode, draw, k);
			double y = hu_acc_add(x, -extra, f, s.mode, draw, k, NULL), t = hu_acc_add(acc, y, f, s.mode, draw, k, NULL);
			double e = hu_acc_add(hu_acc_add(t, -acc, f, s.mode, draw, k, NULL), -y, f, s.mode, draw, k, NULL);
			if (count && x != 0 && acc != 0 && hu_isfinite(acc) && hu_isfinite(x)) {
				int lost = t == acc && e == extra;
				count->additions++;
				count->swamped += (uint64_t)lost;
				count->run = lost ? count->run + 1 : 0;
			}
			acc = t;
			extra = e;
		}
		return acc;
	default:
		return hu_nan();
	}
}
#endif
