/* SPDX-License-Identifier: Apache-2.0
   Sums of products of 8-bit integers in an accumulator of 32 bits, as processors' units have them: exact until they
   leave 32 bits, where they wrap or saturate. Host and device. */
#ifndef HU_SUM_INTEGERS_H
#define HU_SUM_INTEGERS_H

#include "lib/sum/step.h"
#include "lib/sum/sum_unit.h"

/* What a specification says of operands a and b and of sums beyond 32 bits: bits of hu_sum's path. */
enum {
	HU_INTEGERS_A_S8 = 1,
	HU_INTEGERS_A_U8 = 2,
	HU_INTEGERS_B_S8 = 4,
	HU_INTEGERS_B_U8 = 8,
	HU_INTEGERS_SATURATE = 16
};

/* Returns 1 where x is an integer from `low` to `high`. */
HU_HD int
hu_integers_between(double x, double low, double high)
{
	return x >= low && x <= high && x == floor(x);
}

/* Returns 1 where x is an operand: of a (0) or b (1) an integer of 8 bits, with a sign unless `path` says u8; of a
   start value (2) one of 32 bits. */
HU_HD int
hu_integers_held(int path, int which, double x)
{
	int positive = path & (which ? HU_INTEGERS_B_U8 : HU_INTEGERS_A_U8);

	return which == 2 ? hu_integers_between(x, -0x1p31, 0x1p31 - 1)
	       : positive ? hu_integers_between(x, 0, 255)
			  : hu_integers_between(x, -128, 127);
}

/* x, cut to `bits` bits with a sign. */
HU_HD int64_t
hu_integers_saturated(int64_t x, int bits)
{
	int64_t most = ((int64_t)1 << (bits - 1)) - 1;

	return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

/* x, of which 32 bits are left and read as a number with a sign. */
HU_HD int64_t
hu_integers_wrapped(int64_t x)
{
	int64_t low = (int64_t)((uint64_t)x & 0xffffffffu);

	return low < (int64_t)1 << 31 ? low : low - ((int64_t)1 << 32);
}

/* Adds n products to c, `step` of them an instruction: exactly, with one wrap or saturation at the end of each. narrow:
   pairs of products saturate at 16 bits first. *lost, which may be NULL, is raised by what these pairs lose, and
   is set to +Inf where a sum left 32 bits. An operand that is not held makes NaN of the sum. */
HU_HD_CALL double
hu_integers_sum(const double *a, const double *b, size_t n, double c, int path, size_t step, int narrow, double *lost,
	hu_sum_count *count)
{
	int64_t acc = hu_integers_held(path, 2, c) ? (int64_t)c : 0;

	for (size_t k = 0; k < n; k++)
		if (!hu_integers_held(path, 0, a[k]) || !hu_integers_held(path, 1, b[k]))
			return hu_nan();
	if (!hu_integers_held(path, 2, c))
		return hu_nan();
	for (size_t k = 0; k < n; k += step) {
		int64_t sum = 0;
		for (size_t i = k; i < n && i < k + step; i += 1 + (size_t)narrow) {
			int64_t p = (int64_t)(a[i] * b[i]);
			if (narrow && i + 1 < n)
				p += (int64_t)(a[i + 1] * b[i + 1]);
			int64_t kept = narrow ? hu_integers_saturated(p, 16) : p;
			if (lost)
				*lost += (double)(p > kept ? p - kept : kept - p);
			sum += kept;
		}
		int64_t exact = acc + sum, next = path & HU_INTEGERS_SATURATE ? hu_integers_saturated(exact, 32)
									      : hu_integers_wrapped(exact);
		if (lost && next != exact)
			*lost = hu_inf(0);
		if (sum)
			hu_count_term(count, (double)acc, 1, next == acc, k);
		acc = next;
	}
	return (double)acc;
}

#ifndef __cplusplus
#include "lib/sum/bound.h"
#include "lib/sum/roundings.h"

/* The members of hu_sum_unit for such a row; its keys are a=, b= and saturate=, or the first two alone. */
hu_status hu_integers_key(hu_sum *s, const char *key, const char *word);
hu_status hu_integers_check(const hu_sum *s);
hu_status hu_integers_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
void hu_integers_print(hu_sum s, const char *outer, char *out, size_t size);
void hu_integers_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to);
int hu_integers_holds(const hu_sum *s, int which, double x);
/* check for a unit that wraps and never saturates. */
hu_status hu_integers_wraps(const hu_sum *s);
/* The bound of n products of operands up to `a` and `b` in magnitude: none is lost while all together keep 31 bits. */
hu_sum_bound hu_integers_bound(double n, double a, double b);
void hu_integers_roundings(hu_roundings *r, hu_sum s, double n);

/* A row's sum from c, as hu_integers_sum has it. */
typedef double hu_integers_adds(
	const double *a, const double *b, size_t n, double c, hu_sum s, double *lost, hu_sum_count *count);
/* bound_of for such a row: what the sum loses of these operands. */
hu_sum_bound hu_integers_bound_of(
	hu_integers_adds *sum, hu_sum s, const double *a, const double *b, size_t n, size_t part, double c);

/* from and bound_of of a row, whose sum is hu_NAME_add. */
#define HU_INTEGERS_FROM(name)                                                                                         \
	static double from(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count)        \
	{                                                                                                              \
		return hu_##name##_add(a, b, n, c, s, NULL, count);                                                    \
	}                                                                                                              \
	static hu_sum_bound bound_of(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c)      \
	{                                                                                                              \
		return hu_integers_bound_of(hu_##name##_add, s, a, b, n, part, c);                                     \
	}

/* bound of a row whose operands are those of PATH, an expression of s. */
#define HU_INTEGERS_BOUND(path_)                                                                                       \
	static hu_sum_bound bound(hu_sum s, double n, double u, double outer_u)                                        \
	{                                                                                                              \
		(void)u;                                                                                               \
		(void)outer_u;                                                                                         \
		return hu_integers_bound(                                                                              \
			n, (path_)&HU_INTEGERS_A_U8 ? 255 : 128, (path_)&HU_INTEGERS_B_U8 ? 255 : 128);                \
	}

/* The unit of a row of integers; CHECK is one of the two above, HOLDS says which operands the row has. */
#define HU_INTEGERS_UNIT(check_, holds_)                                                                               \
	&(const hu_sum_unit)                                                                                           \
	{                                                                                                              \
		.in = HU_NO_FORMAT, .acc = HU_FP64, .key = hu_integers_key, .check = check_,                           \
		.resolve = hu_integers_resolve, .print = hu_integers_print, .variants = hu_integers_variants,          \
		.holds = holds_                                                                                        \
	}
#endif
#endif
