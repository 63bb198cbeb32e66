/* SPDX-License-Identifier: Apache-2.0
   bias_db: db = the sum of dy over the rows, one for each channel, by the fixed tree. */
#include "lib/op/reduce/exact_sum.h"
#include "lib/op/reduce/reduce.h"

#define F(S, T) out[0][i] = in[0][i]
HU_BLOCKS(blocks, F, NULL)

static void
terms(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, &blocks, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
}

static void
sums(const hu_call *c, hu_tensor *const *in, hu_stat *sum)
{
	hu_map m;

	terms(&m, c, in);
	hu_sum_columns(&m, sum, 1);
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_map m;

	(void)out;
	(void)env;
	terms(&m, c, in);
	hu_sum_swamping(&m, HU_CHANNEL, 1, 0, element, n, count);
	return HU_OK;
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stat sum = hu_stat_new(hu_last(in[0]->shape), 0);

	sums(c, in, &sum);
	hu_stat_store(c, env, &sum, out[0]);
	hu_stat_free(&sum);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_stat sum = hu_stat_new(hu_last(in[0]->shape), 1);

	sums(c, in, &sum);
	hu_stat_bound(c, hu_output_format(c, in, out), &sum, element, n, b);
	hu_stat_free(&sum);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_stat run = { .e = NULL };
	hu_stat_dd sum;
	hu_map m;

	hu_stat_dd_init(&sum, hu_last(in[0]->shape));
	terms(&m, c, in);
	hu_sum_columns_dd(&m, in, sink, &sum, 1);
	if (sink->bounds) {
		run = hu_stat_new(hu_last(in[0]->shape), 1);
		sums(c, in, &run);
	}
	hu_status st = hu_stat_enclose(
		c, in, out, hu_output_format(c, in, out), &sum, sink->bounds ? &run : NULL, element, n, sink);
	if (sink->bounds)
		hu_stat_free(&run);
	hu_stat_dd_release(&sum);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t channels = hu_last(in[0]->shape);

	(void)c;
	(void)out;
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
	for (size_t k = 0; k < n; k++) {
		mpfr_set_prec(exact[k], hu_sum_bits(in[0]));
		hu_exact_sum(exact[k], in[0], NULL, element[k], in[0]->n / channels, channels);
	}
	return HU_OK;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	size_t channels = hu_last(in[0]->shape);

	(void)c;
	(void)out;
	for (size_t k = 0; k < n; k++) {
		all[k] = 0;
		for (size_t i = element[k]; i < in[0]->n; i += channels)
			all[k] += hu_abs(hu_get(in[0], i));
	}
	return HU_OK;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	return hu_reduce_roundings(c, in, out, in[0]->n / hu_last(in[0]->shape), 0, 0);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	return hu_shape_settle(c, 0, out, hu_shape1(hu_last(in[0])));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]);
}

const hu_op hu_op_bias_db = {
	.name = "bias_db", .summary = "gradient of a bias: sums over the rows", .min_in = 1, .max_in = 1, .nout = 1,
	.cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .magnitude = magnitude, .roundings = roundings, .swamping = swamping,
	},
};
