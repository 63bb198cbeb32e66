/* SPDX-License-Identifier: Apache-2.0
   avgpool2d: the mean of each window (pool.h) in each channel: the sum of its elements by the fixed tree and one
   division by their number. With include_padding=1 the padding's elements count as zeros. order=1 adds one element
   after another, row by row, and order=2 each column from top to bottom and then the columns' sums, as ONNX Runtime
   does. */
#include "lib/op/pool/pool.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/count.h"
#include "lib/op/performed.h"
#include "lib/sum/step.h"

#include <stdlib.h>

/* An output's window: its elements at[n] of x, row by row in `columns` columns, and the number that their sum is
   divided by. */
typedef struct window {
	size_t n, columns, divisor, *at;
} window;

enum { TREE, ROWS, COLUMNS };

static int
order_of(const hu_call *c)
{
	return (int)hu_attr_num(c, "order", TREE);
}

static size_t
room(const hu_pool *p)
{
	size_t h = p->row.taps < p->row.n ? p->row.taps : p->row.n, w = p->col.taps < p->col.n ? p->col.taps : p->col.n;

	return h * w + 1;
}

static void
find(window *v, const hu_pool *p, const hu_call *c, size_t o)
{
	size_t channel = o % p->c, col = o / p->c % p->col.out, row = o / p->c / p->col.out % p->row.out,
	       n = o / p->c / p->col.out / p->row.out, r0, r1, c0, c1;

	hu_window_span(&p->row, row, &r0, &r1);
	hu_window_span(&p->col, col, &c0, &c1);
	v->n = 0;
	v->columns = c0 < c1 ? (c1 - c0 - 1) / p->col.dilation + 1 : 1;
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation)
			v->at[v->n++] = ((n * p->row.n + r) * p->col.n + k) * p->c + channel;
	v->divisor = hu_pool_divisor(p, row, col, hu_attr_num(c, "include_padding", 0) != 0);
}

/* a + b, which is counted where COUNT is not NULL; *run is the number of swamped additions in a row. */
static double
add(hu_format f, double a, double b, hu_swamp *count, uint64_t *run)
{
	double s = hu_rne(f, a + b);

	if (count && a != 0 && b != 0 && hu_isfinite(a) && hu_isfinite(b)) {
		int lost = hu_swamps(a, b, s);
		count->additions++;
		count->swamped += (uint64_t)lost;
		*run = lost ? *run + 1 : 0;
	}
	return s;
}

/* The sum of the window's terms in F row by row, or by columns. */
static double
sum_in_order(const window *v, hu_format f, int order, const double *terms, hu_swamp *count)
{
	size_t rows = order == COLUMNS ? v->n / v->columns : 1, columns = v->n / rows;
	uint64_t run = 0;
	double sum = 0;

	for (size_t k = 0; k < columns; k++) {
		double column = terms[k];
		for (size_t r = 1; r < rows; r++)
			column = add(f, column, terms[r * columns + k], count, &run);
		sum = k ? add(f, sum, column, count, &run) : column;
	}
	if (count) {
		count->outputs++;
		count->stagnated += run >= HU_STAGNANT_RUN;
	}
	return sum;
}

/* The emulated sum; terms has room for v->n floats and doubles. */
static double
sum_of(const window *v, const hu_tensor *x, hu_format f, int order, float *narrow, double *terms)
{
	hu_performed_operations(v->n);
	if (order != TREE) {
		for (size_t i = 0; i < v->n; i++)
			terms[i] = hu_rne(f, hu_get(x, v->at[i]));
		return sum_in_order(v, f, order, terms, NULL);
	}
	if (f.id == HU_FP32) {
		for (size_t i = 0; i < v->n; i++)
			narrow[i] = (float)hu_get(x, v->at[i]);
		return (double)hu_tree_f32(narrow, v->n, 1, f);
	}
	for (size_t i = 0; i < v->n; i++)
		terms[i] = hu_rne(f, hu_get(x, v->at[i]));
	return (f.id == HU_FP64 ? hu_tree_f64 : hu_tree_any)(terms, v->n, 1, f);
}

/* What a thread needs for one window after another. */
typedef struct work {
	window v;
	float *narrow;
	double *terms;
} work;

static work
work_new(const hu_pool *p)
{
	size_t n = room(p);
	work w = { { 0, 1, 0, hu_xmalloc(n * sizeof(size_t)) }, hu_xmalloc(n * sizeof(float)),
		hu_xmalloc(n * sizeof(double)) };

	return w;
}

