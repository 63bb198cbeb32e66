/* SPDX-License-Identifier: Apache-2.0
   What a call's declared roundings make of its operands, beside a recorded result that is suspected of a bias. */
#include "lib/judge/parts/bias_sum.h"

#include "lib/base/mem.h"
#include "lib/op/element/map.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 4096 };

/* Elements one by one, where the operator's row can. */
static hu_status
some(hu_bias_sum *b, const hu_judge_job *job, size_t n, const hu_env *env)
{
	size_t *at = hu_xmalloc(STEP * sizeof *at);
	double *value = hu_xmalloc(STEP * sizeof *value);
	hu_status st = HU_OK;

	for (size_t i = 0; i < n && st == HU_OK; i += STEP) {
		size_t k = n - i < STEP ? n - i : STEP;
		for (size_t j = 0; j < k; j++)
			at[j] = job->element ? job->element[i + j] : hu_region_element(job->some, i + j);
		st = HU_COLUMN(job->c->op, emulate_some)(job->c, job->in, job->out, at, k, env, value, NULL);
		for (size_t j = 0; j < k && st == HU_OK; j++)
			hu_bias_sum_emulated(b, at[j], hu_get(job->got, at[j]), value[j]);
	}
	free(at);
	free(value);
	return st;
}

/* Whole outputs, in the formats and shapes that the recorded one tells; others are as the call's shape rule says. */
static hu_status
whole(hu_bias_sum *b, const hu_judge_job *job, size_t n, const hu_env *env)
{
	const hu_call *c = job->c;
	hu_shape in[16], out[16] = { { 0, { 0 } } };
	hu_tensor t[16], *to[16];
	hu_status st;

	if (c->nin > 16 || c->nout > 16)
		return HU_EUNABLE;
	for (int i = 0; i < c->nin; i++)
		in[i] = job->in[i]->shape;
	out[job->out] = job->got->shape;
	HU_TRY(hu_op_shape(c, in, out));
	for (int i = 0; i < c->nout; i++) {
		size_t m = hu_count(out[i]);
		t[i] = (hu_tensor){ .format = hu_output_format(c, job->in, i), .shape = out[i], .n = m };
		t[i].data = hu_xcalloc(m + 1, hu_element_size(t[i].format));
		to[i] = &t[i];
	}
	st = HU_COLUMN(c->op, emulate)(c, job->in, to, env);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		size_t at = job->element ? job->element[i] : hu_region_element(job->some, i);
		hu_bias_sum_emulated(b, at, hu_get(job->got, at), hu_get(&t[job->out], at));
	}
	for (int i = 0; i < c->nout; i++)
		free(t[i].data);
	return st;
}

void
hu_bias_sum_ask(hu_bias_sum *b, const hu_judge_job *job, const hu_env *env)
{
	size_t n = job->element ? job->n : job->some.last ? hu_region_count(job->some) : job->got->n;
	int each = HU_COLUMN(job->c->op, emulate_some) != NULL;
	hu_status st = HU_EUNABLE;

	if (each || HU_COLUMN(job->c->op, emulate))
		st = (each ? some : whole)(b, job, n, env);
	if (st != HU_OK) { /* a call that only its recorder can execute */
		memset(b->declared, 0, sizeof b->declared);
		b->asked = 0;
	}
}
