/* SPDX-License-Identifier: Apache-2.0
   attention q, k, v, mask: y = softmax(factor q k' + mask) v for each matrix of queries, and the logarithm of the sum
   of exponentials of each query's scores; factor is 1 / sqrt of the queries' length unless given, mask is optional, and
   with causal=1 query i sees the keys up to i. Every repeat-th matrix of queries has the next keys and values. A
   library's kernel may round the weights to the operands' format before they are multiplied by v. With block=N it is
   computed in blocks of keys, as flash attention does (lib/op/contract/attention/flash.h). With stored=1 the sums of
   weights times values are rounded to the format of the result before they are divided by the sum of the weights
   (H. Qiu, Q. Yao, arXiv:2510.04212, whose training explodes by it). A third result is the quotient before it is
   rounded to that format, in the compute format; with unrounded=1 the gradients take dy y from it, which is one of
   their cures. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/op/contract/attention/fast.h"
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>

/* The weights p of one query, each operation rounded to the compute format, and what follows from them: sums y of the
   products with the values, the sum l of the weights, and the logarithm. */
static void
emulate_row(const hu_attention *a, hu_format f, size_t b, size_t i, double *p, double *y, double *l, double *lse)
{
	size_t q = (b * a->L + i) * a->E, k = b / a->repeat * a->S, whole = a->L * a->S;
	size_t m = a->mask < 0 ? 0 : (a->in[a->mask]->n == whole ? 0 : b * whole) + i * a->S;
	double top = -INFINITY, sum = 0;

	for (size_t j = 0; j < a->S; j++) {
		p[j] = 0;
		for (size_t d = 0; d < a->E; d++)
			p[j] = hu_rne(
				f, p[j] + hu_rne(f, hu_get(a->in[0], q + d) * hu_get(a->in[1], (k + j) * a->E + d)));
		p[j] = hu_rne(f, p[j] * hu_rne(f, a->factor));
		hu_performed_operations(2 * a->E);
		hu_performed_operations(1);
		if (a->mask >= 0) {
			p[j] = hu_rne(f, p[j] + hu_get(a->in[a->mask], m + j));
			hu_performed_operations(1);
		}
		if (a->causal && j > i)
			p[j] = -INFINITY;
		top = p[j] > top || p[j] != p[j] ? p[j] : top;
	}
	for (size_t j = 0; j < a->S; j++) {
		p[j] = hu_rne(f, hu_exp(hu_rne(f, p[j] - top)));
		sum = hu_rne(f, sum + p[j]);
		hu_performed_operations(3);
	}
	for (size_t d = 0; d < a->V; d++) {
		y[d] = 0;
		for (size_t j = 0; j < a->S; j++)
			y[d] = hu_rne(f, y[d] + hu_rne(f, p[j] * hu_get(a->in[2], (k + j) * a->V + d)));
		hu_performed_operations(2 * a->S);
		hu_performed_operations(1);
	}
	*l = sum;
	*lse = hu_rne(f, top + hu_rne(f, hu_log(sum)));
	hu_performed_operations(2);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_attention a = hu_attention_of(c, in, 0, NULL);
	hu_format f = hu_format_of(c->fmt.compute),
		  held = hu_attr_num(c, "stored", 0) != 0 ? hu_format_of(c->fmt.out) : f;
	double *p, l, lse;

	if (hu_flash_block(c))
		return hu_flash_run(c, in, out, env, 0);
	p = hu_xmalloc((a.S + a.V + 1) * sizeof *p);

	for (size_t at = 0; at < a.Q * a.L; at++) {
		emulate_row(&a, f, at / a.L, at % a.L, p, p + a.S, &l, &lse);
		for (size_t d = 0; d < a.V; d++)
			hu_store(c, env, out[0], at * a.V + d, hu_flash_quotient(f, held, p[a.S + d], l));
		for (size_t d = 0; d < a.V && c->nout > 2; d++)
			hu_store(c, env, out[2], at * a.V + d, hu_flash_quotient(f, f, p[a.S + d], l));
		if (c->nout > 1)
			hu_store(c, env, out[1], at, lse);
	}
	free(p);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_attention a = hu_attention_of(c, in, 0, NULL);
	size_t width = out == 1 ? 1 : a.V;
	mpfr_t t, x, sum, top;

	mpfr_inits2(HU_EXACT_BITS, t, x, sum, top, (mpfr_ptr)NULL);
	for (size_t k = 0; k < n; k++) {
		size_t at = element[k] / width, b = at / a.L, v = b / a.repeat * a.S * a.V + element[k] % width;
		mpfr_set_prec(exact[k], HU_EXACT_BITS);
		mpfr_set_zero(exact[k], 1);
		mpfr_set_zero(sum, 1);
		mpfr_set_inf(top, -1);
		for (size_t j = 0; j < a.S; j++) {
			hu_attention_exact_score(&a, b, at % a.L, j, t, x);
			mpfr_max(top, top, t, MPFR_RNDN);
		}
		for (size_t j = 0; j < a.S; j++) {
			hu_attention_exact_score(&a, b, at % a.L, j, t, x);
			mpfr_sub(t, t, top, MPFR_RNDN);
			mpfr_exp(t, t, MPFR_RNDN);
			mpfr_add(sum, sum, t, MPFR_RNDN);
			if (out == 1 || mpfr_zero_p(t))
				continue;
			hu_exact_get(x, in[2], v + j * a.V);
			mpfr_fma(exact[k], t, x, exact[k], MPFR_RNDN);
		}
		if (out == 1) {
			mpfr_log(sum, sum, MPFR_RNDN);
			mpfr_add(exact[k], top, sum, MPFR_RNDN);
		} else
			mpfr_div(exact[k], exact[k], sum, MPFR_RNDN);
	}
	mpfr_clears(t, x, sum, top, (mpfr_ptr)NULL);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	return hu_attention_bound(c, in, 0, hu_attention_forward, out, element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_attention_enclose(c, in, 0, out, element, n, sink);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_shape y = in[0], lse = in[0];

	HU_TRY(hu_attention_shape(c, in, 3));
	HU_TRY(hu_flash_check(c));
	if (hu_attr_num(c, "unrounded", 0) != 0 && c->nout < 3)
		return hu_fail(HU_EINVAL, "%s: with unrounded=1 the result before it is rounded is a third output",
			c->op->name);
	y.d[y.rank - 1] = hu_last(in[2]);
	lse.rank--;
	HU_TRY(hu_shape_settle(c, 0, out, y));
	HU_TRY(hu_shape_settle(c, 2, out, y));
	return hu_shape_settle(c, 1, out, lse);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	double rows = (double)(hu_count(in[0]) / hu_last(in[0])), scores = rows * (double)in[1].d[in[1].rank - 2];

	(void)out;
	if (hu_flash_block(c)) {
		k->flops = hu_flash_forward_operations(c, in);
		return;
	}
	double products = scores * (double)(hu_last(in[0]) + hu_last(in[2]));
	k->flops = 2 * products + scores * (c->nin > 3 ? 5 : 4) + rows * (double)(hu_last(in[2]) + 2);
}

static const hu_grad grad[] = {
	{ "attention_dx", "i0 i1 i2 o0 o1 d0 i3", "i0 i1 i2", NULL, "unrounded=0" },
	{ "attention_dx", "i0 i1 i2 o2 o1 d0 i3", "i0 i1 i2", NULL, "unrounded=1" },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_attention = {
	.name = "attention", .summary = "softmax of the products of queries and keys, times values", .min_in = 3,
	.max_in = 4, .nout = 3, .attrs = "factor causal block stored unrounded", .cls = HU_CLASS_NORM,
	.parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
	.grad = grad,
};
