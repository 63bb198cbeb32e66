/* SPDX-License-Identifier: Apache-2.0
   dropout x, clock: y = x / (1 - p) where the element is kept, else 0, whatever x is. The mask is a function of the
   clock (seed, step), the attribute stream and the element's index, which counts from the attribute first on: word i
   mod 4 of Philox's block i div 4, and an element is kept where that is at least p 2^32. The gradient is the same call
   on dy. */
#include "lib/op/element/pointwise.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/scalars.h"

#include <stdlib.h>

/* Sets elements from to to-1 of the mask, which has one for each of x: 1 where it is kept, 0 elsewhere. */
static hu_status
draw(hu_tensor *mask, const hu_call *c, hu_tensor *const *in, size_t from, size_t to)
{
	hu_dropout d = hu_dropout_of(c, hu_get(in[1], 0), hu_get(in[1], 1));
	size_t n = in[0]->n, before = (size_t)(d.first % 4), first = (before + from) / 4, last = (before + to + 3) / 4;

	*mask = (hu_tensor){ .format = HU_FP32, .shape = in[0]->shape, .n = n };
	mask->data = hu_alloc((n + 1) * sizeof(float));
	if (!mask->data)
		return hu_fail(HU_ENOMEM, "no memory for a dropout mask of %zu elements", n);
	float *keep = mask->data;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (to - from > 16384)
	for (size_t b = first; b < last; b++) {
		hu_random r = hu_random_at(d.seed, d.stream, d.step, d.first / 4 + b);
		for (size_t j = 0; j < 4; j++)
			if (4 * b + j >= before + from && 4 * b + j < before + to)
				keep[4 * b + j - before] = r.w[j] >= d.least;
	}
	return HU_OK;
}

/* Sets up the map of the mask and x for elements from to to-1; the mask's data are the caller's to free. */
static hu_status
prepare(hu_map *m, hu_tensor *mask, const hu_call *c, hu_tensor *const *in, size_t from, size_t to)
{
	HU_TRY(draw(mask, c, in, from, to));
	hu_map_init(m, c, hu_formula_blocks(HU_FORMULA_dropout), in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, mask, HU_EACH);
	hu_map_add(m, in[0], HU_EACH);
	m->exact = c->op->pointwise->form[0].exact;
	m->nk = 1;
	m->k[0] = hu_dropout_factor(hu_attr_num(c, "p", 0));
	return HU_OK;
}

/* The same for the elements of a list, or the first n. */
static hu_status
prepare_list(hu_map *m, hu_tensor *mask, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n)
{
	size_t from = n ? (size_t)-1 : 0, to = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = element ? element[i] : i;
		from = at < from ? at : from;
		to = at >= to ? at + 1 : to;
	}
	return prepare(m, mask, c, in, from, to);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_tensor mask;
	hu_map m;

	HU_TRY(prepare(&m, &mask, c, in, 0, in[0]->n));
	hu_map_emulate(&m, out, 1, env);
	free(mask.data);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *y)
{
	hu_tensor mask;
	hu_map m;

	HU_TRY(prepare_list(&m, &mask, c, in, element, n));
	hu_status st = hu_map_reference(&m, out, element, n, y);
	free(mask.data);
	return st;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_tensor mask;
	hu_map m;

	HU_TRY(prepare_list(&m, &mask, c, in, element, n));
	hu_status st = hu_map_bound(&m, 1, out, c->fmt.out, element, n, b);
	free(mask.data);
	return st;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_tensor mask;
	hu_map m;

	HU_TRY(prepare_list(&m, &mask, c, in, element, n));
	hu_status st = hu_map_enclose(&m, &m, in, out, c->fmt.out, element, n, sink);
	free(mask.data);
	return st;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	double p = hu_attr_num(c, "p", 0), stream = hu_attr_num(c, "stream", 0), first = hu_attr_num(c, "first", 0);

	if (!(p >= 0 && p < 1))
		return hu_fail(HU_EINVAL, "dropout: p=%g; a probability below 1 is needed", p);
	if (hu_dropout_number(stream, 0x1p32) != stream || hu_dropout_number(first, 0x1p53) != first)
		return hu_fail(HU_EINVAL,
			"dropout: stream=%.17g first=%.17g; whole numbers below 2^32 and 2^53 are needed", stream,
			first);
	HU_TRY(hu_shape_length(c, 1, in[1], 2));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = c->op->pointwise->form[0].flops * (double)hu_count(in[0]);
}

/* The mask. */
static double
workspace(const hu_call *c, const hu_shape *in, int threads)
{
	(void)c;
	(void)threads;
	return (double)hu_count(in[0]) * sizeof(float);
}

static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)out;
	if (mpfr_zero_p(x[0]))
		mpfr_set_zero(y, 1);
	else
		mpfr_mul(y, x[1], k[0], MPFR_RNDN);
}

static const hu_grad grad[] = {
	{ "dropout", "d0 i1", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_dropout = {
	.name = "dropout", .summary = "sets elements drawn at random to 0 and scales the others", .min_in = 2,
	.max_in = 2, .nout = 1, .attrs = "p stream first", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one, .workspace = workspace,
	},
	.pointwise = &(hu_pointwise){ .form = { { HU_FORMULA_dropout, exact, 2 } }, .prepare = hu_pointwise_map },
	.grad = grad,
};
