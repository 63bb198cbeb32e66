/* SPDX-License-Identifier: Apache-2.0
   Infinity itself in double-double (lib/exact/dd/dd_endless.c): sums, products, quotients, minima, comparisons and
   elementary functions of infinite and finite numbers are what IEEE 754 has, exactly, wherever that is a number; an
   infinity less itself, one times a number that may be 0, one over 0, and whatever left double's range say nothing. */
#include "lib/exact/dd/dd.h"

#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <math.h>

typedef hu_dd two(hu_dd a, hu_dd b);
typedef hu_dd one(hu_dd a);

static double plus(double a, double b) { return a + b; }
static double less_(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }
static double smaller(double a, double b) { return b < a ? b : a; }
static double below(double a, double b) { return a < b; }
static double same(double a, double b) { return a == b; }
static double sigmoid(double a) { return 1 / (1 + exp(-a)); }

static const struct { const char *name; two *dd; double (*ieee)(double, double); } of_two[] = {
	{ "add", hu_dd_add, plus }, { "sub", hu_dd_sub, less_ }, { "mul", hu_dd_mul, times },
	{ "div", hu_dd_div, over },
	{ "min", hu_dd_min, smaller }, { "less", hu_dd_less, below }, { "equal", hu_dd_equal, same },
};
static const struct { const char *name; one *dd; double (*ieee)(double); } of_one[] = {
	{ "exp", hu_dd_exp, exp }, { "tanh", hu_dd_tanh, tanh }, { "sigmoid", hu_dd_sigmoid, sigmoid },
	{ "erf", hu_dd_erf, erf }, { "neg", hu_dd_neg, NULL }, { "abs", hu_dd_abs, fabs },
};

/* Whether y is x and nothing else, or says nothing where x is NaN. */
static int
is(hu_dd y, double x)
{
	return x != x ? !hu_dd_endless(y) && !hu_dd_finite(y) : y.h == x && y.l == 0 && y.e == 0;
}

static void
test_values(void)
{
	static const double all[] = { INFINITY, -INFINITY, 3, -0.5, 0x1p-1074, 0x1p1000, 0 };
	size_t n = sizeof all / sizeof *all;

	for (size_t k = 0; k < sizeof of_two / sizeof *of_two; k++) {
		size_t wrong = 0, tried = 0;
		for (size_t i = 0; i < n * n; i++) {
			double a = all[i / n], b = all[i % n];
			if (fabs(a) < INFINITY && fabs(b) < INFINITY)
				continue;
			tried++;
			wrong += !is(of_two[k].dd(hu_dd_of(a), hu_dd_of(b)), /* a quotient by 0 has no sign */
				of_two[k].ieee == over && b == 0 ? NAN : of_two[k].ieee(a, b));
		}
		ok(wrong == 0 && tried == 24, "%s: %zu of %zu pairs with an infinity are not as IEEE 754 has them",
			of_two[k].name, wrong, tried);
	}
	for (size_t k = 0; k < sizeof of_one / sizeof *of_one; k++) {
		int good = 1;
		for (int i = 0; i < 2; i++)
			good &= is(of_one[k].dd(hu_dd_of(all[i])), of_one[k].ieee ? of_one[k].ieee(all[i]) : -all[i]);
		ok(good, "%s of both infinities", of_one[k].name);
	}
	ok(is(hu_dd_log(hu_dd_of(0)), -INFINITY) && is(hu_dd_log(hu_dd_of(INFINITY)), INFINITY),
		"log of 0 and of infinity");
}

static double
drawn(uint64_t i, int which)
{
	hu_random r = hu_random_at(3, 1, (uint64_t)which, i);

	return ldexp((double)r.w[0] - 0x1p31, (int)(r.w[1] % 2090) - 1105);
}

/* Operands with errors, and those that leave double's range. */
static void
test_nothing(void)
{
	hu_dd near = { 0x1p-60, 0, 0x1p-50 }, far = hu_dd_of(INFINITY), lost = { INFINITY, NAN, 0 };
	size_t endless = 0;

	ok(is(hu_dd_mul(far, near), NAN) && is(hu_dd_div(far, near), NAN) && is(hu_dd_add(far, lost), NAN) &&
			is(hu_dd_min(far, lost), NAN) && is(hu_dd_exp(lost), NAN),
		"a number that may be 0, and one that left double's range, leave nothing known");
	ok(is(hu_dd_add(far, near), INFINITY) && is(hu_dd_less(near, far), 1) && hu_dd_min(far, near).e == near.e,
		"an error is none beside infinity");
	for (uint64_t i = 0; i < 200000; i++) {
		hu_dd a = hu_dd_of(drawn(i, 0)), b = hu_dd_of(drawn(i, 1));
		for (size_t k = 0; k < sizeof of_two / sizeof *of_two; k++)
			endless += hu_dd_endless(of_two[k].dd(a, b));
		for (size_t k = 0; k < sizeof of_one / sizeof *of_one; k++)
			endless += hu_dd_endless(of_one[k].dd(a));
	}
	ok(endless == 0, "%zu results of 2600000 finite operands are infinity itself", endless);
}

int
main(void)
{
	test_values();
	test_nothing();
	return done_testing();
}
