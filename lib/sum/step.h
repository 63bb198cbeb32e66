/* SPDX-License-Identifier: Apache-2.0
   One operation of an accumulator: additions, fused multiply-adds and products, each rounded once to the accumulator's
   format, with the random bits that stochastic rounding draws for it and the counts of what it swamped. Every
   summation model is made of these. Host and device. Products are exact in double where operands have p <= 24, as all
   formats of tensors but fp64 have. Products of fp64 operands are rounded to double first, unless the accumulator is
   fp64 and fuses. */
#ifndef HU_SUM_STEP_H
#define HU_SUM_STEP_H

#include "lib/base/hash.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"

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
#endif
