/* SPDX-License-Identifier: Apache-2.0
   Radii of every operator that is a formula of elements: its operands are balls, the true operands any numbers of them,
   and the operator's exact function of those, which its row has for MPFR, lies in the ball that the formula gives. An
   operator that is added is in this test without a line here; one of lib/op/kind has its exact function in long double
   in exact_kinds.inc, or MPFR decides for all of its elements. HALFULP_RADII_DRAWS says how many each gets. */
#include "t/judge/kernels/radii.h"

#include "lib/judge/kernel/formula_balls.h"
#include "lib/op/element/pointwise.h"

#include "t/judge/kernels/exact_kinds.inc"

enum { ROWS = 32, COLUMNS = 64, EACH = ROWS * COLUMNS };

/* How many elements an operand has, and which of them element i reads. */
static size_t
elements(hu_how how)
{
	return how == HU_ONE ? 1 : how == HU_CHANNEL ? COLUMNS : how == HU_ROW ? ROWS : EACH;
}

static size_t
place(hu_how how, size_t i)
{
	return how == HU_ONE ? 0 : how == HU_CHANNEL ? i % COLUMNS : how == HU_ROW ? i / COLUMNS : i;
}

static void
draw_operand(hu_balls *x, hu_how how, const hu_balls *first)
{
	size_t n = elements(how), d[2] = { ROWS, COLUMNS };

	if (n == EACH)
		hu_balls_make(x, 2, d, "x");
	else
		hu_balls_make(x, 1, &n, "x");
	for (size_t i = 0; i < n; i++) { /* often an element of the first operand, so that differences are 0 */
		x->b[i].x = first && draw(4) == 0 ? first->b[i].x : operand();
		x->b[i].r = draw(3) ? radius(x->b[i].x) : 0;
	}
}

/* The function of formula f's points in long double, or NULL where only MPFR has it. */
static exact_quickly
quick_of(hu_formula f)
{
	for (size_t i = 0; i < sizeof quickest / sizeof *quickest; i++)
		if (quickest[i].formula == f)
			return quickest[i].exact;
	return NULL;
}

static void
one(const hu_call *c, size_t draws, const char *how)
{
	hu_roundoffs a = { .u = 0x1p-53 };
	hu_pointwise_call p;
	found f = { 0 };
	extended_t s[HU_POINTWISE_IN], ks[HU_CONSTANTS], about;
	exact_quickly quick;
	mpfr_t x[HU_POINTWISE_IN], k[HU_CONSTANTS], want;
	const hu_pointwise *row = c->op->pointwise;
	const hu_form *form = &row->form[row->which ? row->which(c) != 0 : 0];

	hu_pointwise_describe(&p, c);
	quick = quick_of(p.formula);
	mpfr_init2(want, BITS);
	for (int j = 0; j < HU_POINTWISE_IN; j++)
		mpfr_init2(x[j], BITS);
	for (int j = 0; j < HU_CONSTANTS; j++) {
		mpfr_init2(k[j], BITS);
		mpfr_set_d(k[j], j < p.nk ? p.k[j] : 0, R);
		extended_set_ld(ks[j], j < p.nk ? p.k[j] : 0);
	}
	for (size_t done = 0; done < draws; done += EACH) {
		hu_balls in[HU_POINTWISE_IN] = { { 0 } }, y = { 0 };
		for (int j = 0; j < c->nin; j++)
			draw_operand(&in[j], p.how[j], j ? &in[0] : NULL);
		if (hu_formula_balls(c, &a, in, &y) != HU_OK)
			bail_out("%s does not run: %s", c->op->name, hu_reason());
		/* an operand that several elements read is one number for all of them, drawn anew for each */
		for (size_t i = 0; i < y.n; i++) {
			if (is_boundless(&f, y.b[i]))
				continue;
			for (int j = 0; j < c->nin; j++)
				inside(s[j], in[j].b[place(p.how[j], i)]);
			extended_open = !quick;
			if (quick)
				quick((const extended_t *)ks, (const extended_t *)s, about);
			if (is_settled(y.b[i], about))
				continue;
			for (int j = 0; j < c->nin; j++)
				mpfr_set_ld(x[j], s[j]->x, R);
			form->exact((const mpfr_t *)k, (const mpfr_t *)x, 0, want);
			hold(&f, y.b[i], want, about, in[0].b[place(p.how[0], i)],
				c->nin > 1 ? in[1].b[place(p.how[1], i)] : hu_ball_of(0));
		}
		for (int j = 0; j < c->nin; j++)
			hu_balls_release(&in[j]);
		hu_balls_release(&y);
	}
	tell(&f, c->op->name, how);
	for (int j = 0; j < HU_POINTWISE_IN; j++)
		mpfr_clear(x[j]);
	for (int j = 0; j < HU_CONSTANTS; j++)
		mpfr_clear(k[j]);
	mpfr_clear(want);
}

