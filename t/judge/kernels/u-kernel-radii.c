/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's operators against MPFR: an operand is a ball, the true operand any number of it, and the
   result that MPFR computes of that one, in 400 bits, must lie in the ball that the operator returns. Operands lie at
   corners, ties, poles, in flat and steep parts; radii reach from 0 to several times the value. The roundings that are
   declared are double's, the smallest that there are, so that they hide no error of the formulas.
   HALFULP_RADII_DRAWS says how many elements each operator gets. */
#include "t/judge/kernels/radii.h"

#include "t/judge/kernels/as_extended.inc"
#include "t/judge/kernels/exact_functions.inc"
#include "t/judge/kernels/as_mpfr.inc"
#include "t/judge/kernels/exact_functions.inc"

/* Every function of functions.def must have a reference of that name, or this file does not compile. */
static const struct function {
	const char *name;
	void (*exact)(mpfr_ptr y, mpfr_ptr x, double k);
	void (*quick)(extended_ptr y, extended_ptr x, double k);
} functions[] = {
#define FN(name, y, d, m2, own, summary) { #name, one_##name##_mpfr, one_##name##_extended },
#include "lib/judge/kernel/functions.def"
#undef FN
};

static const struct pair {
	const char *name;
	void (*exact)(mpfr_ptr y, mpfr_ptr x, mpfr_ptr z);
	void (*quick)(extended_ptr y, extended_ptr x, extended_ptr z);
} pairs[] = {
#define PAIR(name) { #name, two_##name##_mpfr, two_##name##_extended }
	PAIR(add), PAIR(sub), PAIR(mul), PAIR(div), PAIR(max), PAIR(min), PAIR(pow)
};

static void
functions_hold(size_t draws)
{
	static const double ks[] = { 1, 0.01, 0.5, 2, -2, -0.25, 1e-3 };
	hu_roundoffs a = { .u = 0x1p-53 };
	mpfr_t p, want;

	mpfr_inits2(BITS, p, want, (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		found f = { 0 };
		if (!is_wanted(functions[i].name))
			continue;
		for (size_t done = 0; done < draws; done += BATCH) {
			hu_balls x, y = { 0 };
			char keys[64];
			double k = ks[draw(7)];
			if (!strcmp(functions[i].name, "smooth_l1"))
				k = fabs(k);
			hu_balls_make(&x, 1, (size_t[]){ BATCH }, "x");
			for (size_t j = 0; j < BATCH; j++) {
				x.b[j].x = operand();
				x.b[j].r = radius(x.b[j].x);
			}
			snprintf(keys, sizeof keys, "k=%.17g fn=0 exp=0", k);
			compute(functions[i].name, keys, &a, 1, &x, &y);
			for (size_t j = 0; j < BATCH; j++) {
				extended_t s, about;
				if (is_boundless(&f, y.b[j]))
					continue;
				inside(s, x.b[j]);
				extended_open = 0;
				functions[i].quick(about, s, k);
				if (is_settled(y.b[j], about))
					continue;
				mpfr_set_ld(p, s->x, R);
				functions[i].exact(want, p, k);
				hold(&f, y.b[j], want, about, x.b[j], hu_ball_of(k));
			}
			hu_balls_release(&x);
			hu_balls_release(&y);
		}
		tell(&f, functions[i].name, "");
	}
	mpfr_clears(p, want, (mpfr_ptr)0);
}

static void
pairs_hold(size_t draws)
{
	hu_roundoffs a = { .u = 0x1p-53 };
	mpfr_t p, q, want;

	mpfr_inits2(BITS, p, q, want, (mpfr_ptr)0);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		found f = { 0 };
		if (!is_wanted(pairs[i].name))
			continue;
		for (size_t done = 0; done < draws; done += BATCH) {
			hu_balls x[2], y = { 0 };
			for (int k = 0; k < 2; k++) {
				hu_balls_make(&x[k], 1, (size_t[]){ BATCH }, "x");
				for (size_t j = 0; j < BATCH; j++) {
					x[k].b[j].x = k && draw(4) == 0 ? x[0].b[j].x * (draw(2) ? 1 : -1) : operand();
					x[k].b[j].r = k && !draw(3) ? 0 : radius(x[k].b[j].x);
				}
			}
			compute(pairs[i].name, "", &a, 2, x, &y);
			for (size_t j = 0; j < BATCH; j++) {
				extended_t s, t, about;
				if (is_boundless(&f, y.b[j]))
					continue;
				inside(s, x[0].b[j]);
				inside(t, x[1].b[j]);
				extended_open = 0;
				pairs[i].quick(about, s, t);
				if (is_settled(y.b[j], about))
					continue;
				mpfr_set_ld(p, s->x, R);
				mpfr_set_ld(q, t->x, R);
				pairs[i].exact(want, p, q);
				hold(&f, y.b[j], want, about, x[0].b[j], x[1].b[j]);
			}
			hu_balls_release(&x[0]);
			hu_balls_release(&x[1]);
			hu_balls_release(&y);
		}
		tell(&f, pairs[i].name, "");
	}
	mpfr_clears(p, q, want, (mpfr_ptr)0);
}

/* The end of a ball that double's sum rounds to a whole number, and that lies beyond it: a step is taken there. */
static void
steps_hold(void)
{
	static const char *const names[] = { "ceil", "floor", "round" };
	static const double at[] = { 709.9999999999967, -709.9999999999967, 708.4999999999967 };
	hu_roundoffs a = { .u = 0x1p-53 };

	for (int i = 0; i < 3; i++) {
		hu_balls x, y = { 0 };
		hu_balls_make(&x, 1, (size_t[]){ 1 }, "x");
		x.b[0] = (hu_ball){ at[i], 3.3226411533049039e-12, 0, 0 };
		compute(names[i], "", &a, 1, &x, &y);
		ok(y.b[0].r >= 1, "%s of a ball that reaches over a step: %g within %g", names[i], y.b[0].x, y.b[0].r);
		hu_balls_release(&x);
		hu_balls_release(&y);
	}
}

int
main(void)
{
	for (int i = 0; i < 3; i++)
		mpfr_init2(scratch_mpfr[i], BITS);
	functions_hold(draws_of(20000));
	pairs_hold(draws_of(20000));
	steps_hold();
	for (int i = 0; i < 3; i++)
		mpfr_clear(scratch_mpfr[i]);
	mpfr_free_cache();
	return done_testing();
}
