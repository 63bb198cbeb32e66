/* SPDX-License-Identifier: Apache-2.0
   Every formula that is computed for eight double-doubles at a time (lib/op/element/eights.h) beside
   its loop for single values: the same bits, or a bound of NaN, over ordinary and hostile operands. Of the
   operators no lane of ordinary operands is left to that loop. */
#include "lib/op/element/eights.h"

#include "lib/number/philox.h"
#include "lib/op/op.h"
#include "lib/op/element/pointwise.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

#ifdef HU_DDW
enum { PACKS = 8, N = PACKS * HU_DDW_LANES };

static uint64_t drawn;

static uint32_t
draw(void)
{
	return hu_random_at(1, 8, 0, drawn++).w[0];
}

/* A positive number with a trailing part and a bound, or one of those where formulas go wrong. */
static hu_dd
value(int hostile)
{
	static const double odd[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, 0x1p1000, 1 };
	double h = ldexp(1 + draw() * 0x1p-32, (int)(draw() % 4) - 2);

	if (hostile && draw() % 3 == 0)
		return (hu_dd){ odd[draw() % 8], 0, draw() % 2 ? 0 : 0x1p-60 };
	if (hostile && draw() % 2)
		h = -h;
	return (hu_dd){ h, draw() % 2 ? h * 0x1p-55 : 0, draw() % 2 ? fabs(h) * 0x1p-90 : 0 };
}

static int
same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Counts the values of one block that differ and those left; returns 0 if the formula decides by a value. */
HU_DDW_CODE static int
compare(void (*dd)(const hu_ctx_dd *, size_t, const hu_dd *const *, hu_dd *const *), hu_eights_block *eights,
	int hostile, size_t *differ, size_t *left)
{
	static hu_dd x[HU_MAP_IN][N], want[HU_MAP_OUT][N], got[HU_MAP_OUT][N];
	static hu_ddw a[HU_MAP_IN][PACKS], y[HU_MAP_OUT][PACKS];
	const hu_dd *in[HU_MAP_IN];
	const hu_ddw *from[HU_MAP_IN];
	hu_dd *out[HU_MAP_OUT];
	hu_ddw *to[HU_MAP_OUT];
	hu_ctx_dd c;
	hu_ctx_ddw k;

	for (int i = 0; i < HU_CONSTANTS; i++) {
		c.k[i] = value(0); /* below 1, as the rates of averages are, and all parts scaled by a power of two */
		c.k[i] = (hu_dd){ c.k[i].h / 16, c.k[i].l / 16, c.k[i].e / 16 };
		k.k[i] = hu_ddw_all(c.k[i]);
	}
	for (int i = 0; i < HU_MAP_IN; i++) {
		in[i] = x[i];
		from[i] = a[i];
		for (int j = 0; j < N; j++)
			x[i][j] = value(hostile);
		for (int j = 0; j < PACKS; j++)
			a[i][j] = hu_ddw_load(x[i] + j * HU_DDW_LANES);
	}
	memset(want, 0, sizeof want);
	for (int i = 0; i < HU_MAP_OUT; i++) {
		out[i] = want[i];
		to[i] = y[i];
		for (int j = 0; j < PACKS; j++)
			y[i][j] = hu_ddw_of(0);
	}
	dd(&c, N, in, out);
	if (!eights(&k, PACKS, from, to))
		return 0;
	for (int i = 0; i < HU_MAP_OUT; i++)
		for (int j = 0; j < N; j++) {
			hu_ddw_store(got[i] + j / HU_DDW_LANES * HU_DDW_LANES, y[i][j / HU_DDW_LANES]);
			if (isnan(got[i][j].h) || isnan(got[i][j].l) || isnan(got[i][j].e))
				++*left;
			else
				*differ += !(same(got[i][j].h, want[i][j].h) && same(got[i][j].l, want[i][j].l) &&
					     same(got[i][j].e, want[i][j].e));
		}
	return 1;
}

static void
rows(void)
{
	size_t n = 0;

	for (const hu_eights *one; (one = hu_eights_at(n)) != NULL; n++) {
		size_t differ = 0, left = 0, more = 0;
		int fit = 1;
		for (int k = 0; k < 50; k++) {
			fit &= compare(one->dd, one->eights, 0, &differ, &left);
			fit &= compare(one->dd, one->eights, 1, &differ, &more);
		}
		ok(fit && !differ, "%s: %zu values differ from those of the loop for single ones", one->name, differ);
		ok(left == 0, "%s: %zu values of ordinary operands are left to it", one->name, left);
	}
	ok(n >= 15, "%zu operators' formulas are in the list", n);
}

static void
formulas(void)
{
	size_t differ = 0, left = 0;
	int fit = 0;

	for (int f = 0; f < HU_FORMULAS; f++) {
		const hu_blocks *b = hu_formula_blocks((hu_formula)f);
		size_t before = differ;
		for (int k = 0; k < 10; k++) {
			fit += compare(b->dd, hu_eights_of_formula((hu_formula)f), 0, &differ, &left);
			compare(b->dd, hu_eights_of_formula((hu_formula)f), 1, &differ, &left);
		}
		if (differ != before)
			diag("formula %d of formulas.def: %zu values differ", f, differ - before);
		ok(hu_eights_find(b) == hu_eights_of_formula((hu_formula)f), "formula %d is found by its loop", f);
	}
	ok(differ == 0, "%zu values of %d formulas differ", differ, (int)HU_FORMULAS);
	ok(fit >= 9 * HU_FORMULAS, "of %d formulas %d blocks decide by no value", (int)HU_FORMULAS, fit);
}
#endif

int
main(void)
{
#ifdef HU_DDW
	if (!hu_simd_has(HU_SIMD_AVX512))
		skip_all("the processor has no AVX-512");
	if (!hu_op_find("adamw")) /* whoever links the table of operators has their formulas */
		bail_out("no operators");
	rows();
	formulas();
	return done_testing();
#else
	skip_all("this build has no loops for eight double-doubles");
#endif
}
