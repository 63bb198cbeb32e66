/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel_job.h"

#include "analyzers/judge/culprit.h"
#include "lib/base/mem.h"
#include "lib/number/code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element i of an array as a number: integers are codes of f with --bits. */
static double
element(const hu_kernel_job *j, const hu_npy *a, size_t i, hu_format f)
{
	if (!j->bits || a->dtype[0] == 'f' || f.id == HU_NO_FORMAT)
		return hu_npy_real(a, i);
	return hu_decode((uint64_t)hu_npy_real(a, i), f);
}

static hu_format_id
own_format(const hu_npy *a)
{
	return !strcmp(a->dtype, "f2")   ? HU_FP16
	       : !strcmp(a->dtype, "f4") ? HU_FP32
	       : !strcmp(a->dtype, "f8") ? HU_FP64
					 : HU_NO_FORMAT;
}

/* The declared format, or the array's own. */
static hu_status
format_of(const hu_kernel_job *j, const char *key, const hu_npy *a, hu_format *f)
{
	hu_format_id id = own_format(a);
	const char *s = hu_facts_text(&j->facts, key);

	if (s && *s)
		HU_TRY(hu_facts_format(&j->facts, key, &id));
	*f = hu_format_of(id);
	return HU_OK;
}

static hu_status
operand(const hu_kernel_job *j, const hu_judge_array *in, hu_balls *to)
{
	hu_format f;

	HU_TRY(format_of(j, "in", &in->a, &f));
	HU_TRY(hu_balls_make(to, in->a.rank, in->a.shape, in->name));
	for (size_t i = 0; i < to->n; i++)
		to->b[i] = hu_ball_of(element(j, &in->a, i, f));
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
	for (int i = 0; i < j->nin && st == HU_OK; i++)
		st = operand(j, &j->in[i], &v[j->in[i].id]);
	hu_balls *given = hu_xcalloc((size_t)j->graph.n + 1, sizeof *given);
	for (int i = 0; i < j->ngiven && st == HU_OK; i++)
		st = operand(j, &j->given[i], &given[j->given[i].id]);
	if (j->scaled_value && st == HU_OK)
		st = times(j, &given[j->scaled]);
	if (st == HU_OK)
		st = hu_graph_run(&j->graph, facts, stores, v, keep, given);
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

/* Whether the graph rounds to a format before its results: 2 for stores that can be decided, 1 for attention's P
   alone. */
static int
has_stores(const hu_kernel_job *j)
{
	static const char *const keys[] = { "to", "inner", "log_sum", "p" };
	int found = 0;

	for (int i = 0; i < j->graph.nc; i++)
		for (int k = 0; k < j->graph.call[i].nkey; k++)
			for (int w = 0; w < 4; w++) {
				hu_ball_call c = j->graph.call[i];
				hu_format_id id = HU_NO_FORMAT;
				c.facts = &j->facts;
				if (!strcmp(c.key[k].key, keys[w]) && hu_ball_format(&c, keys[w], &id) == HU_OK &&
					id != HU_NO_FORMAT)
					found = w < 3 ? 2 : found ? found : 1;
			}
	return found;
}

static hu_status
shapes(hu_judge_result *r, const hu_npy *a, const hu_balls *x)
{
	hu_balls mine = { .rank = a->rank, .n = a->count };

	for (int d = 0; d < HU_BALLS_RANK; d++)
		mine.d[d] = d < a->rank ? a->shape[d] : 1;
	hu_balls_shape(&mine, r->shape);
	hu_balls_shape(x, r->wanted);
	r->same_shape = a->rank == x->rank && !memcmp(mine.d, x->d, (size_t)x->rank * sizeof *x->d);
	if (a->count == x->n)
		return HU_OK;
	return hu_fail(HU_EFILE, "--got %s has shape %s, where the result has %s", r->name, r->shape, r->wanted);
}

/* Writes the exact values and the bounds of the first result where files for them are named. */
static hu_status
write(const hu_kernel_job *j, const hu_balls *x, hu_format f)
{
	double *v = hu_xmalloc((x->n + 1) * sizeof *v);
	hu_status st = HU_OK;

	for (int what = 0; what < 2 && st == HU_OK; what++) {
		for (size_t i = 0; i < x->n; i++)
			v[i] = what ? hu_kernel_bound(x->b[i], f) : x->b[i].x;
		const char *path = what ? j->bound : j->exact;
		if (path)
			st = hu_npy_write(path, "f8", x->rank, x->d, v);
	}
	free(v);
	return st;
}

static hu_status
judge(hu_kernel_job *j, int at, const hu_balls *x, const hu_balls *declared, const hu_balls *compute)
{
	const hu_judge_array *got = &j->got[at];
	hu_judge_result *r = &j->result[at];

	j->nresult = at + 1 > j->nresult ? at + 1 : j->nresult;
	r->name = got->name;
	HU_TRY(format_of(j, "out", &got->a, &r->f));
	if (r->f.id == HU_NO_FORMAT)
		return hu_fail(
			HU_EINVAL, "--got %s holds integers: say their format, --set out=…, and --bits", got->name);
	HU_TRY(shapes(r, &got->a, x));
	if (!r->got)
		r->got = hu_xmalloc((x->n + 1) * sizeof *r->got);
	for (size_t i = 0; i < x->n; i++)
		r->got[i] = element(j, &got->a, i, r->f);
	hu_kernel_judge(&r->v, r->got, x, declared, compute, r->f, j->confidence);
	return at == 0 ? write(j, x, r->f) : HU_OK;
}

/* Values are taken as they are; the first operand's have to be of the format that `in` names. */
static hu_status
held(const hu_kernel_job *j)
{
	const hu_judge_array *in = &j->in[0];
	hu_format f;

	HU_TRY(format_of(j, "in", &in->a, &f));
	if (j->bits || in->a.dtype[0] != 'f' || f.id == HU_NO_FORMAT || f.id == own_format(&in->a))
		return HU_OK;
	for (size_t i = 0; i < in->a.count; i++) {
		double x = hu_npy_real(&in->a, i);
		if (!isnan(x) && hu_round(x, f, HU_RNE, 0, 0) != x)
			return hu_fail(HU_EFILE, "--in %s: element %zu is %.9g, which is no number of in=%s", in->name,
				i, x, hu_format_name(f.id));
	}
	return HU_OK;
}

/* The link "in" of formats means that of the first operand, where none is declared. */
static void
settle(hu_kernel_job *j)
{
	static const char *const keys[] = { "in", "out" };
	const hu_judge_array *from[] = { j->in, j->got };

	for (int k = j->nin ? 0 : 1; k < 2; k++) {
		hu_format_id id = own_format(&from[k]->a);
		const char *s = hu_facts_text(&j->facts, keys[k]);
		if ((!s || !*s) && id != HU_NO_FORMAT)
			hu_facts_set(&j->facts, keys[k], hu_format_name(id));
	}
}

/* Judges all results; compute is NULL where radii of the computation alone are not known. */
static hu_status
judge_all(hu_kernel_job *j, const hu_balls *x, const hu_balls *declared, const hu_balls *compute)
{
	for (int i = 0; i < j->ngot; i++) {
		int id = j->got[i].id;
		HU_TRY(judge(j, i, &x[id], &declared[id], compute ? &compute[id] : NULL));
	}
	return HU_OK;
}

static int
seems_biased(const hu_kernel_job *j)
{
	for (int i = 0; i < j->nresult; i++)
		if (j->result[i].v.bias.t > HU_BIAS_T)
			return 1;
	return 0;
}

hu_status
hu_kernel_job_run(hu_kernel_job *j)
{
	hu_balls *x = NULL, *declared = NULL, *compute = NULL;
	hu_status st;

	if (j->nin)
		HU_TRY(held(j));
	settle(j);
	j->has_stores = has_stores(j);
	st = hu_kernel_job_values(j, &j->facts, HU_STORES_ADD, &x);
	if (st == HU_OK && j->has_stores > 1)
		st = hu_kernel_job_values(j, &j->facts, HU_STORES_DECIDE, &declared);
	if (st == HU_OK)
		st = judge_all(j, x, declared ? declared : x, j->has_stores ? NULL : x);
	if (st == HU_OK && j->has_stores && seems_biased(j)) { /* less what the computation itself may err */
		st = hu_kernel_job_values(j, &j->facts, HU_STORES_NONE, &compute);
		if (st == HU_OK)
			st = judge_all(j, x, declared ? declared : x, compute);
	}
	for (int i = 0; i < j->nresult && st == HU_OK && j->culprit; i++)
		if (j->result[i].v.word != HU_KERNEL_RIGHT || !j->result[i].same_shape)
			st = hu_kernel_culprit(j, &j->result[i], &x[j->got[i].id]);
	hu_kernel_values_free(j, x);
	hu_kernel_values_free(j, declared);
	hu_kernel_values_free(j, compute);
	return st;
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
	for (int i = 0; i < j->nresult; i++)
		free(j->result[i].got);
	hu_graph_release(&j->graph);
	hu_facts_release(&j->facts);
	free(j->last);
}