static void
work_free(work *w)
{
	free(w->v.at);
	free(w->narrow);
	free(w->terms);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
#pragma omp parallel num_threads(hu_threads()) if (in[0]->n > 4096)
	{
		work w = work_new(&p);
#pragma omp for schedule(static)
		for (size_t o = 0; o < out[0]->n; o++) {
			find(&w.v, &p, c, o);
			double sum = sum_of(&w.v, in[0], f, order_of(c), w.narrow, w.terms);
			hu_store(c, env, out[0], o, hu_rne(f, sum / hu_rne(f, (double)w.v.divisor)));
		}
		work_free(&w);
	}
	hu_performed_operations(out[0]->n);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format f = hu_attr_bounded(c), in_order = f;
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	if (order_of(c) != TREE && !(in_order.library > 0))
		in_order.library = 1; /* a term meets at most as many roundings as there are terms */
	work w = work_new(&p);
	for (size_t i = 0; i < n; i++) {
		double all = 0, e = 0;
		find(&w.v, &p, c, element[i]);
		for (size_t j = 0; j < w.v.n; j++) {
			hu_bounded x = hu_bounded_load(f, hu_get(in[0], w.v.at[j]), 0);
			all += hu_abs(x.v);
			e += x.e;
		}
		hu_bounded s = { sum_of(&w.v, in[0], f, order_of(c), w.narrow, w.terms), 0 };
		s.e = hu_reduce_tree_error(in_order, s.v, all, e, w.v.n);
		s = hu_bounded_div(f, s, hu_bounded_load(f, (double)w.v.divisor, 0));
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), s);
	}
	work_free(&w);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd *all = hu_xmalloc((n + 1) * sizeof *all);
	hu_pool p;
	hu_status st = hu_pool_of(&p, c, in[0]->shape);

#pragma omp parallel num_threads(hu_threads()) if (n > 256)
	{
		work w = { { 0, 1, 0, NULL }, NULL, NULL };
		if (st == HU_OK)
			w = work_new(&p);
#pragma omp for schedule(static)
		for (size_t i = 0; i < (st == HU_OK ? n : 0); i++) {
			all[i] = hu_dd_of(0);
			find(&w.v, &p, c, element ? element[i] : i);
			for (size_t j = 0; j < w.v.n; j++)
				all[i] = hu_dd_add(all[i], hu_operand_dd(sink, in, 0, w.v.at[j]));
			all[i] = hu_dd_div(all[i], hu_dd_of((double)w.v.divisor));
		}
		work_free(&w);
	}
	if (st == HU_OK)
		st = hu_enclose_list(c, in, out, element, n, sink, all, NULL);
	free(all);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_pool p;

	(void)out;
	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	work w = work_new(&p);
	for (size_t i = 0; i < n; i++) {
		find(&w.v, &p, c, element[i]);
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_zero(exact[i], 1);
		for (size_t j = 0; j < w.v.n; j++)
			hu_map_exact_add(exact[i], in[0], w.v.at[j]);
		mpfr_div_ui(exact[i], exact[i], w.v.divisor, MPFR_RNDN);
	}
	work_free(&w);
	return HU_OK;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	hu_pool p;

	(void)out;
	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	work w = work_new(&p);
	for (size_t i = 0; i < n; i++) {
		find(&w.v, &p, c, element[i]);
		all[i] = 0;
		for (size_t j = 0; j < w.v.n; j++)
			all[i] += hu_abs(hu_get(in[0], w.v.at[j]));
		all[i] /= (double)w.v.divisor;
	}
	work_free(&w);
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_pool p;

	(void)out;
	(void)env;
	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	work w = work_new(&p);
	for (size_t i = 0; i < n; i++) {
		find(&w.v, &p, c, element[i]);
		for (size_t j = 0; j < w.v.n; j++)
			w.terms[j] = hu_rne(f, hu_get(in[0], w.v.at[j]));
		if (order_of(c) != TREE)
			sum_in_order(&w.v, f, order_of(c), w.terms, count);
		else
			hu_tree_swamping(f, w.terms, w.v.n, count);
	}
	work_free(&w);
	return HU_OK;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	hu_pool p;
	size_t n = hu_pool_of(&p, c, in[0]->shape) == HU_OK ? p.row.taps * p.col.taps : 1;

	/* 1: the division; in order a term meets a rounding for each other one, and in a tree fewer */
	return hu_reduce_roundings(
		c, in, out, n, order_of(c) == TREE ? 1 : n, hu_smallest(hu_format_of(c->fmt.compute)));
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_pool p;

	if (order_of(c) > COLUMNS)
		return hu_fail(HU_EINVAL, "avgpool2d: order=%d; it is 0, 1 or 2: a tree, row by row, or by columns",
			order_of(c));
	HU_TRY(hu_pool_of(&p, c, in[0]));
	return hu_shape_settle(c, 0, out, hu_shape4(p.n, p.row.out, p.col.out, p.c));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_pool p;

	k->flops = hu_pool_of(&p, c, in[0]) == HU_OK ? hu_pool_covered(&p) + (double)hu_count(out[0]) : 0;
}

static const hu_grad grad[] = {
	{ "avgpool2d_dx", "d0", "i0", "height=i0.1 width=i0.2", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_avgpool2d = {
	.name = "avgpool2d", .summary = "mean of each window", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_POOL_ATTRS " include_padding order", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one, .magnitude = magnitude, .roundings = roundings,
		.swamping = swamping,
	},
	.grad = grad,
};
