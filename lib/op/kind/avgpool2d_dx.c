/* SPDX-License-Identifier: Apache-2.0
   avgpool2d_dx: each window divides its gradient by the number that its mean divided by and passes the quotient to its
   elements. An element adds the quotients of the windows that cover it to +0 in the windows' order. */
#include "lib/op/pool/pool.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/performed.h"

#include <stdlib.h>

static hu_status
image_of(hu_pool *p, const hu_call *c, hu_shape dy)
{
	size_t height = hu_attr_count(c, "height", 0), width = hu_attr_count(c, "width", 0);

	if (dy.rank != 4 || !height || !width)
		return hu_fail(HU_EINVAL,
			"avgpool2d_dx: the gradient must have rank 4, and height and width of the image must be set");
	return hu_pool_of(p, c, hu_shape4(dy.d[0], height, width, dy.d[3]));
}

/* The next window that covers element i, in order, with what it divides by; a walk begins with { 0 }. Returns 0 at the
   end. */
typedef struct walk { size_t began, r0, r1, c0, c1, r, k, window, divisor; } walk;

static int
next(walk *w, const hu_pool *p, const hu_call *c, size_t i)
{
	size_t col = i / p->c % p->col.n, row = i / p->c / p->col.n % p->row.n, n = i / p->c / p->col.n / p->row.n;

	if (!w->began) {
		hu_window_covering(&p->row, row, &w->r0, &w->r1);
		hu_window_covering(&p->col, col, &w->c0, &w->c1);
		w->r = w->r0;
		w->k = w->c0;
		w->began = 1;
	} else {
		w->k++;
	}
	for (; w->r < w->r1; w->r++, w->k = w->c0)
		for (; w->k < w->c1; w->k++)
			if (hu_window_meets(&p->row, w->r, row) && hu_window_meets(&p->col, w->k, col)) {
				w->window = ((n * p->row.out + w->r) * p->col.out + w->k) * p->c + i % p->c;
				w->divisor = hu_pool_divisor(
					p, w->r, w->k, hu_attr_num(c, "include_padding", 0) != 0);
				return 1;
			}
	return 0;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_pool p;

	HU_TRY(image_of(&p, c, in[0]->shape));
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (out[0]->n > 4096)
	for (size_t i = 0; i < out[0]->n; i++) {
		walk w = { 0 };
		double sum = 0;
		while (next(&w, &p, c, i)) {
			double dy = hu_rne(f, hu_get(in[0], w.window)), by = hu_rne(f, (double)w.divisor);
			sum = hu_rne(f, sum + hu_rne(f, dy / by));
			hu_performed_operations(2);
		}
		hu_store(c, env, out[0], i, sum);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format f = hu_attr_bounded(c);
	hu_pool p;

	HU_TRY(image_of(&p, c, in[0]->shape));
	for (size_t i = 0; i < n; i++) {
		walk w = { 0 };
		hu_bounded sum = { 0, 0 };
		while (next(&w, &p, c, element[i]))
			sum = hu_bounded_add(f, sum,
				hu_bounded_div(f, hu_bounded_load(f, hu_get(in[0], w.window), 0),
					hu_bounded_load(f, (double)w.divisor, 0)));
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), sum);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_pool p;

	HU_TRY(image_of(&p, c, in[0]->shape));
	hu_dd *all = hu_xmalloc((n + 1) * sizeof *all);
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 1024)
	for (size_t i = 0; i < n; i++) {
		walk w = { 0 };
		all[i] = hu_dd_of(0);
		while (next(&w, &p, c, element ? element[i] : i))
			all[i] = hu_dd_add(all[i],
				hu_dd_div(hu_operand_dd(sink, in, 0, w.window), hu_dd_of((double)w.divisor)));
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, all, NULL);
	free(all);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_pool p;
	mpfr_t t;

	(void)out;
	HU_TRY(image_of(&p, c, in[0]->shape));
	mpfr_init2(t, hu_sum_bits(in[0]));
	for (size_t i = 0; i < n; i++) {
		walk w = { 0 };
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set_zero(exact[i], 1);
		while (next(&w, &p, c, element[i])) {
			hu_exact_get(t, in[0], w.window);
			mpfr_div_ui(t, t, w.divisor, MPFR_RNDN);
			mpfr_add(exact[i], exact[i], t, MPFR_RNDN);
		}
	}
	mpfr_clear(t);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_pool p;

	HU_TRY(image_of(&p, c, in[0]));
	HU_TRY(hu_shape_expect(c, 0, in[0], hu_shape4(p.n, p.row.out, p.col.out, p.c)));
	return hu_shape_settle(c, 0, out, hu_shape4(p.n, p.row.n, p.col.n, p.c));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_pool p;

	(void)out;
	k->flops = image_of(&p, c, in[0]) == HU_OK ? 2 * hu_pool_covered(&p) : 0;
}

const hu_op hu_op_avgpool2d_dx = {
	.name = "avgpool2d_dx", .summary = "gradient of avgpool2d", .min_in = 1, .max_in = 1, .nout = 1,
	.attrs = HU_POOL_ATTRS " include_padding order height width", .cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one,
	},
};
