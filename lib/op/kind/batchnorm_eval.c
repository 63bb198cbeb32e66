/* SPDX-License-Identifier: Apache-2.0
   batchnorm_eval: y = (x - rm) / sqrt(rv + eps) gamma + beta with the running statistics. */
#include "lib/op/reduce/norm.h"
#include "lib/op/element/ddw_loops.h"

#define APPLY(S, T) out[0][i] = hu_norm_apply##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_BLOCKS(apply, APPLY, NULL)
HU_DDW_LOOPS(batchnorm_eval, apply, APPLY)

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat *rstd)
{
	hu_map_init(m, c, &apply, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	for (int k = 1; k < 4; k++)
		hu_map_add(m, in[k], HU_CHANNEL);
	hu_map_add_stat(m, rstd, HU_CHANNEL);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_stat rstd = hu_norm_inverse(c, in[4], 0);
	hu_map m;

	prepare(&m, c, in, &rstd);
	hu_map_emulate(&m, out, 1, env);
	hu_stat_free(&rstd);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_stat rstd = hu_norm_inverse(c, in[4], 1);
	hu_map m;

	prepare(&m, c, in, &rstd);
	hu_map_bound(&m, 1, 0, hu_output_format(c, in, out), element, n, b);
	hu_stat_free(&rstd);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_stat run = hu_norm_inverse(c, in[4], 1);
	hu_stat_dd rstd;
	hu_map exact, bounded;

	hu_norm_inverse_dd(&rstd, c, in, 4, sink);
	prepare(&bounded, c, in, &run);
	hu_map_init(&exact, c, &apply, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(&exact, in[0], HU_EACH);
	for (int k = 1; k < 4; k++)
		hu_map_add(&exact, in[k], HU_CHANNEL);
	hu_map_add_dd(&exact, &rstd, HU_CHANNEL);
	hu_status st = hu_map_enclose(&exact, &bounded, in, 0, hu_output_format(c, in, out), element, n, sink);
	hu_stat_dd_release(&rstd);
	hu_stat_free(&run);
	return st;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape);
	hu_norm_exact e;

	(void)out;
	hu_norm_exact_init(&e, in[0]);
	for (size_t i = 0; i < n; i++) {
		size_t j = element[i] % C;
		hu_exact_get(e.mean, in[3], j);
		hu_exact_get(e.rstd, in[4], j);
		mpfr_add_d(e.rstd, e.rstd, hu_norm_eps(c), MPFR_RNDN);
		mpfr_rec_sqrt(e.rstd, e.rstd, MPFR_RNDN);
		hu_norm_exact_apply(&e, in, element[i], j, exact[i]);
	}
	hu_norm_exact_clear(&e);
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	for (int k = 1; k < 5; k++)
		HU_TRY(hu_shape_length(c, k, in[k], hu_last(in[0])));
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 4.0 * (double)hu_count(in[0]) + 3.0 * (double)hu_last(in[0]);
}

const hu_op hu_op_batchnorm_eval = {
	.name = "batchnorm_eval", .summary = "normalises each channel by its running statistics", .min_in = 5,
	.max_in = 5, .nout = 1, .attrs = "eps", .cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT,
	.undefined = HU_UNDEFINED_DIVISION,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = hu_op_grain_one,
	},
};
