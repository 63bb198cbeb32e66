/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's operators against MPFR: an operand is a ball, the true operand any number of it, and the
   result that MPFR computes of that one, in 400 bits, must lie in the ball that the operator returns. Operands lie at
   corners, ties, poles, in flat and steep parts; radii reach from 0 to several times the value. The roundings that are
   declared are double's, the smallest that there are, so that they hide no error of the formulas.
   HALFULP_RADII_DRAWS says how many elements each operator gets. */
#include "t/judge/kernels/radii.h"

static mpfr_t A, B, C; /* of the references */

#define ONE(name) static void one_##name(mpfr_t y, mpfr_t x, double k)
ONE(exp)
{
	(void)k;
	mpfr_exp(y, x, R);
}
ONE(exp2)
{
	(void)k;
	mpfr_exp2(y, x, R);
}
ONE(log)
{
	(void)k;
	mpfr_log(y, x, R);
}
ONE(sqrt)
{
	(void)k;
	mpfr_sqrt(y, x, R);
}
ONE(rsqrt)
{
	(void)k;
	mpfr_rec_sqrt(y, x, R);
}
ONE(reciprocal)
{
	(void)k;
	mpfr_ui_div(y, 1, x, R);
}
ONE(square)
{
	(void)k;
	mpfr_sqr(y, x, R);
}
ONE(tanh)
{
	(void)k;
	mpfr_tanh(y, x, R);
}
ONE(erf)
{
	(void)k;
	mpfr_erf(y, x, R);
}
ONE(sin)
{
	(void)k;
	mpfr_sin(y, x, R);
}
ONE(cos)
{
	(void)k;
	mpfr_cos(y, x, R);
}
ONE(abs)
{
	(void)k;
	mpfr_abs(y, x, R);
}
ONE(neg)
{
	(void)k;
	mpfr_neg(y, x, R);
}
ONE(sign)
{
	(void)k;
	mpfr_set_si(y, mpfr_sgn(x), R);
}
ONE(floor)
{
	(void)k;
	mpfr_floor(y, x);
}

ONE(ceil)
{
	(void)k;
	mpfr_ceil(y, x);
}

ONE(round)
{
	(void)k;
	mpfr_roundeven(y, x);
}

ONE(log1p)
{
	(void)k;
	mpfr_log1p(y, x, R);
}

ONE(expm1)
{
	(void)k;
	mpfr_expm1(y, x, R);
}

ONE(scale)
{
	mpfr_mul_d(y, x, k, R);
}
ONE(shift)
{
	mpfr_add_d(y, x, k, R);
}

ONE(relu)
{
	(void)k;
	mpfr_set_zero(A, 1);
	mpfr_max(y, x, A, R);
}

ONE(clip_below)
{
	mpfr_set_d(A, k, R);
	mpfr_max(y, x, A, R);
}

ONE(sigmoid)
{
	(void)k;
	mpfr_neg(A, x, R);
	mpfr_exp(A, A, R);
	mpfr_add_ui(A, A, 1, R);
	mpfr_ui_div(y, 1, A, R);
}

ONE(silu)
{
	one_sigmoid(C, x, k);
	mpfr_mul(y, C, x, R);
}

ONE(softplus)
{
	(void)k;
	mpfr_exp(A, x, R);
	mpfr_log1p(y, A, R);
}

ONE(mish)
{
	one_softplus(C, x, k);
	mpfr_tanh(C, C, R);
	mpfr_mul(y, C, x, R);
}

ONE(gelu)
{
	(void)k;
	mpfr_set_ui(A, 2, R);
	mpfr_rec_sqrt(A, A, R);
	mpfr_mul(A, A, x, R);
	mpfr_neg(A, A, R);
	mpfr_erfc(A, A, R);
	mpfr_mul(A, A, x, R);
	mpfr_div_2ui(y, A, 1, R);
}

/* 0.044715 and sqrt(2/pi) are the doubles that kernels write. */
ONE(gelu_tanh)
{
	(void)k;
	mpfr_sqr(A, x, R);
	mpfr_mul(A, A, x, R);
	mpfr_mul_d(A, A, 0.044715, R);
	mpfr_add(A, A, x, R);
	mpfr_mul_d(A, A, 0.7978845608028654, R);
	mpfr_tanh(A, A, R);
	mpfr_add_ui(A, A, 1, R);
	mpfr_mul(A, A, x, R);
	mpfr_div_2ui(y, A, 1, R);
}

