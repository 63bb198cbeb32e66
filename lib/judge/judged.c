/* SPDX-License-Identifier: Apache-2.0
   Judged values in arrays, and the random sample. */
#include "lib/judge/judge.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/sink.h"

#include <stdlib.h>

size_t *
hu_sample(uint64_t seed, const char *name, size_t step, size_t n, size_t want, size_t *count)
{
	size_t m = want && want < n ? want : n, *out = hu_xmalloc((m + 1) * sizeof *out), k = 0;

	*count = m;
	if (m == n) {
		for (size_t i = 0; i < n; i++)
			out[i] = i;
		return out;
	}
	/* Floyd's sampling (Bentley, Programming pearls, CACM 1987): one draw an element taken. */
	uint64_t *taken = hu_xcalloc(n / 64 + 1, sizeof *taken);
	uint32_t stream = hu_fnv1a32(name);
	for (size_t j = n - m; j < n; j++) {
		size_t i = (size_t)(hu_uniform(hu_random_at(seed, stream, (uint32_t)step, j)) * (double)(j + 1));
		if (i > j || (taken[i / 64] >> (i % 64) & 1))
			i = j;
		taken[i / 64] |= (uint64_t)1 << (i % 64);
	}
	for (size_t i = 0; i <= n / 64; i++)
		for (uint64_t left = taken[i]; left; left &= left - 1)
			out[k++] = i * 64 + (size_t)__builtin_ctzll(left);
	free(taken);
	return out;
}

static hu_judged *
new_judged(size_t n, size_t of, size_t *element, int hex)
{
	hu_judged *j = hu_xcalloc(1, sizeof *j);

	j->n = n;
	j->of = of;
	j->element = element;
	j->got = hu_xmalloc((n + 1) * sizeof *j->got);
	j->exact = hu_xmalloc((n + 1) * sizeof *j->exact);
	j->error = hu_xmalloc((n + 1) * sizeof *j->error);
	j->ulps = hu_xmalloc((n + 1) * sizeof *j->ulps);
	j->bound = hu_xmalloc((n + 1) * sizeof *j->bound);
	j->magnitude = hu_xmalloc((n + 1) * sizeof *j->magnitude);
	j->over = hu_xcalloc(n + 1, 1);
	j->hex = hex ? hu_xcalloc(n + 1, sizeof *j->hex) : NULL;
	return j;
}

void
hu_judged_free(hu_judged *j)
{
	if (!j)
		return;
	for (size_t i = 0; j->hex && i < j->n; i++)
		mpfr_free_str(j->hex[i]);
	free(j->element);
	free(j->got);
	free(j->exact);
	free(j->error);
	free(j->ulps);
	free(j->bound);
	free(j->magnitude);
	free(j->over);
	free(j->hex);
	free(j);
}

static hu_region
part_of(const hu_judge_job *job)
{
	hu_region all = { 0, job->n, 0, 0, 0 };

	return job->some.last ? job->some : all;
}

hu_judged *
hu_judged_begin(const hu_judge_job *job)
{
	hu_region some = part_of(job);
	size_t n = hu_region_count(some), *element = hu_xmalloc((n + 1) * sizeof *element);

	for (size_t i = 0; i < n; i++)
		element[i] = job->element ? job->element[i] : hu_region_element(some, i);
	return new_judged(n, job->got->n, element, job->hex);
}

void
hu_judged_put(hu_judged *j, const hu_judge_job *job, const hu_judging *some)
{
	hu_region part = part_of(job);

	for (size_t i = 0; i < some->n; i++) {
		size_t at = hu_region_place(part, some->at[i]);
		j->got[at] = some->got[i];
		j->exact[at] = some->exact[i];
		j->error[at] = some->error[i];
		j->ulps[at] = some->ulps[i];
		j->over[at] = (char)some->over[i];
		j->bound[at] = some->bound[i];
		j->magnitude[at] = some->magnitude[i];
		if (some->hex)
			j->hex[at] = some->hex[i];
	}
}

/* What hu_judged_new's callback stores, and where. */
typedef struct keeping { hu_judged *j; const hu_judge_job *job; } keeping;

static void
keep(void *context, const hu_judging *some)
{
	const keeping *k = context;

	hu_judged_put(k->j, k->job, some);
}

hu_status
hu_judged_new(const hu_judge_job *job, hu_judged **result)
{
	hu_judge_job mine = *job;
	hu_judged *j = hu_judged_begin(job);
	keeping k = { j, job };

	if (job->n == job->got->n)
		mine.element = NULL; /* all elements come in whole tiles */
	mine.take = keep;
	mine.context = &k;
	hu_status st = hu_judge_each(&mine, &j->methods);
	if (st == HU_OK)
		*result = j;
	else
		hu_judged_free(j);
	return st;
}

hu_status
hu_judge(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const hu_tensor *got,
	size_t *element, size_t n, int hex, hu_judged **result)
{
	hu_judge_job job = {
		.engine = engine, .c = c, .in = in, .out = out, .got = got, .element = element, .n = n, .hex = hex
	};
	hu_status st = hu_judged_new(&job, result);

	free(element);
	return st;
}

double
hu_judge_ulps(double got, mpfr_srcptr exact, hu_format f)
{
	hu_ziv v;

	hu_ziv_mpfr(&v, exact, got, INFINITY, f);
	return v.ulps;
}
