/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/ranks/over_ranks.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/op/performed.h"
#include "lib/sum/hops.h"
#include "lib/sum/table/model.h"

#include <stdlib.h>

static hu_status
check(const hu_call *c, hu_tensor *const *in)
{
	for (int k = 1; k < c->nin; k++)
		if (in[k]->format != in[0]->format)
			return hu_fail(HU_EINVAL, "all_reduce: operand %d is %s and operand 0 is %s: ranks send one "
				"format",
				k, hu_format_name(in[k]->format), hu_format_name(in[0]->format));
	return HU_OK;
}

/* The terms of one element, and the ones that they are multiplied by. */
typedef struct terms { double x[HU_OVER_RANKS], one[HU_OVER_RANKS]; } terms;

static terms *
terms_new(void)
{
	terms *t = hu_xmalloc(sizeof *t);

	for (int k = 0; k < HU_OVER_RANKS; k++)
		t->one[k] = 1;
	return t;
}

static hu_draw
draw_of(const hu_call *c, size_t i, const hu_env *env)
{
	return (hu_draw){ env->seed, hu_draw_stream(c->seed_name), env->step, i * (uint64_t)c->nin, c->sum.bits };
}

static double
element_sum(const hu_call *c, hu_tensor *const *in, size_t i, const hu_env *env, terms *t, hu_sum_count *count)
{
	hu_draw draw = draw_of(c, i, env);

	for (int k = 0; k < c->nin; k++)
		t->x[k] = hu_get(in[k], i);
	return hu_model_run(t->x, t->one, (size_t)c->nin, c->sum, &draw, count);
}

hu_status
hu_over_ranks_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	const hu_env *env, hu_swamp *count)
{
	uint64_t additions = 0, swamped = 0, stagnated = 0;

	(void)out;
#pragma omp parallel num_threads(hu_threads()) reduction(+ : additions, swamped, stagnated) if (n > 1024)
	{
		terms *t = terms_new();
#pragma omp for schedule(static)
		for (size_t i = 0; i < n; i++) {
			hu_sum_count k = { 0, 0, 0, 0, 0 };
			element_sum(c, in, element[i], env, t, &k);
			additions += k.additions;
			swamped += k.swamped;
			stagnated += k.run >= HU_STAGNANT_RUN;
		}
		free(t);
	}
	count->additions += additions;
	count->swamped += swamped;
	count->outputs += n;
	count->stagnated += stagnated;
	return HU_OK;
}

hu_format_id
hu_over_ranks_wire(const hu_call *c)
{
	return hu_outer_format(c->sum).id;
}

double
hu_over_ranks_sent(const hu_call *c, hu_tensor *const *in, int r, size_t i, const hu_env *env)
{
	double x[HU_OVER_RANKS], one[HU_OVER_RANKS];
	size_t n = (size_t)c->nin;
	hu_draw draw = draw_of(c, i, env);
	hu_ranks all = { x, one, n, n, hu_format_of(c->sum.acc), hu_outer_format(c->sum), c->sum.mode, &draw, NULL, 0 };

	x[r] = hu_get(in[r], i);
	one[r] = 1;
	return hu_ranks_part(&all, (size_t)r);
}

/* Computes one block of sums in fp32 by the list of hops; level has room for the stack. Returns where the sums are.
   Adding to +0, as every sum begins, turns -0 into +0. */
static const float *
block(const hu_call *c, hu_tensor *const *in, const int *list, size_t first, size_t n, float (*level)[HU_MAP_BLOCK])
{
	hu_format_id wire = hu_over_ranks_wire(c);
	int top = 0;

	for (int k = 0; k < 2 * c->nin - 1; k++) {
		if (list[k] == HU_HOP) {
			float *x = level[top - 2];
			const float *y = level[--top];
			for (size_t i = 0; i < n; i++)
				x[i] += y[i];
		} else {
			const float *x = (const float *)in[list[k]]->data + first;
			float *y = level[top++];
			for (size_t i = 0; i < n; i++)
				y[i] = 0 + x[i];
		}
		if (wire != HU_FP32)
			hu_bulk_round(level[top - 1], level[top - 1], n, wire, HU_RNE, 0, NULL, 0);
	}
	return level[0];
}

static void
blocks(const hu_call *c, hu_tensor *const *in, hu_tensor *out, const hu_env *env)
{
	int *list = hu_xmalloc(2 * (size_t)c->nin * sizeof *list);
	int straight = out->format == HU_FP32 && c->mode == HU_RNE && !c->flags;

	hu_hops_list(list, c->sum);
#pragma omp parallel num_threads(hu_threads()) if (out->n > 8 * HU_MAP_BLOCK)
	{
		float(*level)[HU_MAP_BLOCK] = hu_xmalloc((size_t)hu_hops_depth(c->nin) * sizeof *level);
#pragma omp for schedule(static)
		for (size_t first = 0; first < out->n; first += HU_MAP_BLOCK) {
			size_t n = out->n - first < HU_MAP_BLOCK ? out->n - first : HU_MAP_BLOCK;
			const float *sum = block(c, in, list, first, n, level);
			if (straight)
				hu_bulk_round((float *)out->data + first, sum, n, HU_FP32, HU_RNE, 0, NULL, 0);
			else
				for (size_t i = 0; i < n; i++)
					hu_store(c, env, out, first + i, (double)sum[i]);
		}
		free(level);
	}
	free(list);
}

hu_status
hu_over_ranks_emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	HU_TRY(check(c, in));
	hu_performed_operations(out[0]->n * (size_t)c->nin);
	if (hu_sum_collective(c->sum.id) && c->sum.acc == HU_FP32 && c->sum.mode == HU_RNE &&
		c->sum.outer != HU_FP64 && !hu_is_wide(in[0]->format)) {
		blocks(c, in, out[0], env);
		return HU_OK;
	}
#pragma omp parallel num_threads(hu_threads()) if (out[0]->n > 1024)
	{
		terms *t = terms_new();
#pragma omp for schedule(static)
		for (size_t i = 0; i < out[0]->n; i++)
			hu_store(c, env, out[0], i, element_sum(c, in, i, env, t, NULL));
		free(t);
	}
	return HU_OK;
}
