/* SPDX-License-Identifier: Apache-2.0
   softmax_xent: p = softmax of each row of logits, shifted by the row's maximum;
   loss = sum(w xent) / sum(w) with xent = log(sum exp) - logit of the label. */
#include "lib/op/reduce/reduce.h"
#include "lib/op/performed.h"

#include "lib/base/mem.h"

#include <stdlib.h>

#define TERM(S, T) out[0][i] = hu_exp_below##S(c, in[0][i], in[1][i])
#define SHARE(S, T) out[0][i] = hu_softmax##S(c, in[0][i], in[1][i], in[2][i])
#define LOSS(S, T) (out[0][i] = hu_xent##S(c, in[0][i], in[1][i], in[2][i], in[3][i]), out[1][i] = in[3][i])
#define MEAN(S, T) out[0][i] = hu_quotient##S(c, in[0][i], in[1][i])
HU_BLOCKS(term, TERM, NULL)
HU_BLOCKS(share, SHARE, NULL)
HU_BLOCKS(loss, LOSS, NULL)
HU_BLOCKS(mean, MEAN, NULL)

/* For each row: the largest logit, the sum of exponentials, the label's logit. */
typedef struct rows { hu_stat top, sum, chosen; } rows;

static double
largest(const hu_tensor *x, size_t first, size_t n)
{
	double top = hu_get(x, first);

	for (size_t i = first; i < first + n; i++) {
		double v = hu_get(x, i);
		if (v != v)
			return hu_nan();
		top = v > top ? v : top;
	}
	return top;
}

static rows
rows_new(const hu_call *c, hu_tensor *const *in, int with_errors)
{
	size_t C = hu_last(in[0]->shape), n = in[0]->n / C;
	rows r = { hu_stat_new(n, 0), hu_stat_new(n, with_errors), hu_stat_new(n, 0) };
	hu_format f = hu_format_of(c->fmt.compute);
	hu_map m;

	for (size_t i = 0; i < n; i++) {
		hu_put(&r.top.t, i, hu_rne(f, largest(in[0], i * C, C)));
		hu_put(&r.chosen.t, i, hu_get(in[0], i * C + (size_t)hu_get(in[1], i)));
	}
	hu_performed_operations(n * C);
	hu_map_init(&m, c, &term, in[0]->n, C);
	hu_map_add(&m, in[0], HU_EACH);
	hu_map_add_stat(&m, &r.top, HU_ROW);
	hu_sum_rows(&m, &r.sum, 1);
	return r;
}

static void
rows_free(rows *r)
{
	hu_stat_free(&r->top);
	hu_stat_free(&r->sum);
	hu_stat_free(&r->chosen);
}

