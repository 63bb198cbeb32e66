/* SPDX-License-Identifier: Apache-2.0
   What becomes of the library's calls: the shape of a result, the result, the judgement of anybody's. */
#include "lib/api/call.h"
#include "lib/api/enter.h"
#include "lib/api/format.h"
#include "lib/base/mem.h"
#include "lib/judge/judge.h"

#include <stdlib.h>

struct halfulp_judgement {
	hu_judged *j;
	size_t beyond, worst;
};

typedef struct asking {
	const halfulp_call *call;
	int k;
	size_t *shape;
	int *rank;
	size_t *n;
	const halfulp_format **format;
} asking;

static hu_status
ask(void *of)
{
	const asking *a = of;
	hu_call_settled s;

	HU_TRY(hu_call_settle(&s, a->call, a->k, "halfulp_call_result"));
	hu_shape y = s.shape[a->k];
	for (int d = 0; a->shape && d < HALFULP_RANK; d++)
		a->shape[d] = d < y.rank ? y.d[d] : 1;
	if (a->rank)
		*a->rank = y.rank;
	if (a->n)
		*a->n = hu_count(y);
	if (a->format)
		*a->format = hu_format_shared(s.format[a->k]);
	return HU_OK;
}

halfulp_status
halfulp_call_result(const halfulp_call *call, int k, size_t shape[HALFULP_RANK], int *rank, size_t *n,
	const halfulp_format **format)
{
	return hu_api_enter(ask, &(asking){ call, k, shape, rank, n, format });
}

typedef struct working {
	const char *function;
	const halfulp_call *call;
	int k;
	double *y;
	const double *got;
	size_t n;
	halfulp_judgement **judgement;
} working;

static hu_status
length(const working *w, const hu_call_settled *s)
{
	size_t n = hu_count(s->shape[w->k]);

	if (w->n != n)
		return hu_fail(HU_EINVAL, "%s: result %d of %s has %zu elements, not %zu (halfulp_call_result)",
			w->function, w->k, s->call.op->name, n, w->n);
	return hu_api_needs(n ? (w->y ? w->y : w->got) : (const void *)w, w->function, "array");
}

/* Makes results first … last - 1; hu_tensor.data is NULL where there is no memory. */
static hu_status
results(hu_tensor *t, hu_tensor **out, const hu_call_settled *s)
{
	for (int i = 0; i < s->call.op->nout; i++) {
		t[i] = (hu_tensor){ .format = s->format[i], .shape = s->shape[i], .n = hu_count(s->shape[i]) };
		t[i].data = hu_alloc((t[i].n + 1) * hu_element_size(t[i].format));
		if (!t[i].data)
			return hu_fail(HU_ENOMEM, "%s: there is no memory for a result of %zu elements",
				s->call.op->name, t[i].n);
		out[i] = &t[i];
	}
	return HU_OK;
}

static hu_status
compute(void *of)
{
	const working *w = of;
	hu_call_settled s;
	hu_tensor t[HU_CALL_OUTPUTS] = { { .data = NULL } }, *out[HU_CALL_OUTPUTS];

	HU_TRY(hu_call_settle(&s, w->call, w->k, w->function));
	HU_TRY(length(w, &s));
	hu_env env = { w->call->seed, 0 };
	hu_status st = results(t, out, &s);
	if (st == HU_OK)
		st = HU_COLUMN(s.call.op, emulate)(&s.call, s.in, out, &env);
	for (size_t i = 0; st == HU_OK && i < w->n; i++)
		w->y[i] = hu_get(&t[w->k], i);
	for (int i = 0; i < HU_CALL_OUTPUTS; i++)
		free(t[i].data);
	return st;
}

halfulp_status
halfulp_call_run(const halfulp_call *call, int k, double *y, size_t n)
{
	return hu_api_enter(compute, &(working){ __func__, call, k, y, NULL, n, NULL });
}

static hu_status
judge(void *of)
{
	const working *w = of;
	hu_call_settled s;
	const hu_engine *engine;

	HU_TRY(hu_api_needs(w->judgement, w->function, "judgement"));
	*w->judgement = NULL;
	HU_TRY(hu_call_settle(&s, w->call, w->k, w->function));
	HU_TRY(length(w, &s));
	if (!HU_COLUMN(s.call.op, reference) && !HU_COLUMN(s.call.op, enclose))
		return hu_fail(HU_EUNABLE, "%s: %s has no reference", w->function, s.call.op->name);
	hu_format f = hu_format_of(s.format[w->k]);
	size_t wrong = hu_format_misfit(w->got, w->n, f);
	if (wrong < w->n)
		return hu_fail(HU_EINVAL, "%s: got[%zu] = %.17g is no value of %s", w->function, wrong, w->got[wrong],
			hu_format_name(f.id));
	hu_tensor got = { .format = f.id, .shape = s.shape[w->k], .n = w->n };
	got.data = hu_alloc((w->n + 1) * hu_element_size(f.id));
	if (!got.data)
		return hu_fail(HU_ENOMEM, "%s: there is no memory for %zu elements", w->function, w->n);
	for (size_t i = 0; i < w->n; i++)
		hu_put(&got, i, w->got[i]);
	HU_TRY(hu_engine_named("auto", &engine));
	hu_judge_job job = { .engine = engine, .c = &s.call, .in = s.in, .out = w->k, .got = &got, .n = w->n };
	halfulp_judgement *j = hu_xcalloc(1, sizeof *j);
	hu_status st = hu_judged_new(&job, &j->j);
	free(got.data);
	if (st != HU_OK) {
		free(j);
		return st;
	}
	for (size_t i = 0; i < j->j->n; i++) {
		j->beyond += j->j->over[i] != 0;
		j->worst = j->j->ulps[i] > j->j->ulps[j->worst] ? i : j->worst;
	}
	*w->judgement = j;
	return HU_OK;
}

halfulp_status
halfulp_call_judge(halfulp_judgement **judgement, const halfulp_call *call, int k, const double *got, size_t n)
{
	return hu_api_enter(judge, &(working){ __func__, call, k, NULL, got, n, judgement });
}

void
halfulp_judgement_free(halfulp_judgement *judgement)
{
	if (judgement)
		hu_judged_free(judgement->j);
	free(judgement);
}

size_t
halfulp_judgement_count(const halfulp_judgement *judgement)
{
	return judgement->j->n;
}
size_t
halfulp_judgement_beyond(const halfulp_judgement *judgement)
{
	return judgement->beyond;
}
size_t
halfulp_judgement_worst(const halfulp_judgement *judgement)
{
	return judgement->worst;
}
const double *
halfulp_judgement_exact(const halfulp_judgement *judgement)
{
	return judgement->j->exact;
}
const double *
halfulp_judgement_error(const halfulp_judgement *judgement)
{
	return judgement->j->error;
}
const double *
halfulp_judgement_ulps(const halfulp_judgement *judgement)
{
	return judgement->j->ulps;
}
const double *
halfulp_judgement_bound(const halfulp_judgement *judgement)
{
	return judgement->j->bound;
}
