/* SPDX-License-Identifier: Apache-2.0
   maxpool: the largest element of each window (pool.h) in each channel. */
#include "lib/op/pool/pool.h"

#include "lib/base/hash.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/op/performed.h"

#include <math.h>
#include <string.h>

/* Computes one row of windows into the floats y, which hold all channels of a pixel together. */
static void
line(const hu_pool *p, const float *x, size_t n, size_t row, float *y)
{
	size_t r0, r1, c0, c1, seen = 0;

	hu_window_span(&p->row, row, &r0, &r1);
	for (size_t col = 0; col < p->col.out; col++, y += p->c) {
		hu_window_span(&p->col, col, &c0, &c1);
		for (size_t r = r0; r < r1; r += p->row.dilation)
			for (size_t k = c0; k < c1; k += p->col.dilation) {
				const float *v = x + ((n * p->row.n + r) * p->col.n + k) * p->c;
				seen += p->c;
				if (r == r0 && k == c0) {
					memcpy(y, v, p->c * sizeof *y);
					continue;
				}
				HU_SIMD
				for (size_t j = 0; j < p->c; j++)
					y[j] = ((v[j] > y[j]) | (v[j] != v[j])) ? v[j] : y[j];
			}
	}
	hu_performed_operations(seen);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stream stream = { env->seed, hu_fnv1a32(c->seed_name), env->step },
		  *random = hu_mode_draws(c->mode) ? &stream : NULL;
	int narrow = !hu_is_wide(in[0]->format) && !hu_is_wide(out[0]->format);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	size_t across = p.col.out * p.c;
#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t row = 0; row < p.n * p.row.out; row++) {
		if (narrow) {
			float *y = (float *)out[0]->data + row * across;
			line(&p, in[0]->data, row / p.row.out, row % p.row.out, y);
			hu_bulk_round(y, y, across, out[0]->format, c->mode, c->flags, random, row * across);
			continue;
		}
		for (size_t i = row * across; i < (row + 1) * across; i++)
			hu_store(c, env, out[0], i, hu_get(in[0], hu_pool_winner(&p, in[0], i)));
	}
	return HU_OK;
}

/* For certified inputs the largest value lies between the winner and the largest value that any element of the window
   may have. */
static hu_dd
largest(const hu_pool *p, hu_tensor *const *in, const hu_sink *sink, size_t o)
{
	size_t at = hu_pool_winner(p, in[0], o), r0, r1, c0, c1, n = o / p->c / p->col.out / p->row.out;
	hu_dd top = hu_operand_dd(sink, in, 0, at);

	if (!sink->low)
		return top;
	hu_window_span(&p->row, o / p->c / p->col.out % p->row.out, &r0, &r1);
	hu_window_span(&p->col, o / p->c % p->col.out, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			hu_dd x = hu_operand_dd(sink, in, 0, ((n * p->row.n + r) * p->col.n + k) * p->c + o % p->c),
			      d = hu_dd_sub(x, top);
			double above = d.h + fabs(d.l) + d.e;
			if (!(above <= top.e))
				top.e = above * (1 + 0x1p-48);
		}
	return top;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_pool_enclose(c, in, out, element, n, sink, largest);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_pool p;

	(void)out;
	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	for (size_t i = 0; i < n; i++) {
		mpfr_set_prec(exact[i], HU_EXACT_BITS);
		hu_exact_get(exact[i], in[0], hu_pool_winner(&p, in[0], element[i]));
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	for (size_t i = 0; i < n; i++) {
		hu_bounded x = { hu_get(in[0], hu_pool_winner(&p, in[0], element[i])), 0 };
		if (!hu_isfinite(x.v))
			x.e = hu_inf(0);
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), x);
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]));
	return hu_shape_settle(c, 0, out, hu_shape4(p.n, p.row.out, p.col.out, p.c));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_pool p;

	(void)out;
	k->flops = hu_pool_of(&p, c, in[0]) == HU_OK ? hu_pool_covered(&p) : 0;
}

static const hu_grad grad[] = {
	{ "maxpool_dx", "i0 o0 d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_maxpool = {
	.name = "maxpool", .summary = "largest element of each window", .min_in = 1, .max_in = 1, .nout = 1,
	.same = "=",
	.attrs = HU_POOL_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one,
	},
	.grad = grad,
};