static void
prepare_share(hu_map *m, const hu_call *c, hu_tensor *const *in, const rows *r)
{
	hu_map_init(m, c, &share, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add_stat(m, &r->top, HU_ROW);
	hu_map_add_stat(m, &r->sum, HU_ROW);
}

static hu_stat
total(const hu_call *c, hu_tensor *const *in, const rows *r, int with_errors)
{
	hu_stat sums[2] = { hu_stat_new(1, with_errors), hu_stat_new(1, with_errors) },
		all = hu_stat_new(1, with_errors);
	hu_map m;

	hu_map_init(&m, c, &loss, r->top.t.n, 1);
	hu_map_add_stat(&m, &r->chosen, HU_EACH);
	hu_map_add_stat(&m, &r->top, HU_EACH);
	hu_map_add_stat(&m, &r->sum, HU_EACH);
	hu_map_add(&m, in[2], HU_EACH);
	hu_sum_columns(&m, sums, 2);
	hu_map_init(&m, c, &mean, 1, 1);
	hu_map_add_stat(&m, &sums[0], HU_EACH);
	hu_map_add_stat(&m, &sums[1], HU_EACH);
	hu_map_stat(&m, &all, 1);
	hu_stat_free(&sums[0]);
	hu_stat_free(&sums[1]);
	return all;
}

static hu_status
check_labels(const hu_tensor *labels, size_t classes)
{
	for (size_t i = 0; i < labels->n; i++) {
		double l = hu_get(labels, i);
		if (!(l >= 0 && l < (double)classes && l == (double)(size_t)l))
			return hu_fail(HU_EINVAL, "softmax_xent: label %g of row %zu is not one of %zu classes", l, i,
				classes);
	}
	return HU_OK;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	HU_TRY(check_labels(in[1], hu_last(in[0]->shape)));
	rows r = rows_new(c, in, 0);
	hu_stat all = total(c, in, &r, 0);
	hu_map m;

	hu_stat_store(c, env, &all, out[0]);
	if (c->nout > 1) {
		prepare_share(&m, c, in, &r);
		hu_map_emulate(&m, &out[1], 1, env);
	}
	hu_stat_free(&all);
	rows_free(&r);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	HU_TRY(check_labels(in[1], hu_last(in[0]->shape)));
	rows r = rows_new(c, in, 1);
	hu_map m;

	if (out == 0) {
		hu_stat all = total(c, in, &r, 1);
		hu_stat_bound(c, c->fmt.out, &all, element, n, b);
		hu_stat_free(&all);
	} else {
		prepare_share(&m, c, in, &r);
		hu_map_bound(&m, 1, 0, hu_output_format(c, in, out), element, n, b);
	}
	rows_free(&r);
	return HU_OK;
}

/* The same for each row as certified values. top may be any number near the largest logit, because the exact result
   does not depend on it. */
typedef struct exact_rows { hu_memo m; hu_stat_dd top, sum, chosen; rows run; int bounds; } exact_rows;

static void
release(hu_memo *m)
{
	exact_rows *e = (exact_rows *)m;

	hu_stat_dd_release(&e->top);
	hu_stat_dd_release(&e->sum);
	hu_stat_dd_release(&e->chosen);
	if (e->bounds)
		rows_free(&e->run);
	free(e);
}

static exact_rows *
remember(const hu_call *c, hu_tensor *const *in, hu_sink *sink)
{
	size_t C = hu_last(in[0]->shape), n = in[0]->n / C;
	hu_map m;

	if (sink->memo)
		return (exact_rows *)sink->memo;
	exact_rows *e = hu_xcalloc(1, sizeof *e);
	e->m.release = release;
	hu_stat_dd_init(&e->top, n);
	hu_stat_dd_init(&e->sum, n);
	hu_stat_dd_init(&e->chosen, n);
	for (size_t i = 0; i < n; i++) {
		hu_stat_dd_put(&e->top, i, hu_dd_of(largest(in[0], i * C, C)));
		hu_stat_dd_put(&e->chosen, i, hu_operand_dd(sink, in, 0, i * C + (size_t)hu_get(in[1], i)));
	}
	hu_map_init(&m, c, &term, in[0]->n, C);
	hu_map_add(&m, in[0], HU_EACH);
	hu_map_add_dd(&m, &e->top, HU_ROW);
	hu_sum_rows_dd(&m, in, sink, &e->sum, 1);
	if ((e->bounds = sink->bounds) != 0)
		e->run = rows_new(c, in, 1);
	sink->memo = &e->m;
	return e;
}

static hu_status
enclose_loss(const hu_call *c, hu_tensor *const *in, exact_rows *e, const size_t *element, size_t n, hu_sink *sink)
{
	hu_stat_dd sum[2], all;
	hu_stat run = { .e = NULL };
	hu_map m;

	for (int k = 0; k < 2; k++)
		hu_stat_dd_init(&sum[k], 1);
	hu_stat_dd_init(&all, 1);
	hu_map_init(&m, c, &loss, e->top.t.n, 1);
	hu_map_add_dd(&m, &e->chosen, HU_EACH);
	hu_map_add_dd(&m, &e->top, HU_EACH);
	hu_map_add_dd(&m, &e->sum, HU_EACH);
	hu_map_add(&m, in[2], HU_EACH);
	hu_sum_columns_dd(&m, in, sink, sum, 2);
	hu_map_init(&m, c, &mean, 1, 1);
	hu_map_add_dd(&m, &sum[0], HU_EACH);
	hu_map_add_dd(&m, &sum[1], HU_EACH);
	hu_map_stat_dd(&m, in, sink, &all, 1);
	if (e->bounds)
		run = total(c, in, &e->run, 1);
	hu_status st = hu_stat_enclose(c, in, 0, c->fmt.out, &all, e->bounds ? &run : NULL, element, n, sink);
	if (e->bounds)
		hu_stat_free(&run);
	for (int k = 0; k < 2; k++)
		hu_stat_dd_release(&sum[k]);
	hu_stat_dd_release(&all);
	return st;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_map exact, bounded;

	HU_TRY(check_labels(in[1], hu_last(in[0]->shape)));
	exact_rows *e = remember(c, in, sink);
	if (out == 0)
		return enclose_loss(c, in, e, element, n, sink);
	if (e->bounds)
		prepare_share(&bounded, c, in, &e->run);
	hu_map_init(&exact, c, &share, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(&exact, in[0], HU_EACH);
	hu_map_add_dd(&exact, &e->top, HU_ROW);
	hu_map_add_dd(&exact, &e->sum, HU_ROW);
	return hu_map_enclose(&exact, &bounded, in, 0, hu_output_format(c, in, out), element, n, sink);
}

/* y = a + b, rounded to odd: an addend too small to affect the other bits still sets the last one. Beside a double, the
   exponential of a large negative number may be smaller than any number of bits can hold. y has more bits than a
   double. */
static void
add(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
	if (mpfr_add(y, a, b, MPFR_RNDZ) == 0 || !mpfr_regular_p(y) || mpfr_min_prec(y) == mpfr_get_prec(y))
		return;
	if (mpfr_signbit(y))
		mpfr_nextbelow(y);
	else
		mpfr_nextabove(y);
}

/* Sums exp(x - top) over all elements but the (first) largest; top gets its value. If only trailing parts tell which is
   larger, any of them will do, because the result is the same. */
static void
others(const hu_tensor *x, size_t first, size_t n, mpfr_t top, mpfr_t sum)
{
	double most = largest(x, first, n);
	int seen = 0;
	mpfr_t t;

	mpfr_set_d(top, most, MPFR_RNDN);
	for (size_t i = first; i < first + n && !seen; i++)
		if ((seen = hu_get(x, i) == most) != 0)
			hu_exact_get(top, x, i);
	seen = 0;
	mpfr_init2(t, HU_EXACT_BITS);
	mpfr_set_zero(sum, 1);
	for (size_t i = first; i < first + n; i++) {
		double v = hu_get(x, i);
		if (v == most && !seen) {
			seen = 1;
			if (hu_isfinite(v))
				continue;
		}
		hu_exact_get(t, x, i);
		mpfr_sub(t, t, top, MPFR_RNDN);
		mpfr_exp(t, t, MPFR_RNDN);
		mpfr_add(sum, sum, t, MPFR_RNDN);
	}
	mpfr_clear(t);
}

static void
reference_loss(hu_tensor *const *in, mpfr_t y)
{
	size_t C = hu_last(in[0]->shape);
	mpfr_t sum, t, weight, x;

	mpfr_inits2(HU_EXACT_BITS, sum, t, weight, x, (mpfr_ptr)NULL);
	mpfr_set_zero(y, 1);
	mpfr_set_zero(weight, 1);
	for (size_t i = 0; i < in[1]->n; i++) {
		others(in[0], i * C, C, t, sum);
		mpfr_log1p(sum, sum, MPFR_RNDN);
		hu_exact_get(x, in[0], i * C + (size_t)hu_get(in[1], i));
		mpfr_sub(t, t, x, MPFR_RNDN);
		add(t, t, sum);
		hu_exact_get(x, in[2], i);
		mpfr_mul(t, t, x, MPFR_RNDN);
		add(y, y, t);
		hu_exact_add(weight, in[2], i);
	}
	mpfr_div(y, y, weight, MPFR_RNDN);
	mpfr_clears(sum, t, weight, x, (mpfr_ptr)NULL);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape), row = (size_t)-1;
	mpfr_t sum, top, one;

	(void)c;
	HU_TRY(check_labels(in[1], C));
	mpfr_inits2(HU_EXACT_BITS, sum, top, one, (mpfr_ptr)NULL);
	mpfr_set_ui(one, 1, MPFR_RNDN);
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		if (out == 0) {
			reference_loss(in, exact[i]);
			continue;
		}
		if (element[i] / C != row) {
			row = element[i] / C;
			others(in[0], row * C, C, top, sum);
			add(sum, sum, one);
		}
		hu_exact_get(exact[i], in[0], element[i]);
		mpfr_sub(exact[i], exact[i], top, MPFR_RNDN);
		mpfr_exp(exact[i], exact[i], MPFR_RNDN);
		mpfr_div(exact[i], exact[i], sum, MPFR_RNDN);
	}
	mpfr_clears(sum, top, one, (mpfr_ptr)NULL);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank != 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "softmax_xent: the logits must have rank 2, rows by classes");
	HU_TRY(hu_shape_length(c, 1, in[1], in[0].d[0]));
	HU_TRY(hu_shape_length(c, 2, in[2], in[0].d[0]));
	HU_TRY(hu_shape_settle(c, 0, out, hu_shape0()));
	return hu_shape_settle(c, 1, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	/* Counts the largest logit, the sum of exponentials of the distances to it, and the probabilities if they are
	   wanted. */
	k->flops = (c->nout > 1 ? 7.0 : 4.0) * (double)hu_count(in[0]) +
		   6.0 * (double)(hu_count(in[0]) / hu_last(in[0])) + 1;
}

static const hu_grad grad[] = {
	{ "softmax_xent_dx", "o1 i1 i2 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_softmax_xent = {
	.name = "softmax_xent", .summary = "softmax and weighted mean cross-entropy", .min_in = 3, .max_in = 3,
	.nout = 2, .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
	.grad = grad,
};
