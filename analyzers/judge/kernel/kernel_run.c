/* SPDX-License-Identifier: Apache-2.0
   The run of a kernel's graph and the verdicts on its results. */
#include "analyzers/judge/kernel/culprit.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the graph rounds to a format before its results: 2 for stores that can be decided, 1 for attention's P
   and stochastic stores alone. */
static int
has_stores(const hu_kernel_job *j)
{
	static const char *const keys[] = { "to", "inner", "log_sum", "stats", "ds", "o", "p" };
	int found = 0;

	if (hu_facts_stochastic(&j->facts, &found) != HU_OK) /* its reason is told where values are computed */
		found = 0;
	for (int i = 0; j->program && i < j->program->nc; i++)
		if (hu_format_of(j->program->t[j->program->c[i].out[0]].format).p < 24)
			return 2;

	for (int i = 0; i < j->graph.nc; i++)
		for (int k = 0; k < j->graph.call[i].nkey; k++)
			for (int w = 0; w < 7; w++) {
				hu_ball_call c = j->graph.call[i];
				hu_format_id id = HU_NO_FORMAT;
				c.facts = &j->facts;
				if (!strcmp(c.key[k].key, keys[w]) && hu_ball_format(&c, keys[w], &id) == HU_OK &&
					id != HU_NO_FORMAT)
					found = w < 6 ? 2 : found ? found : 1;
			}
	return found;
}