/* A row of graphs gives the bits of a call of a program. */
static void
as_row(const hu_call *c)
{
	hu_roundoffs a = { .u = 0x1p-24, .fn = 0x1p-21, .exp = 0x1p-22, .tiny = 0x1p-126 };
	const hu_ball_row *row = hu_formula_balls_row(c->op->name);
	hu_ball_call b = { .row = row, .nin = c->nin, .nout = 1, .roundoffs = &a };
	hu_balls in[HU_POINTWISE_IN] = { { 0 } }, y = { 0 }, z[HU_GRAPH_OUT] = { { 0 } };
	hu_pointwise_call p;
	int same;

	hu_pointwise_describe(&p, c);
	for (int j = 0; j < c->nin; j++)
		draw_operand(&in[j], p.how[j], NULL);
	same = row && hu_formula_balls(c, &a, in, &y) == HU_OK && row->run(&b, in, z) == HU_OK && y.n == z[0].n &&
	       !memcmp(y.b, z[0].b, y.n * sizeof *y.b);
	ok(same && hu_ball_row_find(c->op->name), "%s: a graph has it as an operator", c->op->name);
	for (int j = 0; j < c->nin; j++)
		hu_balls_release(&in[j]);
	hu_balls_release(&y);
	hu_balls_release(&z[0]);
}

/* An intermediate value beyond double's numbers that a later factor brings back has no bound: with a = 2 and b = 1100
   the formula d b a^(b - 1) multiplies 2^1099 by 1100 d. Alone it is infinite for certain. */
static void
beyond_double(void)
{
	hu_call c = { .op = hu_op_find("pow_da"), .nin = 3, .nout = 1 };
	hu_roundoffs a = { .u = 0x1p-53 };
	hu_balls in[HU_POINTWISE_IN] = { { 0 } }, y = { 0 };
	double given[3] = { 2, 1100, 0x1p-200 };
	size_t n = 1;

	for (int j = 0; j < 3; j++) {
		hu_balls_make(&in[j], 1, &n, "x");
		in[j].b[0] = hu_ball_of(given[j]);
	}
	ok(hu_formula_balls(&c, &a, in, &y) == HU_OK && y.b[0].r == INFINITY, "a power beyond double times 2^-200");
	hu_balls_release(&y);
	c.op = hu_op_find("pow");
	c.nin = 2;
	ok(hu_formula_balls(&c, &a, in, &y) == HU_OK && isinf(y.b[0].x) && y.b[0].r == 0, "the power itself");
	hu_balls_release(&y);
	for (int j = 0; j < 3; j++)
		hu_balls_release(&in[j]);
}

/* A power that is subnormal in double is known to few bits, and d b brings its error back among the normal numbers:
   with a = 59.7, b = -174.4 and d = 4000 the result is some 10^-306, and the power some 10^-312. */
static void
below_double(void)
{
	hu_call c = { .op = hu_op_find("pow_da"), .nin = 3, .nout = 1 };
	hu_roundoffs a = { .u = 0x1p-53 };
	hu_balls in[HU_POINTWISE_IN] = { { 0 } }, y = { 0 };
	double given[3] = { 59.749791558454312, -174.42345088361748, 4000 };
	size_t n = 1;
	mpfr_t want, t;

	mpfr_inits2(BITS, want, t, (mpfr_ptr)0);
	for (int j = 0; j < 3; j++) {
		hu_balls_make(&in[j], 1, &n, "x");
		in[j].b[0] = hu_ball_of(given[j]);
	}
	mpfr_set_d(want, given[0], R);
	mpfr_set_d(t, given[1], R);
	mpfr_sub_ui(t, t, 1, R);
	mpfr_pow(want, want, t, R);
	mpfr_mul_d(want, want, given[1], R);
	mpfr_mul_d(want, want, given[2], R);
	if (hu_formula_balls(&c, &a, in, &y) != HU_OK)
		bail_out("pow_da does not run");
	mpfr_sub_d(want, want, y.b[0].x, R);
	mpfr_abs(want, want, R);
	ok(mpfr_cmp_d(want, y.b[0].r) <= 0, "a subnormal power times 4000 is %.17g within %.3g", y.b[0].x, y.b[0].r);
	for (int j = 0; j < 3; j++)
		hu_balls_release(&in[j]);
	hu_balls_release(&y);
	mpfr_clears(want, t, (mpfr_ptr)0);
}

int
main(void)
{
	size_t draws = draws_of(20000), n = 0;
	const hu_op *op;

	for (int i = 0; (op = hu_op_at(i)); i++) {
		if (!hu_pointwise_is_formula(op) || !is_wanted(op->name))
			continue;
		hu_call c = { .op = op, .nin = op->min_in, .nout = 1 };
		one(&c, draws, "");
		as_row(&c);
		if (op->pointwise->which) {
			hu_attr_set_text(&c, "approx", "tanh");
			one(&c, draws, ", by tanh");
		}
		n++;
	}
	beyond_double();
	below_double();
	ok(n >= 60 || getenv("HALFULP_RADII_ROW"), "%zu operators are a formula", n);
	mpfr_free_cache();
	return done_testing();
}
