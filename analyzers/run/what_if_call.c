/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/what_if_call.h"

#include "lib/base/mem.h"
#include "lib/judge/parts/packs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct attempt {
	hu_analysis *a;
	hu_trace *t;
	hu_call call;          /* the call with its summation model replaced */
	hu_tensor **in;
	hu_tensor got;         /* memory for its output */
	hu_region some;        /* of a tile; last 0: the sample is judged */
	size_t *element, n;
	hu_methods *methods;
} attempt;

/* Returns the largest error bound in ulps of its output. */
static double
bound_in_ulps(const hu_judged *j, hu_format f)
{
	double most = 0;

	for (size_t i = 0; i < j->n; i++) {
		double b = j->bound[i] == 0           ? 0
			   : hu_isfinite(j->exact[i]) ? ldexp(j->bound[i], -hu_ulp_exponent(j->exact[i], f))
						      : INFINITY;
		most = b > most ? b : most;
	}
	return most;
}

/* Judges the call's sample or tile under the summation model that it has now. */
static hu_status
compute_sum(attempt *s, hu_what_if_call *f)
{
	const hu_call *c = &s->call;
	hu_env env = { (uint64_t)json_integer_value(json_object_get(s->a->run->manifest, "seed")),
		(uint32_t)s->t->step };
	hu_judge_job job = { .engine = s->a->opt.engine, .c = c, .in = s->in, .got = &s->got, .some = s->some,
		.element = s->some.last ? NULL : s->element, .n = s->some.last ? s->got.n : s->n };
	double *value = hu_xmalloc((s->n + 1) * sizeof *value);
	hu_judged *j = NULL;
	hu_status st = HU_COLUMN(c->op, emulate_some)(c, s->in, 0, s->element, s->n, &env, value, &f->count);

	for (size_t i = 0; st == HU_OK && i < s->n; i++)
		hu_put(&s->got, s->element[i], value[i]);
	free(value);
	HU_TRY(st);
	HU_TRY(hu_judged_new(&job, &j));
	f->taken = 1;
	f->n = job.n;
	hu_errors_begin(&f->sum, job.n, j->of);
	hu_errors_add_judged(&f->sum, j);
	f->bound_ulps = bound_in_ulps(j, hu_format_of(s->got.format));
	hu_methods_add(s->methods, &j->methods);
	hu_judged_free(j);
	return HU_OK;
}

hu_status
hu_what_if_call_compute(hu_analysis *a, hu_trace *t, const hu_work_unit *u, const hu_sum *model, int n,
	hu_what_if_call *f, int *there, hu_str *why, hu_methods *methods)
{
	const hu_call *c = &a->run->train->c[u->call];
	const hu_info *info = &a->run->train->t[c->out[0]];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	attempt s = { .a = a, .t = t, .call = *c, .in = in, .methods = methods };

	*there = hu_analysis_inputs(c, t, in);
	if (!*there) {
		free(in);
		return HU_OK;
	}
	s.got = (hu_tensor){ .format = info->format, .shape = info->shape, .n = hu_count(info->shape) };
	s.got.data = hu_alloc(s.got.n * hu_element_size(info->format));
	if (!s.got.data) {
		free(in);
		return hu_fail(HU_ENOMEM, "%s: no memory for %zu outputs", info->name, s.got.n);
	}
	if (u->tiles > 1) { /* tiles are of calls of which every element is judged */
		s.some = u->some;
		s.n = hu_region_count(u->some);
		s.element = hu_xmalloc((s.n + 1) * sizeof *s.element);
		for (size_t i = 0; i < s.n; i++)
			s.element[i] = hu_region_element(u->some, i);
	} else
		s.element = hu_sample(a->opt.seed, info->name, t->step, s.got.n, a->opt.sample, &s.n);
	hu_status st = compute_sum(&s, &f[0]);
	for (int i = 0; i < n && st == HU_OK; i++) {
		hu_sum sum = model[i];
		/* a tensor core accepts some formats only; other calls have no row */
		if (hu_sum_resolve(&sum, in[0]->format, in[1]->format, c->fmt.acc) != HU_OK) {
			if (!why->len)
				hu_str_add(why, hu_reason());
			continue;
		}
		s.call.sum = model[i];
		st = compute_sum(&s, &f[i + 1]);
	}
	free(s.element);
	free(s.got.data);
	free(in);
	return st;
}

void
hu_what_if_call_put(hu_pack *r, hu_what_if_call *f)
{
	hu_pack_int(r, &f->taken);
	if (!f->taken)
		return;
	hu_pack_size(r, &f->n);
	hu_pack_errors_sum(r, &f->sum);
	hu_pack_real(r, &f->bound_ulps);
	hu_pack_swamp(r, &f->count);
}

void
hu_what_if_call_get(hu_pack *r, hu_what_if_call *f, size_t of)
{
	hu_swamp count = { 0, 0, 0, 0 };
	double bound_ulps = 0;
	hu_errors_sum part;
	int taken = 0;
	size_t n = 0;

	hu_pack_int(r, &taken);
	if (r->bad || !taken)
		return;
	hu_pack_size(r, &n);
	r->bad |= n > of || (f->taken && n != f->n);
	if (r->bad)
		return;
	hu_errors_begin(&part, n, of);
	hu_pack_errors_sum(r, &part);
	hu_pack_real(r, &bound_ulps);
	hu_pack_swamp(r, &count);
	if (!f->taken)
		hu_errors_begin(&f->sum, n, of);
	f->taken = 1;
	f->n = n;
	if (!r->bad)
		hu_errors_merge(&f->sum, &part);
	free(part.top);
	f->bound_ulps = bound_ulps > f->bound_ulps ? bound_ulps : f->bound_ulps;
	f->count.additions += count.additions;
	f->count.swamped += count.swamped;
	f->count.stagnated += count.stagnated;
}

void
hu_what_if_call_release(hu_what_if_call *f)
{
	free(f->sum.top);
	memset(f, 0, sizeof *f);
}
