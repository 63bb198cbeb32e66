/* SPDX-License-Identifier: Apache-2.0
   gelu: y = x/2 (1 + erf(x / sqrt 2)); with approx=tanh
   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is then the function that is judged. */
#include "lib/op/element/pointwise.h"

#define ERF(S, T) out[0][i] = hu_gelu##S(c, in[0][i])
#define TANH(S, T) out[0][i] = hu_gelu_tanh##S(c, in[0][i])

/* erfc: 1 + erf would cancel */
static void
exact_erf(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_sqrt_ui(y, 2, MPFR_RNDN);
	mpfr_div(y, x[0], y, MPFR_RNDN);
	mpfr_neg(y, y, MPFR_RNDN);
	mpfr_erfc(y, y, MPFR_RNDN);
	mpfr_mul(y, y, x[0], MPFR_RNDN);
	mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}

/* (1 + tanh u) / 2 = 1 / (1 + exp(-2u)) */
static void
exact_tanh(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	mpfr_t t;

	(void)k;
	(void)out;
	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_sqr(t, x[0], MPFR_RNDN);
	mpfr_mul_ui(t, t, 44715, MPFR_RNDN);
	mpfr_div_ui(t, t, 1000000, MPFR_RNDN);
	mpfr_add_ui(t, t, 1, MPFR_RNDN);
	mpfr_mul(t, t, x[0], MPFR_RNDN);
	mpfr_const_pi(y, MPFR_RNDN);
	mpfr_ui_div(y, 8, y, MPFR_RNDN);
	mpfr_sqrt(y, y, MPFR_RNDN);
	mpfr_mul(t, t, y, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_add_ui(t, t, 1, MPFR_RNDN);
	mpfr_div(y, x[0], t, MPFR_RNDN);
	mpfr_clear(t);
}
HU_BLOCKS(by_erf, ERF, exact_erf)
HU_BLOCKS(by_tanh, TANH, exact_tanh)
HU_POINTWISE_OPERANDS(HU_EACH)

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (hu_approx_tanh(c) ? 9.0 : 5.0) * (double)hu_count(in[0]);
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_pointwise_map(m, &self, c, hu_approx_tanh(c) ? &by_tanh : &by_erf, in);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_approx_check(c));
	return hu_pointwise_shape(&self, c, in, out);
}

HU_MAP_FACES

static const hu_grad grad[] = {
	{ "gelu_dx", "i0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_gelu = {
	.name = "gelu", .summary = "Gaussian error linear unit", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = "approx", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT, .float32 = HU_FLOAT32_APEX,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
	.grad = grad,
};