/* Compares shapes. A result with another number of elements is wrong, and none of them is looked at. */
static void
shapes(hu_judge_result *r, const hu_npy *a, const hu_balls *x)
{
	hu_balls mine = { .rank = a->rank, .n = a->count };

	for (int d = 0; d < HU_BALLS_RANK; d++)
		mine.d[d] = d < a->rank ? a->shape[d] : 1;
	hu_balls_shape(&mine, r->shape);
	hu_balls_shape(x, r->wanted);
	r->same_shape = a->rank == x->rank && !memcmp(mine.d, x->d, (size_t)x->rank * sizeof *x->d);
	if (a->count != x->n)
		r->v = (hu_kernel_verdict){ .word = HU_KERNEL_WRONG };
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

/* The call of a choice that computes value id, or NULL. */
static const hu_ball_call *
choice_of(const hu_kernel_job *j, int id)
{
	for (int i = 0; i < j->graph.nc; i++)
		if (j->graph.call[i].out[0] == id && !strcmp(j->graph.call[i].row->name, "topk"))
			return &j->graph.call[i];
	return NULL;
}

/* A choice: indexes in place of numbers, k for each row. */
static hu_status
decide(const hu_kernel_job *j, const hu_ball_call *call, hu_judge_result *r, const hu_npy *a, const hu_balls *x)
{
	hu_ball_call c = *call;
	size_t k, w = hu_balls_dim(x, -1);

	c.facts = &j->facts;
	HU_TRY(hu_ball_count(&c, "k", 1, &k));
	size_t n = w ? x->n / w * k : 0;
	if (a->count != n) {
		snprintf(r->shape, sizeof r->shape, "of %zu indexes", a->count);
		snprintf(r->wanted, sizeof r->wanted, "of %zu", n);
		r->v = (hu_kernel_verdict){ .word = HU_KERNEL_WRONG };
		return HU_OK;
	}
	r->got = r->got ? r->got : hu_xmalloc((n + 1) * sizeof *r->got);
	for (size_t i = 0; i < n; i++)
		r->got[i] = hu_npy_real(a, i);
	r->decides = r->same_shape = 1;
	r->f = hu_format_of(HU_FP64);
	hu_choice_judge(&r->decision, r->got, k, x);
	r->v = (hu_kernel_verdict){ .word = r->decision.wrong ? HU_KERNEL_WRONG : HU_KERNEL_RIGHT,
		.n = r->decision.rows,
		.wrong = r->decision.wrong,
		.unbounded = r->decision.open };
	return HU_OK;
}

/* The format of a result: the declared one, out.NAME or out, else its file's own. A program's result of a narrower
   type, in a file that holds only numbers of that type, is of that type: NumPy has no bfloat16 and no 8-bit types to
   save it in. */
hu_status
hu_kernel_job_result_format(const hu_kernel_job *j, const hu_judge_array *got, hu_format *f)
{
	hu_format_id own = hu_kernel_job_own(&got->a);
	char key[80];

	snprintf(key, sizeof key, "out.%s", got->name);
	const char *its = hu_facts_text(&j->facts, key);
	if (its && *its)
		return hu_kernel_job_format(j, key, &got->a, f);
	if (j->out_declared || own == HU_NO_FORMAT)
		return hu_kernel_job_format(j, "out", &got->a, f);
	*f = hu_format_of(own);
	if (!j->program || got->id < 0)
		return HU_OK;
	hu_format type = hu_format_of(j->program->t[got->id].format);
	if (type.id == HU_NO_FORMAT || type.p >= f->p)
		return HU_OK;
	for (size_t i = 0; i < got->a.count; i++) {
		double x = hu_npy_real(&got->a, i);
		if (!isnan(x) && hu_round(x, type, HU_RNE, 0, 0) != x)
			return HU_OK;
	}
	*f = type;
	return HU_OK;
}

static hu_status
judge(hu_kernel_job *j, int at, const hu_balls *x, const hu_balls *declared, const hu_balls *compute)
{
	const hu_judge_array *got = &j->got[at];
	hu_judge_result *r = &j->result[at];

	j->nresult = at + 1 > j->nresult ? at + 1 : j->nresult;
	r->name = got->name;
	r->id = got->id;
	if (choice_of(j, got->id))
		return decide(j, choice_of(j, got->id), r, &got->a, x);
	HU_TRY(hu_kernel_job_result_format(j, got, &r->f));
	if (r->f.id == HU_NO_FORMAT)
		return hu_fail(
			HU_EINVAL, "--got %s holds integers: say their format, --set out=…, and --bits", got->name);
	shapes(r, &got->a, x);
	if (got->a.count != x->n)
		return HU_OK;
	if (!r->got)
		r->got = hu_xmalloc((x->n + 1) * sizeof *r->got);
	for (size_t i = 0; i < x->n; i++)
		r->got[i] = hu_kernel_job_element(j, &got->a, i, r->f);
	hu_kernel_judge(&r->v, r->got, x, declared, compute, r->f, j->confidence);
	return at == 0 ? write(j, x, r->f) : HU_OK;
}

/* Values are taken as they are; the first operand's have to be of the format that `in` names. */
static hu_status
held(const hu_kernel_job *j)
{
	const hu_judge_array *in = &j->in[0];
	hu_format f;

	HU_TRY(hu_kernel_job_format(j, "in", &in->a, &f));
	if (j->bits || in->a.dtype[0] != 'f' || f.id == HU_NO_FORMAT || f.id == hu_kernel_job_own(&in->a))
		return HU_OK;
	for (size_t i = 0; i < in->a.count && !j->sample; i++) { /* a sample reads no whole array */
		double x = hu_npy_real(&in->a, i);
		if (!isnan(x) && hu_round(x, f, HU_RNE, 0, 0) != x)
			return hu_fail(HU_EFILE, "--in %s: element %zu is %.9g, which is no number of in=%s", in->name,
				i, x, hu_format_name(f.id));
	}
	return HU_OK;
}

/* The links "in" and "out" of formats mean those of the first operand and the first result, where none is declared. */
static hu_status
settle(hu_kernel_job *j)
{
	const char *in = hu_facts_text(&j->facts, "in"), *out = hu_facts_text(&j->facts, "out");
	hu_format f;

	j->out_declared = out && *out;
	if (j->nin && !(in && *in) && hu_kernel_job_own(&j->in->a) != HU_NO_FORMAT)
		hu_facts_set(&j->facts, "in", hu_format_name(hu_kernel_job_own(&j->in->a)));
	if (j->out_declared)
		return HU_OK;
	HU_TRY(hu_kernel_job_result_format(j, j->got, &f));
	if (f.id != HU_NO_FORMAT)
		hu_facts_set(&j->facts, "out", hu_format_name(f.id));
	return HU_OK;
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
hu_kernel_job_settle(hu_kernel_job *j)
{
	if (j->is_settled)
		return HU_OK;
	if (j->nin)
		HU_TRY(held(j));
	HU_TRY(settle(j));
	j->has_stores = has_stores(j);
	j->is_settled = 1;
	return HU_OK;
}

hu_status
hu_kernel_job_run(hu_kernel_job *j)
{
	hu_balls *x = NULL, *declared = NULL, *compute = NULL;
	hu_status st;

	HU_TRY(hu_kernel_job_settle(j));
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
		if (!j->result[i].decides && j->result[i].v.n && j->result[i].v.word != HU_KERNEL_RIGHT)
			st = hu_kernel_culprit(j, &j->result[i], &x[j->got[i].id]);
	hu_kernel_values_free(j, x);
	hu_kernel_values_free(j, declared);
	hu_kernel_values_free(j, compute);
	for (int i = 0; i < j->nresult && st == HU_OK && j->culprit; i++)
		if (!j->result[i].decides && j->result[i].v.n && j->result[i].same_shape)
			st = hu_kernel_narrower(j, &j->result[i]);
	return st;
}
