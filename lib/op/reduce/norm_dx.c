/* SPDX-License-Identifier: Apache-2.0
   What the gradients of batchnorm and layernorm share. They differ in what their means run over, and in their
   formula. */
#include "lib/op/reduce/norm.h"

void
hu_norm_dx_map(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_stat *mean)
{
	hu_how how = c->op->norm->how;

	hu_norm_dx_operands(m, c, c->op->norm->dx, in, how);
	hu_map_add_stat(m, &mean[0], how);
	hu_map_add_stat(m, &mean[1], how);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_how how = c->op->norm->how;
	size_t C = hu_last(in[0]->shape);
	hu_format_id f = hu_output_format(c, in, out);
	hu_stat s[2];
	hu_map m;

	if (out == 0) {
		hu_norm_means(c, in, how, s, 1);
		hu_norm_dx_map(&m, c, in, s);
		hu_map_bound(&m, 1, 0, f, element, n, b);
	} else {
		s[0] = hu_stat_new(C, 1);
		s[1] = hu_stat_new(C, 1);
		hu_norm_sums(c, in, how, s);
		hu_stat_bound(c, f, &s[out == 1], element, n, b);
	}
	hu_stat_free(&s[0]);
	hu_stat_free(&s[1]);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_how how = c->op->norm->how;

	if (hu_norm_is_narrow(c, out, sink))
		return hu_norm_narrowed(c, in, out, sink, enclose);
	hu_norm_dx_memo *k = hu_norm_dx_remember(c, in, how, sink);
	hu_format_id f = hu_output_format(c, in, out);
	hu_map exact, bounded;

	if (out > 0)
		return hu_stat_enclose(
			c, in, out, f, &k->sum[out == 1], k->bounds ? &k->run_sum[out == 1] : NULL, element, n, sink);
	if (k->bounds)
		hu_norm_dx_map(&bounded, c, in, k->run_mean);
	hu_norm_dx_operands(&exact, c, c->op->norm->dx, in, how);
	hu_map_add_dd(&exact, &k->mean[0], how);
	hu_map_add_dd(&exact, &k->mean[1], how);
	return hu_map_enclose(&exact, &bounded, in, 0, f, element, n, sink);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_how how = c->op->norm->how;
	size_t slots;
	hu_norm_exact *e = hu_norm_exact_new(in[0], how, &slots);

	for (size_t i = 0; i < n; i++)
		if (out == 0)
			hu_norm_exact_dx(&e[element[i] % slots], in, how, element[i], exact[i]);
		else
			hu_norm_exact_db(in, how, element[i], out == 1, exact[i]);
	hu_norm_exact_free(e, slots);
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	(void)env;
	return hu_norm_swamping(c, in, c->op->norm->how, out, element, n, count);
}

const hu_columns hu_family_norm_dx = {
	.reference = reference, .bound = bound, .enclose = enclose, .grain = hu_norm_grain,
	.swamping = swamping,
};
