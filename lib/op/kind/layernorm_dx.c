/* SPDX-License-Identifier: Apache-2.0
   layernorm_dx: gradients of layernorm from the recorded statistics: with g = gamma dy,
   dx = rstd (g - mean(g) - xhat mean(g xhat)), dgamma = sum(dy xhat), dbeta = sum(dy). */
#include "lib/op/reduce/norm.h"
#include "lib/op/element/ddw_loops.h"

#define F(S, T) out[0][i] = hu_layernorm_dx##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i], in[6][i])
HU_BLOCKS(blocks, F, NULL)
HU_DDW_LOOPS(layernorm_dx, blocks, F)

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	size_t C = hu_last(in[0]->shape);
	hu_stat mean[2], sum[2] = { hu_stat_new(C, 0), hu_stat_new(C, 0) };
	hu_map m;

	hu_norm_means(c, in, HU_ROW, mean, 0);
	hu_norm_dx_map(&m, c, in, mean);
	hu_map_emulate(&m, out, 1, env);
	hu_norm_sums(c, in, HU_ROW, sum);
	if (c->nout > 1)
		hu_stat_store(c, env, &sum[1], out[1]);
	if (c->nout > 2)
		hu_stat_store(c, env, &sum[0], out[2]);
	for (int k = 0; k < 2; k++) {
		hu_stat_free(&mean[k]);
		hu_stat_free(&sum[k]);
	}
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "layernorm_dx: the input must have rank 2 or more");
	return hu_norm_dx_shape(c, in, out, hu_count(in[0]) / hu_last(in[0]));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 19.0 * (double)hu_count(in[0]) + 2.0 * (double)(hu_count(in[0]) / hu_last(in[0]));
}

const hu_op hu_op_layernorm_dx = {
	.name = "layernorm_dx", .summary = "gradients of layernorm", .min_in = 5, .max_in = 5, .nout = 3,
	.cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT, .like = "-11",
	.undefined = HU_UNDEFINED_DIVISION,
	.own = { .shape = shape, .cost = cost, .emulate = emulate },
	.family = &hu_family_norm_dx, .norm = &(hu_norm_own){ .how = HU_ROW, .dx = &blocks },
};
