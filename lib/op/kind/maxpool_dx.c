/* SPDX-License-Identifier: Apache-2.0
   maxpool_dx: each window passes its gradient to its largest element (pool.h). An element that wins several windows
   adds their gradients to +0 in the windows' order. */
#include "lib/op/pool/pool.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/op/performed.h"

#include <math.h>
#include <stdlib.h>

/* The windows whose gradients element i receives, in order; to has room for all windows of a pixel. */
static size_t
received(const hu_pool *p, hu_tensor *const *in, size_t i, size_t *to)
{
	size_t c = i % p->c, col = i / p->c % p->col.n, row = i / p->c / p->col.n % p->row.n,
	       n = i / p->c / p->col.n / p->row.n;
	size_t r0, r1, c0, c1, k = 0;

	hu_window_covering(&p->row, row, &r0, &r1);
	hu_window_covering(&p->col, col, &c0, &c1);
	for (size_t r = r0; r < r1; r++)
		for (size_t j = c0; j < c1; j++) {
			size_t o = ((n * p->row.out + r) * p->col.out + j) * p->c + c;
			if (hu_pool_winner(p, in[0], o) == i)
				to[k++] = o;
		}
	return k;
}

static size_t
along(const hu_conv_axis *a)
{
	size_t most = ((a->taps - 1) * a->dilation + a->stride) / a->stride + 1;

	return most < a->out ? most : a->out;
}

static size_t
room(const hu_pool *p)
{
	return along(&p->row) * along(&p->col) + 1;
}

/* Finds the winning pixel of each channel in the window that begins at pixel (r0, c0) of image n. Returns how many
   elements were compared. */
static size_t
winners(const hu_pool *p, const float *x, size_t n, const size_t *span, float *top, uint32_t *at)
{
	size_t seen = 0;

	for (size_t r = span[0]; r < span[1]; r += p->row.dilation)
		for (size_t k = span[2]; k < span[3]; k += p->col.dilation) {
			uint32_t pixel = (uint32_t)(r * p->col.n + k);
			const float *v = x + ((n * p->row.n) * p->col.n + pixel) * p->c;
			int first = r == span[0] && k == span[2];
			seen += p->c;
			HU_SIMD
			for (size_t c = 0; c < p->c; c++) {
				int take = first | (v[c] > top[c]) | ((v[c] != v[c]) & (top[c] == top[c]));
				top[c] = take ? v[c] : top[c];
				at[c] = take ? pixel : at[c];
			}
		}
	return seen;
}

/* Image n: windows add to sum in order, which is the order that received() gives for each element. */
static void
image(const hu_pool *p, hu_tensor *const *in, hu_format f, size_t n, double *sum)
{
	size_t each = p->row.n * p->col.n * p->c, windows = p->row.out * p->col.out;
	float *top = hu_xmalloc(p->c * sizeof *top);
	uint32_t *at = hu_xmalloc(p->c * sizeof *at);
	size_t seen = windows * p->c; /* additions, and the comparisons that find the winners */

	for (size_t i = 0; i < each; i++)
		sum[i] = 0;
	for (size_t o = 0; o < windows; o++) {
		size_t span[4], from = (n * windows + o) * p->c;
		hu_window_span(&p->row, o / p->col.out, &span[0], &span[1]);
		hu_window_span(&p->col, o % p->col.out, &span[2], &span[3]);
		if (!hu_is_wide(in[0]->format))
			seen += winners(p, in[0]->data, n, span, top, at);
		for (size_t c = 0; c < p->c; c++) {
			size_t i = hu_is_wide(in[0]->format) ? hu_pool_winner(p, in[0], from + c) - n * each
							     : at[c] * p->c + c;
			double dy = hu_get(in[2], from + c);
			sum[i] = f.id == HU_FP32 ? (double)((float)sum[i] + (float)dy)
						 : hu_rne(f, sum[i] + hu_rne(f, dy));
		}
	}
	hu_performed_operations(seen);
	free(top);
	free(at);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stream stream = { env->seed, hu_fnv1a32(c->seed_name), env->step },
		  *random = hu_mode_draws(c->mode) ? &stream : NULL;
	hu_format f = hu_format_of(c->fmt.compute);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	size_t each = p.row.n * p.col.n * p.c;
#pragma omp parallel num_threads(hu_threads()) if (in[0]->n > 4096)
	{
		double *sum = hu_xmalloc(each * sizeof *sum);
#pragma omp for schedule(static)
		for (size_t n = 0; n < p.n; n++) {
			image(&p, in, f, n, sum);
			hu_bulk_round_f64(sum, sum, each, out[0]->format, c->mode, c->flags, random, n * each);
			for (size_t i = 0; i < each; i++)
				hu_put(out[0], n * each + i, sum[i]);
		}
		free(sum);
	}
	return HU_OK;
}

