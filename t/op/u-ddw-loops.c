/* SPDX-License-Identifier: Apache-2.0
   Every formula that is computed for eight or four double-doubles at a time (lib/op/element/ddw_loops.h) beside its
   loop for single values: the same bits, or a bound of NaN, over ordinary and hostile operands. Of the operators no
   lane of ordinary operands is left to that loop. The loops for several values with bounds give the bits of theirs in
   every lane, in float32 and float64, of this program's operations and of a library's. */
#include "lib/op/element/ddw_loops.h"

#include "lib/number/philox.h"
#include "lib/op/op.h"
#include "lib/op/element/pointwise.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

#ifdef HU_DDW
enum { REGISTERS = 8 };

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

/* A value with a bound, in the format as the step before leaves it or just any double. */
static hu_bounded
bounded(hu_format f, int hostile)
{
	hu_dd x = value(hostile);

	if (draw() % 2)
		x.h = hu_rne(f, x.h);
	return (hu_bounded){ x.h, draw() % 3 ? x.e : fabs(x.l) };
}

static int
same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

typedef void dd_loop(const hu_ctx_dd *c, size_t n, const hu_dd *const *in, hu_dd *const *out);
typedef void run_loop(const hu_ctx_bounded *c, size_t n, const hu_bounded *const *in, hu_bounded *const *out);

#define HU_DDW_EACH "t/op/ddw-compare.inc"
#include "lib/exact/dd/ddw_each.h"

/* Compares a row's loop of one width with the loop for single values. */
static int
compare(int width, dd_loop *dd, const hu_ddw_loops *row, int hostile, size_t *differ, size_t *left)
{
	return width == 8 ? hu_ddw8_compare(dd, row->by8, hostile, differ, left)
			  : hu_ddw4_compare(dd, row->by4, hostile, differ, left);
}

/* The same for values with bounds, in each of the formats; returns how many blocks decided by no value. */
static int
compare_runs(int width, run_loop *run, const hu_ddw_loops *row, size_t *differ)
{
	static const hu_format_id formats[] = { HU_FP32, HU_FP64 };
	int fit = 0;

	for (int k = 0; k < 8; k++) {
		hu_format f = hu_format_of(formats[k % 2]);
		f.library = k / 2 % 2 ? 3 : 0;
		fit += width == 8 ? hu_ddw8_compare_run(run, row->run8, f, k / 4, differ)
				  : hu_ddw4_compare_run(run, row->run4, f, k / 4, differ);
	}
	return fit;
}

/* Operators and formulas of arithmetic alone. */
static void
runs(int width)
{
	size_t differ = 0, n = 0;
	int fit = 0, whole = 0;

	for (const hu_ddw_loops *one; (one = hu_ddw_loops_at(n)) != NULL; n++)
		for (int k = 0; k < 20; k++)
			fit += compare_runs(width, one->run, one, &differ);
	ok(differ == 0, "by %d: %zu values with bounds differ in operators' loops", width, differ);
	ok(fit >= 8 * 20 * 10, "by %d: %d blocks of operators decide by no value", width, fit);
	differ = 0;
	for (int f = 0; f < HU_FORMULAS; f++) {
		fit = 0;
		for (int k = 0; k < 10; k++)
			fit += compare_runs(width, hu_formula_blocks((hu_formula)f)->run,
				hu_ddw_loops_of_formula((hu_formula)f), &differ);
		whole += fit == 80;
	}
	ok(differ == 0, "by %d: %zu values with bounds differ in formulas", width, differ);
	ok(whole >= 10, "by %d: %d formulas are of arithmetic alone", width, whole);
}

static void
rows(int width)
{
	size_t n = 0;

	for (const hu_ddw_loops *one; (one = hu_ddw_loops_at(n)) != NULL; n++) {
		size_t differ = 0, left = 0, more = 0;
		int fit = 1;
		for (int k = 0; k < 50; k++) {
			fit &= compare(width, one->dd, one, 0, &differ, &left);
			fit &= compare(width, one->dd, one, 1, &differ, &more);
		}
		ok(fit && !differ, "%s by %d: %zu values differ from those of the loop for single ones", one->name,
			width, differ);
		ok(left == 0, "%s by %d: %zu values of ordinary operands are left to it", one->name, width, left);
	}
	ok(n >= 15, "%zu operators' formulas are in the list", n);
}

static void
formulas(int width)
{
	size_t differ = 0, left = 0;
	int fit = 0;

	for (int f = 0; f < HU_FORMULAS; f++) {
		const hu_blocks *b = hu_formula_blocks((hu_formula)f);
		const hu_ddw_loops *row = hu_ddw_loops_of_formula((hu_formula)f);
		size_t before = differ;
		for (int k = 0; k < 10; k++) {
			fit += compare(width, b->dd, row, 0, &differ, &left);
			compare(width, b->dd, row, 1, &differ, &left);
		}
		if (differ != before)
			diag("%s of formulas.def: %zu values differ", row->name, differ - before);
		ok(hu_ddw_loops_find(b) == row, "%s is found by its loop", row->name);
	}
	ok(differ == 0, "%zu values of %d formulas by %d differ", differ, (int)HU_FORMULAS, width);
	ok(fit >= 9 * HU_FORMULAS, "of %d formulas %d blocks decide by no value", (int)HU_FORMULAS, fit);
}
#endif

int
main(void)
{
#ifdef HU_DDW
	if (!hu_simd_has(HU_SIMD_AVX2))
		skip_all("the processor has no AVX2");
	if (!hu_op_find("adamw")) /* whoever links the table of operators has their formulas */
		bail_out("no operators");
	for (int width = 4; width <= (hu_simd_has(HU_SIMD_AVX512) ? 8 : 4); width += 4) {
		rows(width);
		formulas(width);
		runs(width);
	}
	return done_testing();
#else
	skip_all("this build has no loops for several double-doubles");
#endif
}
