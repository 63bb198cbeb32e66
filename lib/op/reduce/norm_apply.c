/* SPDX-License-Identifier: Apache-2.0
   The family of normalisations by statistics of their own input, per channel or per row: y = (x - mean) rstd gamma +
   beta, and mean and rstd. Further outputs of a normalisation (running statistics) are in its own file. */
#include "lib/op/reduce/norm.h"
#include "lib/op/element/ddw_loops.h"

#include "lib/base/mem.h"

#include <stdlib.h>

#define APPLY(S, T) out[0][i] = hu_norm_apply##S(c, in[0][i], in[1][i], in[2][i], in[3][i], in[4][i])
HU_BLOCKS(apply, APPLY, NULL)
HU_DDW_LOOPS(norm_apply, apply, APPLY)

/* Adds the first three operands; the caller adds the two statistics. */
static void
operands(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, &apply, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_CHANNEL);
	hu_map_add(m, in[2], HU_CHANNEL);
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in, const hu_norm *s)
{
	operands(m, c, in);
	hu_map_add_stat(m, &s->mean, c->op->norm->how);
	hu_map_add_stat(m, &s->rstd, c->op->norm->how);
}

void
hu_norm_emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env, const hu_norm *s)
{
	hu_map m;

	prepare(&m, c, in, s);
	hu_map_emulate(&m, out, 1, env);
	if (c->nout > 1)
		hu_stat_store(c, env, &s->mean, out[1]);
	if (c->nout > 2)
		hu_stat_store(c, env, &s->rstd, out[2]);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_norm s = hu_norm_new(c, in[0], c->op->norm->how, 0);

	hu_norm_emulate(c, in, out, env, &s);
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_norm s = hu_norm_new(c, in[0], c->op->norm->how, 1);
	hu_format_id f = hu_output_format(c, in, out);
	hu_map m;

	if (out == 0) {
		prepare(&m, c, in, &s);
		hu_map_bound(&m, 1, 0, f, element, n, b);
	} else {
		hu_stat_bound(c, f, out == 1 ? &s.mean : &s.rstd, element, n, b);
	}
	hu_norm_free(&s);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_how how = c->op->norm->how;

	if (hu_norm_is_narrow(c, out, sink))
		return hu_norm_narrowed(c, in, out, sink, enclose);
	hu_norm_memo *k = hu_norm_remember(c, in, how, sink);
	hu_format_id f = hu_output_format(c, in, out);
	hu_map exact, bounded;

	if (out > 0)
		return hu_stat_enclose(c, in, out, f, out == 1 ? &k->exact.mean : &k->exact.rstd,
			k->bounds ? (out == 1 ? &k->run.mean : &k->run.rstd) : NULL, element, n, sink);
	if (k->bounds)
		prepare(&bounded, c, in, &k->run);
	operands(&exact, c, in);
	hu_map_add_dd(&exact, &k->exact.mean, how);
	hu_map_add_dd(&exact, &k->exact.rstd, how);
	return hu_map_enclose(&exact, &bounded, in, 0, f, element, n, sink);
}

hu_norm_exact *
hu_norm_exact_new(const hu_tensor *x, hu_how how, size_t *slots)
{
	*slots = how == HU_CHANNEL ? hu_last(x->shape) : 1;
	hu_norm_exact *e = hu_xmalloc(*slots * sizeof *e);

	for (size_t j = 0; j < *slots; j++)
		hu_norm_exact_init(&e[j], x);
	return e;
}

void
hu_norm_exact_free(hu_norm_exact *e, size_t slots)
{
	for (size_t j = 0; j < slots; j++)
		hu_norm_exact_clear(&e[j]);
	free(e);
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_how how = c->op->norm->how;
	double eps = hu_norm_eps(c);
	size_t channels = hu_last(in[0]->shape), slots;
	hu_norm_exact *slot = hu_norm_exact_new(in[0], how, &slots);

	for (size_t i = 0; i < n; i++) {
		hu_norm_exact *e = &slot[element[i] % slots];
		size_t channel = element[i] % channels,
		       group = out > 0          ? element[i]
			       : how == HU_CHANNEL ? channel
						   : element[i] / channels;
		hu_norm_exact_of(e, in[0], how, group, eps);
		if (out == 0) {
			hu_norm_exact_apply(e, in, element[i], channel, exact[i]);
			continue;
		}
		mpfr_set_prec(exact[i], hu_sum_bits(in[0]));
		mpfr_set(exact[i], out == 1 ? e->mean : e->rstd, MPFR_RNDN);
	}
	hu_norm_exact_free(slot, slots);
	return HU_OK;
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	(void)env;
	return hu_norm_stat_swamping(c, in[0], c->op->norm->how, out, element, n, count);
}

const hu_columns hu_family_norm = {
	.emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose, .grain = hu_norm_grain,
	.swamping = swamping,
};
