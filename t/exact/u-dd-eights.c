/* SPDX-License-Identifier: Apache-2.0
   Double-doubles eight at a time (lib/exact/dd/ddw.h) and arrays of them (dd_vector.h): the bits of dd.h for every
   value, over operands with ties, zeros, infinities, tiny and huge numbers. Of ordinary operands no lane is left to
   dd.h, so that what is compared was computed. */
#include "lib/exact/dd/dd_vector.h"
#include "lib/exact/dd/ddw.h"

#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

enum { N = 4096 };

static uint64_t drawn;

static uint32_t
draw(void)
{
	return hu_random_at(1, 7, 0, drawn++).w[0];
}

static double
number(int least, int most)
{
	double x = ldexp(1 + draw() * 0x1p-32 + draw() * 0x1p-52, least + (int)(draw() % (uint32_t)(most - least + 1)));

	if (draw() % 4 == 0)
		x = ldexp(1, ilogb(x)); /* powers of two are where neighbours differ */
	return draw() & 1 ? x : -x;
}

/* A pair of an ordinary size, whose trailing part and bound are often 0. */
static hu_dd
ordinary(int least, int most)
{
	double h = number(least, most), l = draw() % 3 ? h * 0x1p-54 * (draw() * 0x1p-32) : 0, t;
	hu_dd a;

	a.h = hu_dd_sum(h, l, &t);
	a.l = t;
	a.e = draw() % 3 ? fabs(h) * ldexp(1, -60 - (int)(draw() % 60)) : 0;
	return a;
}

static hu_dd
any(void)
{
	static const double odd[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, 0x1p1023, 1, -1 };
	hu_dd a = ordinary(-1070, 1020);

	switch (draw() % 8) {
	case 0: return (hu_dd){ odd[draw() % 9], 0, 0 };
	case 1: return (hu_dd){ a.h, a.l, odd[draw() % 9] };
	case 2: return (hu_dd){ 0, 0, fabs(a.h) };
	case 3: return a;
	default: return ordinary(-20, 12);
	}
}

static int
same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static int
equal(hu_dd a, hu_dd b)
{
	return same(a.h, b.h) && same(a.l, b.l) && same(a.e, b.e);
}

static hu_dd a[N], b[N], c[N], got[N];

static void
fill(int hostile, int least, int most)
{
	for (int i = 0; i < N; i++) {
		a[i] = hostile ? any() : ordinary(least, most);
		b[i] = hostile ? any() : ordinary(least, most);
		c[i] = hostile ? any() : ordinary(least, most);
	}
}

#ifdef HU_DDW
/* Computes one operation of all operands and counts the lanes that differ, and those that are left to dd.h. */
#define TRY(NAME, ONE, EIGHT)                                                                                          \
	HU_DDW_CODE static void try_##NAME(size_t *differ, size_t *left)                                               \
	{                                                                                                              \
		*differ = *left = 0;                                                                                   \
		for (int i = 0; i < N; i += HU_DDW_LANES) {                                                            \
			hu_ddw x = hu_ddw_load(a + i), y = hu_ddw_load(b + i), z = hu_ddw_load(c + i), r = EIGHT;      \
			unsigned doubt = hu_ddw_doubtful(r);                                                           \
			(void)y, (void)z;                                                                              \
			hu_ddw_store(got + i, r);                                                                      \
			for (int k = i; k < i + HU_DDW_LANES; k++) {                                                   \
				if (doubt >> (k - i) & 1) {                                                            \
					++*left;                                                                       \
					continue;                                                                      \
				}                                                                                      \
				hu_dd p = a[k], q = b[k], s = c[k];                                                    \
				(void)q, (void)s;                                                                      \
				*differ += !equal(got[k], ONE);                                                        \
			}                                                                                              \
		}                                                                                                      \
	}
