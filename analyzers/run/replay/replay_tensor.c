/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/replay/replay_tensor.h"

#include "analyzers/run/replay/replay_rows.h"
#include "lib/base/mem.h"

#include <stdlib.h>

static void
take(void *context, const hu_judging *some)
{
	hu_replay_tensor *x = context;

	hu_errors_add(&x->sum, some);
	hu_bias_sum_add(&x->bias, some);
	if (x->kept)
		hu_judged_put(x->kept, x->job, some);
#pragma omp atomic
	x->taken += some->n;
	for (size_t i = 0; i < some->n; i++)
		if (some->over[i]) {
#pragma omp critical(hu_replay_faults)
			hu_fault_note(&x->all, x->a, x->t->step, x->id, some->element[i], some->got[i], some->exact[i],
				some->ulps[i], some->bound[i]);
		}
}

/* Emulates what the call declares where errors have one direction. */
static void
ask(hu_replay_tensor *x, const hu_analysis *a, const hu_work_unit *u)
{
	hu_env env = { (uint64_t)json_integer_value(json_object_get(a->run->manifest, "seed")), (uint32_t)x->t->step };
	hu_tensor **in;
	hu_judge_job job;
	size_t *element;

	if (!hu_bias_sum_suspects(&x->bias, u->tiles))
		return;
	in = hu_xmalloc(((size_t)a->run->train->c[u->call].nin + 1) * sizeof *in);
	if (hu_analysis_job(a, x->t, x->id, in, &element, &job)) {
		if (!element && u->tiles > 1)
			job.some = hu_analysis_part(a, u, job.out);
		hu_bias_sum_ask(&x->bias, &job, &env);
	}
	free(element);
	free(in);
}

/* Judges into arrays that are kept, where others will ask for them or every element gets a row. */
static hu_status
judge_kept(hu_replay_tensor *x, hu_analysis *a, hu_trace *t, const hu_work_unit *u, hu_memo **memo, hu_methods *methods)
{
	const hu_judged *j;

	HU_TRY(hu_analysis_judge(a, t, x->id, memo, &j));
	if (!j)
		return HU_OK;
	hu_errors_collect(&x->sum, j);
	hu_bias_sum_add_judged(&x->bias, j);
	ask(x, a, u);
	for (size_t i = 0; i < j->n; i++)
		if (j->over[i])
			hu_fault_note(&x->all, a, t->step, x->id, j->element[i], j->got[i], j->exact[i], j->ulps[i],
				j->bound[i]);
	if (a->opt.elements)
		hu_replay_elements(&x->each, a, t, x->id, j);
	hu_methods_add(methods, &j->methods);
	x->n = j->n;
	return HU_OK;
}

static hu_status
judge_streaming(hu_replay_tensor *x, hu_analysis *a, hu_trace *t, const hu_work_unit *u, hu_memo **memo,
	hu_methods *methods)
{
	int id = x->id;
	hu_tensor **in = hu_xmalloc(((size_t)a->run->train->c[a->run->train->t[id].producer].nin + 1) * sizeof *in);
	hu_judge_job job;
	size_t *element;
	hu_status st = HU_OK;

	if (hu_analysis_job(a, t, id, in, &element, &job)) {
		x->n = job.n;
		hu_errors_begin(&x->sum, job.n, job.got->n);
		job.memo = memo;
		job.take = take;
		job.context = x;
		hu_region some = hu_analysis_part(a, u, job.out);
		size_t n = hu_region_count(some);
		if (u->tiles > 1)
			job.some = some;
		x->job = &job;
		if (n && a->keeps && hu_analysis_narrows(a->run->train, job.c, job.out))
			x->kept = hu_judged_begin(&job);
		if (n && a->encloses && !some.row && !t->skipped && hu_is_update(a->run->train, job.c))
			job.enclosed = t->enclosed[id] = hu_enclosed_new(some.first, n);
		hu_methods mine = { 0, 0, 0, 0 };
		if (n)
			st = hu_judge_each(&job, &mine);
		hu_methods_add(methods, &mine);
		if (x->kept && st == HU_OK) {
			x->kept->methods = mine;
			t->judged[id] = x->kept;
		} else
			hu_judged_free(x->kept);
		if (st == HU_OK)
			ask(x, a, u);
		HU_ASSERT(st != HU_OK || x->taken == (job.element ? job.n : n));
	}
	free(element);
	free(in);
	return st;
}

void
hu_replay_tensor_init(hu_replay_tensor *x, const hu_analysis *a, const hu_trace *t, int id)
{
	const hu_program *p = a->run->train;

	*x = (hu_replay_tensor){ .a = a, .t = t, .id = id };
	hu_bias_sum_begin(&x->bias, hu_format_of(p->t[id].format), hu_count(p->t[id].shape));
	hu_analysis_rows_init(&x->each, HU_REPLAY_EACH);
}

void
hu_replay_tensor_release(hu_replay_tensor *x)
{
	free(x->sum.top);
	free(x->all.f);
	hu_tsv_release(&x->each);
}

hu_status
hu_replay_tensor_judge(hu_replay_tensor *x, hu_analysis *a, hu_trace *t, const hu_work_unit *u, hu_memo **memo,
	hu_methods *methods)
{
	int keeps = a->opt.sample || a->opt.elements;
	hu_status st = (keeps ? judge_kept : judge_streaming)(x, a, t, u, memo, methods);

	if (st != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_fail(st, "step %zu, %s: %s", t->step, a->run->train->t[x->id].name, why);
		free(why);
	}
	return st;
}

void
hu_replay_tensor_pack(hu_pack *r, hu_replay_tensor *x)
{
	hu_pack_size(r, &x->n);
	if (!x->n)
		return;
	hu_pack_errors_sum(r, &x->sum);
	hu_bias_sum_pack(r, &x->bias);
	hu_faults_pack(r, &x->all, x->a->run->train, x->t->step, x->id);
	if (x->a->opt.elements)
		hu_analysis_rows(r, &x->each);
}