/* Whether certified input i wins window o: 1 certainly, 0 certainly not, -1 if the errors leave it open. */
static int
wins(const hu_pool *p, hu_tensor *const *in, const hu_sink *sink, size_t o, size_t i)
{
	size_t r0, r1, c0, c1, n = o / p->c / p->col.out / p->row.out, winner = hu_pool_winner(p, in[0], o);
	hu_dd x = hu_operand_dd(sink, in, 0, i);
	int open = 0;

	if (!sink->low)
		return winner == i;
	hu_window_span(&p->row, o / p->c / p->col.out % p->row.out, &r0, &r1);
	hu_window_span(&p->col, o / p->c % p->col.out, &c0, &c1);
	for (size_t r = r0; r < r1; r += p->row.dilation)
		for (size_t k = c0; k < c1; k += p->col.dilation) {
			size_t at = ((n * p->row.n + r) * p->col.n + k) * p->c + o % p->c;
			hu_dd y = hu_operand_dd(sink, in, 0, at), d = hu_dd_sub(x, y);
			if (at != i && d.h + d.l + d.e < 0)
				return 0;
			open |= at != i && !(d.h - fabs(d.l) - d.e > 0) && (d.e != 0 || d.h + d.l != 0);
		}
	return open ? -1 : winner == i;
}

static hu_dd
gathered(const hu_pool *p, hu_tensor *const *in, const hu_sink *sink, size_t i)
{
	size_t c = i % p->c, col = i / p->c % p->col.n, row = i / p->c / p->col.n % p->row.n,
	       n = i / p->c / p->col.n / p->row.n, r0, r1, c0, c1;
	hu_dd sum = hu_dd_of(0);

	hu_window_covering(&p->row, row, &r0, &r1);
	hu_window_covering(&p->col, col, &c0, &c1);
	for (size_t r = r0; r < r1; r++)
		for (size_t j = c0; j < c1; j++) {
			size_t o = ((n * p->row.out + r) * p->col.out + j) * p->c + c;
			int won = hu_window_meets(&p->row, r, row) && hu_window_meets(&p->col, j, col)
					  ? wins(p, in, sink, o, i)
					  : 0;
			hu_dd dy = hu_operand_dd(sink, in, 2, o);
			if (won > 0)
				sum = hu_dd_add(sum, dy);
			else if (won < 0)
				sum.e = (sum.e + fabs(dy.h) + fabs(dy.l) + dy.e) * (1 + 0x1p-48);
		}
	return sum;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	return hu_pool_enclose(c, in, out, element, n, sink, gathered);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_pool p;

	(void)out;
	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	size_t *x = hu_xmalloc(room(&p) * sizeof *x);
	for (size_t i = 0; i < n; i++) {
		size_t k = received(&p, in, element[i], x);
		mpfr_set_prec(exact[i], hu_sum_bits(in[2]));
		mpfr_set_zero(exact[i], 1);
		for (size_t j = 0; j < k; j++)
			hu_map_exact_add(exact[i], in[2], x[j]);
	}
	free(x);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_format f = hu_attr_bounded(c);
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]->shape));
	size_t *x = hu_xmalloc(room(&p) * sizeof *x);
	for (size_t i = 0; i < n; i++) {
		size_t k = received(&p, in, element[i], x);
		hu_bounded sum = { 0, 0 };
		for (size_t j = 0; j < k; j++)
			sum = hu_bounded_add(f, sum, hu_bounded_load(f, hu_get(in[2], x[j]), 0));
		b[i] = hu_bound_of(c, hu_output_format(c, in, out), sum);
	}
	free(x);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_pool p;

	HU_TRY(hu_pool_of(&p, c, in[0]));
	HU_TRY(hu_shape_expect(c, 1, in[1], hu_shape4(p.n, p.row.out, p.col.out, p.c)));
	HU_TRY(hu_shape_expect(c, 2, in[2], in[1]));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	hu_pool p;

	(void)out;
	k->flops = hu_pool_of(&p, c, in[0]) == HU_OK ? hu_pool_covered(&p) + (double)hu_count(in[2]) : 0;
}

const hu_op hu_op_maxpool_dx = {
	.name = "maxpool_dx", .summary = "gradient of maxpool, from its input", .min_in = 3, .max_in = 3, .nout = 1,
	.attrs = HU_POOL_ATTRS, .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one,
	},
};