TRY(add, hu_dd_add(p, q), hu_ddw_add(x, y))
TRY(sub, hu_dd_sub(p, q), hu_ddw_sub(x, y))
TRY(mul, hu_dd_mul(p, q), hu_ddw_mul(x, y))
TRY(div, hu_dd_div(p, q), hu_ddw_div(x, y))
TRY(sqrt, hu_dd_sqrt(hu_dd_abs(p)), hu_ddw_sqrt(hu_ddw_abs(x)))
TRY(min, hu_dd_min(p, q), hu_ddw_min(x, y))
TRY(pick, hu_dd_pick(p, q, s), hu_ddw_pick(x, y, z))
TRY(exp, hu_dd_exp(p), hu_ddw_exp(x))
TRY(log, hu_dd_log(p), hu_ddw_log(x))
TRY(tanh, hu_dd_tanh(p), hu_ddw_tanh(x))
TRY(sigmoid, hu_dd_sigmoid(p), hu_ddw_sigmoid(x))
/* A lane in doubt stays one through later operations, so that nobody takes it for a value. */
TRY(chain, hu_dd_div(hu_dd_add(hu_dd_mul(p, q), s), hu_dd_sqrt(hu_dd_abs(hu_dd_mul(q, q)))),
	hu_ddw_div(hu_ddw_add(hu_ddw_mul(x, y), z), hu_ddw_sqrt(hu_ddw_abs(hu_ddw_mul(y, y)))))
TRY(choice, hu_dd_pick(hu_dd_mul(p, q), hu_dd_min(hu_dd_mul(q, q), s), hu_dd_mul(s, s)),
	hu_ddw_pick(hu_ddw_mul(x, y), hu_ddw_min(hu_ddw_mul(y, y), z), hu_ddw_mul(z, z)))

static const struct { const char *name; void (*run)(size_t *differ, size_t *left); int most;
} tries[] = {
	{ "add", try_add, 12 }, { "sub", try_sub, 12 }, { "mul", try_mul, 12 }, { "div", try_div, 12 },
	{ "sqrt", try_sqrt, 12 }, { "min", try_min, 12 }, { "pick", try_pick, 12 }, { "exp", try_exp, 8 },
	{ "log", try_log, 12 }, { "tanh", try_tanh, 4 }, { "sigmoid", try_sigmoid, 8 },
	{ "chain", try_chain, 12 }, { "choice", try_choice, 12 },
};

static void
lanes(void)
{
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		size_t differ, left, wrong = 0, undone = 0;
		for (int hostile = 0; hostile < 2; hostile++) {
			fill(hostile, -20, tries[i].most);
			if (tries[i].run == try_log)
				for (int k = 0; k < N; k++)
					a[k] = hu_dd_abs(a[k]);
			tries[i].run(&differ, &left);
			wrong += differ;
			undone += hostile ? 0 : left;
		}
		ok(wrong == 0, "%s: %zu of %d lanes differ from dd.h", tries[i].name, wrong, 2 * N);
		ok(undone <= N / 64, "%s: %zu of %d ordinary lanes are left to dd.h", tries[i].name, undone, N);
	}
}
#endif

/* Arrays of lengths that are no multiples of eight. */
static void
vectors(int hostile)
{
	size_t sums = 0, moved = 0, powers = 0;

	for (size_t n = 1; n < 60; n++) {
		size_t count = 1 + n * 7 % 45, stride = count + n % 3;
		fill(hostile, -20, 8);
		hu_dd_vector_dots(got, a, b, n, stride, count);
		for (size_t j = 0; j < count; j++) {
			hu_dd sum = hu_dd_of(0);
			for (size_t d = 0; d < n; d++)
				sum = hu_dd_add(sum, hu_dd_mul(a[d], b[d * stride + j]));
			sums += !equal(sum, got[j]);
		}
		memcpy(got, c, n * sizeof *got);
		hu_dd_vector_add(got, a[0], b, n);
		for (size_t i = 0; i < n; i++)
			moved += !equal(got[i], hu_dd_add(c[i], hu_dd_mul(a[0], b[i])));
		memcpy(got, c, n * sizeof *got);
		hu_dd_vector_exp(got, a[0], n);
		for (size_t i = 0; i < n; i++)
			powers += !equal(got[i], hu_dd_exp(hu_dd_sub(c[i], a[0])));
	}
	ok(sums == 0, "%zu inner products differ from those of single values%s", sums, hostile ? ", hostile" : "");
	ok(moved == 0, "%zu sums differ%s", moved, hostile ? ", hostile" : "");
	ok(powers == 0, "%zu exponentials differ%s", powers, hostile ? ", hostile" : "");
}

int
main(void)
{
	vectors(0);
	vectors(1);
#ifdef HU_DDW
	if (hu_simd_has(HU_SIMD_AVX512))
		lanes();
	else
		diag("eight at a time: the processor has no AVX-512");
#endif
	return done_testing();
}
