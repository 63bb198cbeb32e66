/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/kernel_job.h"

#include "lib/base/mem.h"
#include "lib/judge/kernel/program.h"
#include "lib/judge/kernel/store.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double
hu_kernel_job_element(const hu_kernel_job *j, const hu_npy *a, size_t i, hu_format f)
{
	if (!j->bits || a->dtype[0] == 'f' || f.id == HU_NO_FORMAT)
		return hu_npy_real(a, i);
	return hu_decode((uint64_t)hu_npy_real(a, i), f);
}

hu_format_id
hu_kernel_job_own(const hu_npy *a)
{
	return !strcmp(a->dtype, "f2")   ? HU_FP16
	       : !strcmp(a->dtype, "f4") ? HU_FP32
	       : !strcmp(a->dtype, "f8") ? HU_FP64
					 : HU_NO_FORMAT;
}

hu_status
hu_kernel_job_format(const hu_kernel_job *j, const char *key, const hu_npy *a, hu_format *f)
{
	hu_format_id id = hu_kernel_job_own(a);
	const char *s = hu_facts_text(&j->facts, key);

	if (s && *s)
		HU_TRY(hu_facts_format(&j->facts, key, &id));
	*f = hu_format_of(id);
	return HU_OK;
}

size_t
hu_judge_array_at(const hu_judge_array *in, size_t i)
{
	size_t at = 0, stride = 1;

	if (!in->is_cut)
		return i;
	for (int d = in->a.rank - 1; d >= 0; d--) {
		at += (in->first[d] + i % in->count[d]) * stride;
		i /= in->count[d];
		stride *= in->a.shape[d];
	}
	return at;
}

static hu_status
operand(const hu_kernel_job *j, const hu_judge_array *in, hu_balls *to)
{
	hu_format f;

	HU_TRY(hu_kernel_job_format(j, "in", &in->a, &f));
	HU_TRY(hu_balls_make(to, in->a.rank, in->is_cut ? in->count : in->a.shape, in->name));
	size_t run = to->rank ? to->d[to->rank - 1] : 1;
	double *x = hu_xmalloc((run + 1) * sizeof *x);
	int codes = j->bits && in->a.dtype[0] != 'f' && f.id != HU_NO_FORMAT;
	for (size_t i = 0; i < to->n; i += run) {
		hu_npy_reals(&in->a, hu_judge_array_at(in, i), run, x);
		for (size_t k = 0; k < run; k++)
			to->b[i + k] = hu_ball_of(codes ? hu_decode((uint64_t)x[k], f) : x[k]);
	}
	free(x);
	return HU_OK;
}

/* A model's constant. */
static hu_status
constant(const hu_tensor *t, hu_balls *to)
{
	size_t d[HU_RANK];

	for (int i = 0; i < t->shape.rank; i++)
		d[i] = t->shape.d[i];
	HU_TRY(hu_balls_make(to, t->shape.rank, d, "the model's constants"));
	for (size_t i = 0; i < to->n; i++)
		to->b[i] = hu_ball_of(hu_get(t, i));
	return HU_OK;
}

/* The value that later calls read in place of the computed one. */
static hu_status
times(const hu_kernel_job *j, hu_balls *to)
{
	HU_TRY(hu_balls_like(to, j->scaled_value, "the graph's values"));
	for (size_t i = 0; i < to->n; i++)
		to->b[i] = hu_ball_of(j->scaled_value->b[i].x * j->factor);
	return HU_OK;
}

/* A result that is stored stochastically is one of its two neighbours: it errs by a whole ulp, which is half an ulp
   besides that of the last store, and its mean square error, ulp^2/6, is that of two roundings to nearest. */
static hu_status
spread(const hu_kernel_job *j, const hu_facts *facts, hu_stores stores, hu_balls *value)
{
	int stochastic;
	hu_format f;

	HU_TRY(hu_facts_stochastic(facts, &stochastic));
	for (int i = 0; i < j->ngot && stochastic && stores != HU_STORES_NONE; i++) {
		const hu_judge_array *got = &j->got[i];
		HU_TRY(hu_kernel_job_result_format(j, got, &f));
		for (size_t k = 0; k < value[got->id].n && (got->a.dtype[0] == 'f' || j->bits); k++)
			value[got->id].b[k] = hu_ball_store(value[got->id].b[k], f, HU_STORES_ADD);
	}
	return HU_OK;
}

hu_status
hu_kernel_job_values(const hu_kernel_job *j, const hu_facts *facts, hu_stores stores, hu_balls **value)
{
	hu_balls *v = hu_xcalloc((size_t)j->graph.n + 1, sizeof *v);
	char *keep = hu_xcalloc((size_t)j->graph.n + 1, 1);
	hu_status st = HU_OK;

	for (int i = 0; i < j->ngot; i++)
		keep[j->got[i].id] = 1;
	if (j->keep_all)
		memset(keep, 1, (size_t)j->graph.n);
	for (int i = 0; i < j->graph.n && st == HU_OK && j->is_onnx; i++)
		if (j->imported.constant[i].data)
			st = constant(&j->imported.constant[i], &v[i]);
	for (int i = 0; i < j->nin && st == HU_OK; i++)
		st = operand(j, &j->in[i], &v[j->in[i].id]);
	hu_balls *given = hu_xcalloc((size_t)j->graph.n + 1, sizeof *given);
	for (int i = 0; i < j->ngiven && st == HU_OK; i++)
		st = operand(j, &j->given[i], &given[j->given[i].id]);
	if (j->scaled_value && st == HU_OK)
		st = times(j, &given[j->scaled]);
	if (st == HU_OK)
		st = j->program ? hu_program_balls(j->program, facts, stores, v, keep, given)
				: hu_graph_run(&j->graph, facts, stores, v, keep, given);
	if (st == HU_OK)
		st = spread(j, facts, stores, v);
	hu_kernel_values_free(j, given);
	free(keep);
	*value = v;
	if (st != HU_OK) {
		hu_kernel_values_free(j, v);
		*value = NULL;
	}
	return st;
}

void
hu_kernel_values_free(const hu_kernel_job *j, hu_balls *value)
{
	for (int i = 0; value && i < j->graph.n; i++)
		hu_balls_release(&value[i]);
	free(value);
}

hu_kernel_word
hu_kernel_job_word(const hu_kernel_job *j)
{
	hu_kernel_word w = HU_KERNEL_RIGHT;

	for (int i = 0; i < j->nresult; i++) {
		w = j->result[i].v.word > w ? j->result[i].v.word : w;
		if (!j->result[i].same_shape)
			w = HU_KERNEL_WRONG;
	}
	return w;
}

void
hu_kernel_job_close(hu_kernel_job *j)
{
	for (int i = 0; i < j->nin; i++)
		hu_npy_release(&j->in[i].a);
	for (int i = 0; i < j->ngot; i++)
		hu_npy_release(&j->got[i].a);
	for (int i = 0; i < j->ngiven; i++)
		hu_npy_release(&j->given[i].a);
	for (int i = 0; i < j->nresult; i++) {
		free(j->result[i].got);
		free(j->result[i].where);
	}
	hu_graph_release(&j->graph);
	hu_program_free(j->owned);
	if (j->is_onnx > 1)
		hu_imported_release(&j->imported);
	if (j->is_onnx)
		hu_onnx_release(&j->onnx);
	hu_facts_release(&j->facts);
	free(j->last);
}
