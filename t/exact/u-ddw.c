/* SPDX-License-Identifier: Apache-2.0
   Double-doubles eight and four at a time (lib/exact/dd/ddw.h) and arrays of them (dd_vector.h): the bits of dd.h for
   every value, over operands with ties, zeros, infinities, tiny and huge numbers. Of ordinary operands no lane is left
   to dd.h, so that what is compared was computed. */
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
typedef struct try {
	const char *name;
	void (*run)(size_t *differ, size_t *left);
	int most;
} try;

#define HU_DDW_EACH "t/exact/ddw-tries.inc"
#include "lib/exact/dd/ddw_each.h"

static void
lanes(const try *tries, size_t n, int width)
{
	for (size_t i = 0; i < n; i++) {
		size_t differ, left, wrong = 0, undone = 0;
		for (int hostile = 0; hostile < 2; hostile++) {
			fill(hostile, -20, tries[i].most);
			if (!strcmp(tries[i].name, "log"))
				for (int k = 0; k < N; k++)
					a[k] = hu_dd_abs(a[k]);
			tries[i].run(&differ, &left);
			wrong += differ;
			undone += hostile ? 0 : left;
		}
		ok(wrong == 0, "%s by %d: %zu of %d lanes differ from dd.h", tries[i].name, width, wrong, 2 * N);
		ok(undone <= N / 64, "%s by %d: %zu of %d ordinary lanes are left to dd.h", tries[i].name, width,
			undone, N);
	}
}
#endif

/* Arrays of lengths that are no multiples of eight. */
static void
vectors(int hostile)
{
	size_t sums = 0, moved = 0, powers = 0, added = 0, rows = 0;

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
		memcpy(got, c, n * sizeof *got);
		hu_dd_vector_plus(got, b, n);
		for (size_t i = 0; i < n; i++)
			added += !equal(got[i], hu_dd_add(c[i], b[i]));
		memcpy(got, c, count * sizeof *got);
		hu_dd_vector_rows(got, b, count, n + n % 3, n);
		for (size_t r = 0; r < count; r++) {
			hu_dd sum = c[r];
			for (size_t i = 0; i < n; i++)
				sum = hu_dd_add(sum, b[r * (n + n % 3) + i]);
			rows += !equal(sum, got[r]);
		}
	}
	const char *what = hostile ? "hostile" : "ordinary", *set = hu_simd_name();
	ok(sums == 0, "%zu inner products differ from those of single values, %s, %s", sums, what, set);
	ok(moved == 0, "%zu sums differ, %s, %s", moved, what, set);
	ok(added == 0, "%zu sums of two differ, %s, %s", added, what, set);
	ok(rows == 0, "%zu sums of rows differ, %s, %s", rows, what, set);
	ok(powers == 0, "%zu exponentials differ, %s, %s", powers, what, set);
}

int
main(void)
{
	for (int s = 0; s < HU_SIMDS; s++)
		if (hu_simd_has((hu_simd)s) && hu_simd_set(hu_simd_name_of((hu_simd)s)) == HU_OK) {
			vectors(0);
			vectors(1);
		}
#ifdef HU_DDW
	if (hu_simd_has(HU_SIMD_AVX2))
		lanes(hu_ddw4_tries, sizeof hu_ddw4_tries / sizeof *hu_ddw4_tries, 4);
	else
		diag("four at a time: the processor has no AVX2");
	if (hu_simd_has(HU_SIMD_AVX512))
		lanes(hu_ddw8_tries, sizeof hu_ddw8_tries / sizeof *hu_ddw8_tries, 8);
	else
		diag("eight at a time: the processor has no AVX-512");
#endif
	return done_testing();
}
