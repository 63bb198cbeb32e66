/* SPDX-License-Identifier: Apache-2.0
   softmax_xent_dx: dlogits = dloss w / sum(w) (p - onehot(label)). */
#include "lib/op/reduce/reduce.h"

#define SAME(S, T) out[0][i] = in[0][i]
#define WEIGHT(S, T) out[0][i] = hu_xent_weight##S(c, in[0][i], in[1][i], in[2][i])
#define F(S, T) out[0][i] = hu_xent_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i])
HU_BLOCKS(same, SAME, NULL)
HU_BLOCKS(weight, WEIGHT, NULL)

/* k[0]: sum of the weights; x: p, label, class, weight, dloss */
static void
exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	if (mpfr_equal_p(x[1], x[2]))
		mpfr_sub_ui(y, x[0], 1, MPFR_RNDN);
	else
		mpfr_set(y, x[0], MPFR_RNDN);
	mpfr_mul(y, y, x[4], MPFR_RNDN);
	mpfr_mul(y, y, x[3], MPFR_RNDN);
}
HU_BLOCKS(blocks, F, exact)

/* The factor of p - onehot for each row. */
static hu_stat
factors(const hu_call *c, hu_tensor *const *in, int with_errors)
{
	hu_stat sum = hu_stat_new(1, with_errors), by = hu_stat_new(in[2]->n, with_errors);
	hu_map m;

	hu_map_init(&m, c, &same, in[2]->n, 1);
	hu_map_add(&m, in[2], HU_EACH);
	hu_sum_columns(&m, &sum, 1);
	hu_map_init(&m, c, &weight, in[2]->n, 1);
	hu_map_add(&m, in[2], HU_EACH);
	hu_map_add(&m, in[3], HU_ONE);
	hu_map_add_stat(&m, &sum, HU_ONE);
	hu_map_stat(&m, &by, 1);
	hu_stat_free(&sum);
	return by;
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, &blocks, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_ROW);
	hu_map_add(m, NULL, HU_INDEX);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stat by = factors(c, in, 0);
	hu_map m;

	prepare(&m, c, in);
	hu_map_add_stat(&m, &by, HU_ROW);
	hu_map_emulate(&m, out, 1, env);
	hu_stat_free(&by);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_stat by = factors(c, in, 1);
	hu_map m;

	prepare(&m, c, in);
	hu_map_add_stat(&m, &by, HU_ROW);
	hu_map_bound(&m, 1, 0, hu_output_format(c, in, out), element, n, b);
	hu_stat_free(&by);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_stat run = factors(c, in, 1);
	hu_stat_dd sum, by;
	hu_map m, bounded;

	hu_stat_dd_init(&sum, 1);
	hu_stat_dd_init(&by, in[2]->n);
	hu_map_init(&m, c, &same, in[2]->n, 1);
	hu_map_add(&m, in[2], HU_EACH);
	hu_sum_columns_dd(&m, in, sink, &sum, 1);
	hu_map_init(&m, c, &weight, in[2]->n, 1);
	hu_map_add(&m, in[2], HU_EACH);
	hu_map_add(&m, in[3], HU_ONE);
	hu_map_add_dd(&m, &sum, HU_ONE);
	hu_map_stat_dd(&m, in, sink, &by, 1);
	prepare(&m, c, in);
	hu_map_add_dd(&m, &by, HU_ROW);
	prepare(&bounded, c, in);
	hu_map_add_stat(&bounded, &run, HU_ROW);
	hu_status st = hu_map_enclose(&m, &bounded, in, 0, hu_output_format(c, in, out), element, n, sink);
	hu_stat_dd_release(&sum);
	hu_stat_dd_release(&by);
	hu_stat_free(&run);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *y)
{
	hu_map m;
	mpfr_t sum;

	prepare(&m, c, in);
	hu_map_add(&m, in[2], HU_ROW);
	hu_map_add(&m, in[3], HU_ONE);
	HU_TRY(hu_map_reference(&m, out, element, n, y));
	mpfr_init2(sum, hu_sum_bits(in[2]));
	mpfr_set_zero(sum, 1);
	for (size_t i = 0; i < in[2]->n; i++)
		hu_exact_add(sum, in[2], i);
	for (size_t i = 0; i < n; i++)
		mpfr_div(y[i], y[i], sum, MPFR_RNDN);
	mpfr_clear(sum);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank != 2)
		return hu_fail(HU_EINVAL, "softmax_xent_dx: the probabilities must have rank 2, rows by classes");
	HU_TRY(hu_shape_length(c, 1, in[1], in[0].d[0]));
	HU_TRY(hu_shape_length(c, 2, in[2], in[0].d[0]));
	HU_TRY(hu_shape_length(c, 3, in[3], 1));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]) +
		   4.0 * (double)(hu_count(in[0]) / hu_last(in[0])); /* 1 is subtracted only at the label */
}

const hu_op hu_op_softmax_xent_dx = {
	.name = "softmax_xent_dx", .summary = "gradient of softmax_xent with respect to the logits", .min_in = 4,
	.max_in = 4, .nout = 1, .cls = HU_CLASS_LOSS, .parity = HU_PARITY_EXACT,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
};
