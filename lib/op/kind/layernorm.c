/* SPDX-License-Identifier: Apache-2.0
   layernorm: y = (x - mean) / sqrt(var + eps) gamma + beta with each row's own statistics. */
#include "lib/op/reduce/norm.h"

#define APPLY(S, T) out[0][i] = hu_norm_apply##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_BLOCKS(apply, APPLY, NULL)

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_norm *s)
{
	hu_map_init(m, c, &apply, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_CHANNEL);
	hu_map_add(m, in[2], HU_CHANNEL);
	hu_map_add_stat(m, &s->mean, HU_ROW);
	hu_map_add_stat(m, &s->rstd, HU_ROW);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_norm s = hu_norm_new(c, in[0], HU_ROW, 0);
	hu_map m;

	prepare(&m, c, in, &s);
	hu_map_emulate(&m, out, 1, env);
	if (c->nout > 1)
		hu_stat_store(c, env, &s.mean, out[1]);
	if (c->nout > 2)
		hu_stat_store(c, env, &s.rstd, out[2]);
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_norm s = hu_norm_new(c, in[0], HU_ROW, 1);
	hu_map m;

	if (out == 0) {
		prepare(&m, c, in, &s);
		hu_map_bound(&m, 1, 0, c->fmt.out, element, n, b);
	} else {
		hu_stat_bound(c, hu_output_format(c, in, out), out == 1 ? &s.mean : &s.rstd, element, n, b);
	}
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_norm_memo *k = hu_norm_remember(c, in, HU_ROW, sink);
	hu_format_id f = hu_output_format(c, in, out);
	hu_map exact, bounded;

	if (out > 0)
		return hu_stat_enclose(c, in, out, f, out == 1 ? &k->exact.mean : &k->exact.rstd,
			k->bounds ? (out == 1 ? &k->run.mean : &k->run.rstd) : NULL, element, n, sink);
	if (k->bounds)
		prepare(&bounded, c, in, &k->run);
	hu_map_init(&exact, c, &apply, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(&exact, in[0], HU_EACH);
	hu_map_add(&exact, in[1], HU_CHANNEL);
	hu_map_add(&exact, in[2], HU_CHANNEL);
	hu_map_add_dd(&exact, &k->exact.mean, HU_ROW);
	hu_map_add_dd(&exact, &k->exact.rstd, HU_ROW);
	return hu_map_enclose(&exact, &bounded, in, 0, f, element, n, sink);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	size_t C = hu_last(in[0]->shape);
	hu_norm_exact e;

	hu_norm_exact_init(&e, in[0]);
	for (size_t i = 0; i < n; i++) {
		size_t j = element[i] % C;
		hu_norm_exact_of(
			&e, in[0], HU_ROW, out == 0 ? element[i] / C : element[i], hu_attr_num(c, "eps", 1e-3));
		if (out == 0) {
			hu_norm_exact_apply(&e, in, element[i], j, exact[i]);
			continue;
		}
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set(exact[i], out == 1 ? e.mean : e.rstd, MPFR_RNDN);
	}
	hu_norm_exact_clear(&e);
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	(void)env;
	return hu_norm_stat_swamping(c, in[0], HU_ROW, out, element, n, count);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	size_t C = hu_last(in[0]);

	if (in[0].rank < 2 || !hu_count(in[0]))
		return hu_fail(HU_EINVAL, "layernorm: an input of rank 2 or more is needed");
	HU_TRY(hu_shape_length(c, 1, in[1], C));
	HU_TRY(hu_shape_length(c, 2, in[2], C));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	HU_TRY(hu_shape_settle(c, 1, out, hu_shape1(hu_count(in[0]) / C)));
	return hu_shape_settle(c, 2, out, hu_shape1(hu_count(in[0]) / C));
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = 8.0 * (double)hu_count(in[0]) + 5.0 * (double)(hu_count(in[0]) / hu_last(in[0]));
}

static const hu_grad grad[] = {
	{ "layernorm_dx", "i0 i1 o1 o2 d0", "i0 i1 i2", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_layernorm = {
	.name = "layernorm", .summary = "normalises each row", .min_in = 3, .max_in = 3, .nout = 3, .attrs = "eps",
	.cls = HU_CLASS_NORM, .parity = HU_PARITY_EXACT, .float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .swamping = swamping,
	},
	.grad = grad,
};
