/* SPDX-License-Identifier: Apache-2.0
   avgpool: y[N,C] = the mean over an image's pixels for each channel, by the fixed tree and a division. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/reduce.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <stdlib.h>

#define SAME(S, T) out[0][i] = in[0][i]
#define DIVIDE(S, T) out[0][i] = hu_quotient##S(c, in[0][i], c->k[0])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(divide, DIVIDE, NULL)

static size_t
pixels(const hu_tensor *x)
{
	return x->shape.d[1] * x->shape.d[2];
}

/* The channels' means of image n. */
static hu_stat
means(const hu_call *c, const hu_tensor *x, size_t n, int with_errors)
{
	size_t C = hu_last(x->shape), each = pixels(x) * C;
	hu_stat sum = hu_stat_new(C, with_errors), mean = hu_stat_new(C, with_errors);
	hu_tensor view = *x;
	hu_map m;

	view.data = (char *)x->data + n * each * hu_element_size(x->format);
	view.n = each;
	hu_map_init(&m, c, &same, each, C);
	hu_map_add(&m, &view, HU_EACH);
	hu_sum_columns(&m, &sum, 1);
	hu_map_init(&m, c, &divide, C, 1);
	hu_map_add_stat(&m, &sum, HU_EACH);
	m.nk = 1;
	m.k[0] = (double)pixels(x);
	hu_map_stat(&m, &mean, 1);
	hu_stat_free(&sum);
	return mean;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	size_t C = hu_last(in[0]->shape);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (in[0]->n > 16384)
	for (size_t n = 0; n < in[0]->shape.d[0]; n++) {
		hu_stat s = means(c, in[0], n, 0);
		for (size_t j = 0; j < C; j++)
			hu_store(c, env, out[0], n * C + j, hu_get(&s.t, j));
		hu_stat_free(&s);
	}
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	size_t C = hu_last(in[0]->shape);

	for (size_t i = 0; i < n;) {
		size_t image = element[i] / C;
		hu_stat s = means(c, in[0], image, 1);
		for (; i < n && element[i] / C == image; i++) {
			hu_bounded x = { hu_get(&s.t, element[i] % C), s.e[element[i] % C] };
			b[i] = hu_bound_of(c, hu_output_format(c, in, out), x);
		}
		hu_stat_free(&s);
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	size_t C = hu_last(in[0]->shape), P = pixels(in[0]);
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 64)
	for (size_t i = 0; i < n; i++) {
		size_t at = element ? element[i] : i, first = at / C * P * C + at % C;
		hu_dd s = hu_dd_of(0);
		for (size_t j = 0; j < P; j++)
			s = hu_dd_add(s, hu_operand_dd(sink, in, 0, first + j * C));
		v[i] = hu_dd_div(s, hu_dd_of((double)P));
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape), P = pixels(in[0]);

	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++) {
		size_t first = element[i] / C * P * C + element[i] % C;
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		hu_exact_sum(exact[i], in[0], NULL, first, P, C);
		mpfr_div_ui(exact[i], exact[i], P, MPFR_RNDN);
	}
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	size_t C = hu_last(in[0]->shape), each = pixels(in[0]) * C;

	(void)out;
	(void)env;
	for (size_t i = 0; i < n; i++) {
		hu_tensor view = *in[0];
		size_t channel = element[i] % C;
		hu_map m;
		view.data = (char *)view.data + element[i] / C * each * hu_element_size(view.format);
		hu_map_init(&m, c, &same, each, C);
		hu_map_add(&m, &view, HU_EACH);
		hu_sum_swamping(&m, HU_CHANNEL, 1, 0, &channel, 1, count);
	}
	return HU_OK;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	size_t C = hu_last(in[0]->shape), P = pixels(in[0]);

	(void)c;
	(void)out;
	for (size_t i = 0; i < n; i++) {
		all[i] = 0;
		for (size_t j = 0; j < P; j++)
			all[i] += hu_abs(hu_get(in[0], (element[i] / C * P + j) * C + element[i] % C));
		all[i] /= (double)P;
	}
	return HU_OK;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	return hu_reduce_roundings(
		c, in, out, pixels(in[0]), 1, hu_smallest(hu_format_of(c->fmt.compute))); /* 1 is for the division */
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank != 4 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "avgpool: the image must have rank 4");
	return hu_shape_settle(c, 0, out, hu_shape2(in[0].d[0], in[0].d[3]));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	k->flops = (double)hu_count(in[0]) + (double)hu_count(out[0]);
}

static const hu_grad grad[] = {
	{ "avgpool_dx", "d0", "i0", "height=i0.1 width=i0.2", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_avgpool = {
	.name = "avgpool", .summary = "mean of each channel over an image", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .magnitude = magnitude, .roundings = roundings, .swamping = swamping,
	},
	.grad = grad,
};