ONE(leaky_relu)
{
	if (mpfr_sgn(x) > 0)
		mpfr_set(y, x, R);
	else
		mpfr_mul_d(y, x, k, R);
}

ONE(elu)
{
	if (mpfr_sgn(x) > 0) {
		mpfr_set(y, x, R);
		return;
	}
	mpfr_expm1(y, x, R);
	mpfr_mul_d(y, y, k, R);
}

ONE(selu)
{
	(void)k;
	one_elu(y, x, mpfr_sgn(x) > 0 ? 1 : 1.6732632423543772848170429916717);
	mpfr_mul_d(y, y, 1.0507009873554804934193349852946, R);
}

ONE(softsign)
{
	(void)k;
	mpfr_abs(A, x, R);
	mpfr_add_ui(A, A, 1, R);
	mpfr_div(y, x, A, R);
}

/* x between low and high. */
static void
clipped(mpfr_t y, mpfr_t x, double low, double high)
{
	mpfr_set_d(A, low, R);
	mpfr_max(y, x, A, R);
	mpfr_set_d(A, high, R);
	mpfr_min(y, y, A, R);
}

ONE(hardtanh)
{
	(void)k;
	clipped(y, x, -1, 1);
}

ONE(hardsigmoid)
{
	(void)k;
	mpfr_div_ui(B, x, 6, R);
	mpfr_add_d(B, B, 0.5, R);
	clipped(y, B, 0, 1);
}

ONE(hardswish)
{
	one_hardsigmoid(C, x, k);
	mpfr_mul(y, C, x, R);
}

ONE(smooth_l1)
{
	mpfr_abs(A, x, R);
	if (mpfr_cmp_d(A, k) < 0) {
		mpfr_sqr(A, A, R);
		mpfr_div_2ui(A, A, 1, R);
		mpfr_div_d(y, A, k, R);
		return;
	}
	mpfr_set_d(B, k, R);
	mpfr_div_2ui(B, B, 1, R);
	mpfr_sub(y, A, B, R);
}

/* Every function of functions.def must have a reference of that name here, or this file does not compile. */
static const struct function {
	const char *name;
	void (*exact)(mpfr_t y, mpfr_t x, double k);
} functions[] = {
#define FN(name, y, d, m2, own, summary) { #name, one_##name },
#include "lib/judge/kernel/functions.def"
#undef FN
};

#define TWO(name) static void two_##name(mpfr_t y, mpfr_t x, mpfr_t z)
TWO(add)
{
	mpfr_add(y, x, z, R);
}
TWO(sub)
{
	mpfr_sub(y, x, z, R);
}
TWO(mul)
{
	mpfr_mul(y, x, z, R);
}
TWO(div)
{
	mpfr_div(y, x, z, R);
}
TWO(max)
{
	mpfr_max(y, x, z, R);
}
TWO(min)
{
	mpfr_min(y, x, z, R);
}
TWO(pow)
{
	mpfr_pow(y, x, z, R);
}

static const struct pair {
	const char *name;
	void (*exact)(mpfr_t y, mpfr_t x, mpfr_t z);
} pairs[] = { { "add", two_add }, { "sub", two_sub }, { "mul", two_mul }, { "div", two_div }, { "max", two_max },
	{ "min", two_min }, { "pow", two_pow } };

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
				inside(p, x.b[j]);
				functions[i].exact(want, p, k);
				hold(&f, y.b[j], want, x.b[j], hu_ball_of(k));
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
					x[k].b[j].r = radius(x[k].b[j].x);
				}
			}
			compute(pairs[i].name, "", &a, 2, x, &y);
			for (size_t j = 0; j < BATCH; j++) {
				inside(p, x[0].b[j]);
				inside(q, x[1].b[j]);
				pairs[i].exact(want, p, q);
				hold(&f, y.b[j], want, x[0].b[j], x[1].b[j]);
			}
			hu_balls_release(&x[0]);
			hu_balls_release(&x[1]);
			hu_balls_release(&y);
		}
		tell(&f, pairs[i].name, "");
	}
	mpfr_clears(p, q, want, (mpfr_ptr)0);
}

int
main(void)
{
	const char *s = getenv("HALFULP_RADII_DRAWS");
	size_t draws = s ? strtoul(s, NULL, 10) : 20000;

	mpfr_inits2(BITS, A, B, C, (mpfr_ptr)0);
	functions_hold(draws);
	pairs_hold(draws);
	mpfr_clears(A, B, C, (mpfr_ptr)0);
	mpfr_free_cache();
	return done_testing();
}
