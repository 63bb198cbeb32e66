/* SPDX-License-Identifier: Apache-2.0
   The sums and means over groups that the gradients of batchnorm and layernorm need, emulated and certified, and the
   memo of them that the outputs of one call share. */
#include "lib/op/reduce/norm.h"

#include "lib/base/mem.h"
#include "lib/op/element/ddw_loops.h"

#include <stdlib.h>
#include <string.h>

#define BATCH(S, T)                                                                                                    \
	(out[0][i] = in[4][i], out[1][i] = hu_scaled##S(c, in[4][i], hu_normal##S(c, in[0][i], in[2][i], in[3][i])))
#define LAYER(S, T)                                                                                                    \
	(out[0][i] = hu_scaled##S(c, in[1][i], in[4][i]),                                                              \
		out[1][i] = hu_scaled##S(                                                                              \
			c, hu_scaled##S(c, in[1][i], in[4][i]), hu_normal##S(c, in[0][i], in[2][i], in[3][i])))
HU_BLOCKS(batch, BATCH, NULL)
HU_BLOCKS(layer, LAYER, NULL)
HU_DDW_LOOPS(norm_sums, batch, BATCH)
HU_DDW_LOOPS(norm_means, layer, LAYER)

void
hu_norm_dx_operands(hu_map *m, const hu_call *c, const hu_blocks *blocks, hu_tensor *const *in, hu_how how)
{
	hu_map_init(m, c, blocks, in[0]->n, hu_last(in[0]->shape));
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_CHANNEL);
	hu_map_add(m, in[2], how);
	hu_map_add(m, in[3], how);
	hu_map_add(m, in[4], HU_EACH);
}

void
hu_norm_sums(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *s)
{
	hu_map m;

	hu_norm_dx_operands(&m, c, &batch, in, how);
	hu_sum_columns(&m, s, 2);
}

/* Counts the additions of dgamma and dbeta; dx has too few to be worth counting. */
hu_status
hu_norm_swamping(
	const hu_call *c, hu_tensor *const *in, hu_how how, int out, const size_t *element, size_t n, hu_swamp *count)
{
	hu_map m;

	hu_norm_dx_operands(&m, c, &batch, in, how);
	if (out > 0)
		hu_sum_swamping(&m, HU_CHANNEL, 2, out == 1, element, n, count);
	return HU_OK;
}

void
hu_norm_means(const hu_call *c, hu_tensor *const *in, hu_how how, hu_stat *mean, int with_errors)
{
	size_t g = hu_norm_groups(in[0], how);
	hu_map m;

	mean[0] = hu_stat_new(g, with_errors);
	mean[1] = hu_stat_new(g, with_errors);
	hu_norm_dx_operands(&m, c, how == HU_CHANNEL ? &batch : &layer, in, how);
	(how == HU_CHANNEL ? hu_sum_columns : hu_sum_rows)(&m, mean, 2);
	hu_norm_divide(c, &mean[0], in[0]->n / g);
	hu_norm_divide(c, &mean[1], in[0]->n / g);
}

/* sum[0] and sum[1] as in hu_norm_sums, certified. */
static void
sums_dd(const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink, hu_stat_dd *sum)
{
	hu_map m;

	for (int k = 0; k < 2; k++)
		hu_stat_dd_init(&sum[k], hu_last(in[0]->shape));
	hu_norm_dx_operands(&m, c, &batch, in, how);
	hu_sum_columns_dd(&m, in, sink, sum, 2);
}

/* mean as in hu_norm_means, certified. */
static void
means_dd(const hu_call *c, hu_tensor *const *in, hu_how how, const hu_sink *sink, hu_stat_dd *mean)
{
	size_t g = hu_norm_groups(in[0], how);
	hu_stat_dd sum[2];
	hu_map m;

	for (int k = 0; k < 2; k++)
		hu_stat_dd_init(&sum[k], g);
	hu_norm_dx_operands(&m, c, how == HU_CHANNEL ? &batch : &layer, in, how);
	(how == HU_CHANNEL ? hu_sum_columns_dd : hu_sum_rows_dd)(&m, in, sink, sum, 2);
	for (int k = 0; k < 2; k++) {
		hu_norm_divide_dd(c, &sum[k], &mean[k], in[0]->n / g);
		hu_stat_dd_release(&sum[k]);
	}
}

static hu_stat
copied(const hu_stat *s)
{
	hu_stat r = hu_stat_new(s->t.n, s->e != NULL);

	memcpy(r.t.data, s->t.data, s->t.n * sizeof(double));
	if (s->e)
		memcpy(r.e, s->e, s->t.n * sizeof *s->e);
	return r;
}

static void
release_norm_dx(hu_memo *m)
{
	hu_norm_dx_memo *k = (hu_norm_dx_memo *)m;

	for (int i = 0; i < 2; i++) {
		hu_stat_dd_release(&k->mean[i]);
		hu_stat_dd_release(&k->sum[i]);
		if (!k->bounds)
			continue;
		hu_stat_free(&k->run_mean[i]);
		hu_stat_free(&k->run_sum[i]);
	}
	hu_norm_part_release(&k->part);
	free(k);
}

hu_norm_dx_memo *
hu_norm_dx_remember(const hu_call *c, hu_tensor *const *in, hu_how how, hu_sink *sink)
{
	if (!sink->memo) {
		hu_norm_dx_memo *k = hu_xcalloc(1, sizeof *k);
		k->part.m.release = release_norm_dx;
		sums_dd(c, in, how, sink, k->sum);
		if (how == HU_CHANNEL)
			for (int i = 0; i < 2; i++)
				hu_norm_divide_dd(c, &k->sum[i], &k->mean[i], in[0]->n / k->sum[i].t.n);
		else
			means_dd(c, in, how, sink, k->mean);
		k->bounds = sink->bounds;
		for (int i = 0; i < 2 && k->bounds; i++)
			k->run_sum[i] = hu_stat_new(hu_last(in[0]->shape), 1);
		if (k->bounds)
			hu_norm_sums(c, in, how, k->run_sum);
		for (int i = 0; i < 2 && k->bounds && how == HU_CHANNEL; i++) {
			k->run_mean[i] = copied(&k->run_sum[i]);
			hu_norm_divide(c, &k->run_mean[i], in[0]->n / k->sum[i].t.n);
		}
		if (k->bounds && how != HU_CHANNEL)
			hu_norm_means(c, in, how, k->run_mean, 1);
		sink->memo = &k->part.m;
	}
	return (hu_norm_dx_memo *)sink->memo;
}

hu_status
hu_norm_dx_shape(const hu_call *c, const hu_shape *in, hu_shape *out, size_t g)
{
	size_t C = hu_last(in[0]);

	HU_TRY(hu_shape_length(c, 1, in[1], C));
	HU_TRY(hu_shape_length(c, 2, in[2], g));
	HU_TRY(hu_shape_length(c, 3, in[3], g));
	HU_TRY(hu_shape_expect(c, 4, in[4], in[0]));
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	HU_TRY(hu_shape_settle(c, 1, out, hu_shape1(C)));
	return hu_shape_settle(c, 2, out, hu_shape1(C));
}
