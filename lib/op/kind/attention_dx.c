/* SPDX-License-Identifier: Apache-2.0
   attention_dx q, k, v, y, lse, dy, mask: the gradients of attention's queries, keys and values from its results. With
   p = exp(factor q k' + mask - lse) and s = p (dy v' - sum(dy y)): dq = factor s k, dk = factor s' q, dv = p' dy. A
   library's kernel may round p and s to the operands' format before they are multiplied. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention/fast.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

/* The dot product of n elements of two operands, each operation rounded to the compute format. */
static double
dot(const hu_attention *a, hu_format f, int j, size_t x, int k, size_t y, size_t n)
{
	double sum = 0;

	for (size_t d = 0; d < n; d++)
		sum = hu_rne(f, sum + hu_rne(f, hu_get(a->in[j], x + d) * hu_get(a->in[k], y + d)));
	hu_performed_operations(2 * n);
	return sum;
}

/* Adds what query i of matrix b gives to dq, dk and dv. */
static void
emulate_row(const hu_attention *a, hu_format f, size_t b, size_t i, double *const *to)
{
	size_t at = b * a->L + i, key = b / a->repeat * a->S, whole = a->L * a->S;
	size_t m = a->mask < 0 ? 0 : (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S;
	double D = dot(a, f, a->dy, at * a->V, a->out, at * a->V, a->V), factor = hu_rne(f, a->factor);

	for (size_t j = 0; j < a->S && (!a->causal || j <= i); j++) {
		double t = hu_rne(f, dot(a, f, 0, at * a->E, 1, (key + j) * a->E, a->E) * factor), p, s;
		if (a->mask >= 0) {
			t = hu_rne(f, t + hu_get(a->in[a->mask], m + j));
			hu_performed_operations(1);
		}
		if (t == -INFINITY) /* a hidden key has no part in anything */
			continue;
		p = hu_rne(f, hu_exp(hu_rne(f, t - hu_get(a->in[a->lse], at))));
		s = hu_rne(f, dot(a, f, a->dy, at * a->V, 2, (key + j) * a->V, a->V) - D);
		s = hu_rne(f, hu_rne(f, p * s) * factor);
		hu_performed_operations(6);
		hu_performed_operations(4 * a->E + 2 * a->V);
		for (size_t d = 0; d < a->E; d++) {
			double *q = &to[0][at * a->E + d], *k = &to[1][(key + j) * a->E + d];
			*q = hu_rne(f, *q + hu_rne(f, s * hu_get(a->in[1], (key + j) * a->E + d)));
			*k = hu_rne(f, *k + hu_rne(f, s * hu_get(a->in[0], at * a->E + d)));
		}
		for (size_t d = 0; d < a->V; d++) {
			double *v = &to[2][(key + j) * a->V + d];
			*v = hu_rne(f, *v + hu_rne(f, p * hu_get(a->in[a->dy], at * a->V + d)));
		}
	}
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_attention a = hu_attention_of(c, in, 1, NULL);
	hu_format f = hu_format_of(c->fmt.compute);
	double *to[3];

	if (hu_flash_block(c))
		return hu_flash_run(c, in, out, env, 1);
	for (int k = 0; k < 3; k++)
		to[k] = hu_xcalloc(in[k]->n + 1, sizeof **to);
	for (size_t at = 0; at < a.Q * a.L; at++)
		emulate_row(&a, f, at / a.L, at % a.L, to);
	for (int k = 0; k < 3; k++) {
		for (size_t i = 0; k < c->nout && i < in[k]->n; i++)
			hu_store(c, env, out[k], i, to[k][i]);
		free(to[k]);
	}
	return HU_OK;
}

typedef struct exactly {
	mpfr_t t, x, p, s, D;
} exactly;

static void
exact_dot(const hu_attention *a, int j, size_t x, int k, size_t y, mpfr_t sum, exactly *e)
{
	mpfr_set_zero(sum, 1);
	for (size_t d = 0; d < a->V; d++) {
		hu_exact_get(e->x, a->in[j], x + d);
		hu_exact_get(e->p, a->in[k], y + d);
		mpfr_fma(sum, e->x, e->p, sum, MPFR_RNDN);
	}
}

/* Adds to y what query i and key j of matrix b give to component d of output out. */
static void
exact_term(const hu_attention *a, int out, size_t b, size_t i, size_t j, size_t d, mpfr_t y, exactly *e)
{
	size_t at = b * a->L + i, key = b / a->repeat * a->S + j;

	hu_attention_exact_score(a, b, i, j, e->t, e->x);
	if (mpfr_inf_p(e->t) && mpfr_sgn(e->t) < 0)
		return;
	hu_exact_get(e->x, a->in[a->lse], at);
	mpfr_sub(e->t, e->t, e->x, MPFR_RNDN);
	mpfr_exp(e->t, e->t, MPFR_RNDN);
	if (out < 2) {
		exact_dot(a, a->dy, at * a->V, 2, key * a->V, e->s, e);
		exact_dot(a, a->dy, at * a->V, a->out, at * a->V, e->D, e);
		mpfr_sub(e->s, e->s, e->D, MPFR_RNDN);
		mpfr_mul(e->t, e->t, e->s, MPFR_RNDN);
		mpfr_mul_d(e->t, e->t, a->factor, MPFR_RNDN);
	}
	hu_exact_get(e->x,
		a->in[out == 0     ? 1
			: out == 1 ? 0
				   : a->dy],
		out == 0 ? key * a->E + d : at * (out == 1 ? a->E : a->V) + d);
	mpfr_fma(y, e->t, e->x, y, MPFR_RNDN);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_attention a = hu_attention_of(c, in, 1, NULL);
	size_t width = out == 2 ? a.V : a.E;
	exactly e;

	mpfr_inits2(HU_EXACT_BITS, e.t, e.x, e.p, e.s, e.D, (mpfr_ptr)NULL);
	for (size_t k = 0; k < n; k++) {
		size_t at = element[k] / width, d = element[k] % width;
		mpfr_set_prec(exact[k], HU_EXACT_BITS);
		mpfr_set_zero(exact[k], 1);
		if (out == 0)
			for (size_t j = 0; j < a.S; j++)
				exact_term(&a, out, at / a.L, at % a.L, j, d, exact[k], &e);
		for (size_t b = 0; out && b < a.repeat; b++)
			for (size_t i = 0; i < a.L; i++)
				exact_term(&a, out, at / a.S * a.repeat + b, i, at % a.S, d, exact[k], &e);
	}
	mpfr_clears(e.t, e.x, e.p, e.s, e.D, (mpfr_ptr)NULL);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	return hu_attention_bound(c, in, 1, hu_attention_backward, out, element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_attention_enclose(c, in, 1, out, element, n, sink);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_shape y = in[0], lse = in[0];

	HU_TRY(hu_attention_shape(c, in, 6));
	HU_TRY(hu_flash_check(c));
	y.d[y.rank - 1] = hu_last(in[2]);
	lse.rank--;
	HU_TRY(hu_shape_expect(c, 3, in[3], y));
	HU_TRY(hu_shape_expect(c, 4, in[4], lse));
	HU_TRY(hu_shape_expect(c, 5, in[5], y));
	for (int k = 0; k < 3; k++)
		HU_TRY(hu_shape_settle(c, k, out, in[k]));
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	size_t rows = hu_count(in[0]) / hu_last(in[0]), L = in[0].d[in[0].rank - 2], S = in[1].d[in[1].rank - 2];
	size_t seen = L * S;

	(void)out;
	if (hu_flash_block(c)) {
		k->flops = hu_flash_backward_operations(c, in);
		return;
	}
	for (size_t i = 0; i < L && hu_attr_num(c, "causal", 0) != 0; i++)
		seen -= i + 1 < S ? S - i - 1 : 0;
	double pairs = (double)(rows / L) * (double)seen;
	double products = pairs * (3.0 * (double)hu_last(in[0]) + 2.0 * (double)hu_last(in[2])) +
			  (double)rows * (double)hu_last(in[2]);
	k->flops = 2 * products + pairs * (c->nin > 6 ? 7 : 6);
}

const hu_op hu_op_attention_dx = {
	.name = "attention_dx", .summary = "gradients of attention", .min_in = 6, .max_in = 7, .nout = 3,
	.attrs = "factor causal block", .cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT, .like = "-12",
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
};
