/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/allreduce/records.h"

#include "analyzers/op/foreign.h"
#include "lib/base/hash.h"
#include "lib/base/guard/input.h"
#include "lib/base/mem.h"
#include "lib/base/memory/room.h"
#include "lib/base/show.h"
#include "lib/judge/judge.h"
#include "lib/number/elementary/elementary.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/program/links.h"
#include "lib/program/pass/feedback.h"
#include "lib/store/run_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One tensor of a record, from a run or from a file. */
typedef struct item {
	const char *name;
	size_t n;
	const hu_tensor *t;
	const hu_array *a;
} item;

static double
value(const item *it, size_t i)
{
	return hu_round(it->t ? hu_get(it->t, i) : hu_array_get(it->a, i), hu_format_of(HU_FP32), HU_RNE, 0, 0);
}

/* The names and lengths of the tensors, by which records are compared. The caller frees it. */
static char *
names_of(const item *it, size_t n)
{
	hu_str s;

	hu_str_init(&s);
	for (size_t i = 0; i < n; i++)
		hu_str_addf(&s, "%s of %zu, ", it[i].name, it[i].n);
	return s.s;
}

static hu_status
add(hu_records *r, const char *path, const item *it, size_t n, size_t sample)
{
	char *names = names_of(it, n);
	size_t e = 0, at = 0;

	if (!r->n) {
		for (size_t i = 0; i < n; i++)
			r->of += it[i].n;
		if (!r->of) {
			free(names);
			return hu_fail(HU_EFILE, "%s has no gradients", hu_shown(path));
		}
		r->names = names;
		r->first = hu_xstrdup(path);
		r->place = hu_sample(r->seed, "allreduce", 0, r->of, sample, &r->elements);
	} else {
		int same = !strcmp(names, r->names);
		free(names);
		if (!same)
			return hu_fail(HU_EFILE, "%s has other tensors than %s: every rank needs the same ones",
				hu_shown(path), hu_shown(r->first));
	}
	double *x = hu_xcalloc(r->elements + 1, sizeof *x);
	r->x = hu_xrealloc(r->x, (r->n + 1) * sizeof *r->x);
	r->x[r->n] = x;
	r->nonfinite = hu_xrealloc(r->nonfinite, (r->n + 1) * sizeof *r->nonfinite);
	r->nonfinite[r->n] = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < it[i].n; k++, at++) {
			double v = value(&it[i], k);
			r->amax = hu_isfinite(v) && fabs(v) > r->amax ? fabs(v) : r->amax;
			r->nonfinite[r->n] += !hu_isfinite(v);
			if (e < r->elements && r->place[e] == at)
				x[e++] = v;
		}
	r->n++;
	return HU_OK;
}

/* Notes that a step has brought `ranks` more records: the ranks of every step stay together where all have as many. */
static void
count_step(hu_records *r, size_t ranks)
{
	r->ranks = r->n == ranks || r->ranks == ranks ? ranks : 1;
}

static hu_status
add_file(hu_records *r, const char *path, size_t sample)
{
	hu_foreign f;
	size_t n = 0;

	HU_TRY(hu_foreign_open(&f, path));
	item *it = hu_xcalloc(f.n + 1, sizeof *it);
	for (size_t i = 0; i < f.n; i++)
		if (f.array[i].format != HU_NO_FORMAT)
			it[n++] = (item){ f.array[i].name, f.array[i].n, NULL, &f.array[i] };
	hu_status st = add(r, path, it, n, sample);
	if (st == HU_OK)
		count_step(r, 1);
	free(it);
	hu_foreign_release(&f);
	return st;
}

/* Returns the tensor that is operand k of an all-reduce, without what error feedback added to it. */
static int
own_gradient(const hu_program *p, const hu_call *c, int k)
{
	hu_feedback f;

	return hu_feedback_of(p, c->in[k], &f) ? f.term : c->in[k];
}

/* Adds a record for each rank of a training that computes what ranks have: operand k of its calls all_reduce is rank
   k's gradient, and is named after the sum. *ranks gets their number, 0 where the program has no such call. */
static hu_status
add_ranks(hu_records *r, int *ranks, const hu_run *run, hu_run_trace *trace, size_t sample)
{
	const hu_program *p = run->train;
	hu_status st = HU_OK;

	*ranks = 0;
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].op->role == HU_ROLE_ALL_REDUCE && p->c[i].nin > *ranks)
			*ranks = p->c[i].nin;
	item *it = hu_xcalloc((size_t)p->nc + 1, sizeof *it);
	for (int k = 0; k < *ranks && st == HU_OK; k++) {
		size_t n = 0;
		for (int i = 0; i < p->nc && st == HU_OK; i++) {
			const hu_call *c = &p->c[i];
			if (c->op->role != HU_ROLE_ALL_REDUCE || k >= c->nin)
				continue;
			int own = own_gradient(p, c, k);
			if (!trace->t[own].data)
				continue;
			it[n++] = (item){ p->t[c->out[0]].name, trace->t[own].n, &trace->t[own], NULL };
			st = hu_run_trace_need(trace, own);
		}
		if (st == HU_OK)
			st = add(r, run->dir, it, n, sample);
	}
	free(it);
	return st;
}

static hu_status
add_step(hu_records *r, const hu_run *run, size_t step, size_t sample)
{
	const hu_program *p = run->train;
	hu_run_trace trace;
	size_t n = 0;
	int ranks;

	HU_TRY(hu_run_map_trace(run, step, HU_RUN_TRACE_IN_MEMORY, &trace));
	hu_status st = add_ranks(r, &ranks, run, &trace, sample);
	item *it = hu_xcalloc((size_t)p->nt + 1, sizeof *it);
	for (int i = 0; i < p->nt && st == HU_OK && !ranks; i++) {
		int g = hu_program_grad(p, step, i);
		if (!p->t[i].trainable || g < 0 || !trace.t[g].data)
			continue;
		it[n++] = (item){ p->t[g].name, trace.t[g].n, &trace.t[g], NULL };
		st = hu_run_trace_need(&trace, g);
	}
	if (st == HU_OK && !ranks)
		st = add(r, run->dir, it, n, sample);
	if (st == HU_OK)
		count_step(r, ranks ? (size_t)ranks : 1);
	free(it);
	hu_run_unmap_trace(&trace);
	return st;
}

static hu_status
add_run(hu_records *r, const char *path, size_t sample)
{
	hu_run run;
	hu_status st = hu_run_open(&run, path);

	if (st != HU_OK)
		return st;
	if (!run.nstep)
		st = hu_fail(HU_EFILE,
			"%s: no step was traced; train again with --trace steps=, as in --trace steps=100,200",
			hu_shown(path));
	hu_room_in(run.dir);
	for (int i = 0; i < run.nstep && st == HU_OK; i++)
		st = add_step(r, &run, run.step[i], sample);
	hu_room_in(NULL);
	hu_run_release(&run);
	return st;
}

static void
statistics(hu_records *r)
{
	r->mean = hu_xcalloc(r->elements + 1, sizeof *r->mean);
	r->sd = hu_xcalloc(r->elements + 1, sizeof *r->sd);
	for (size_t e = 0; e < r->elements; e++) {
		double sum = 0, squares = 0;
		for (size_t k = 0; k < r->n; k++)
			sum += r->x[k][e];
		r->mean[e] = sum / (double)r->n;
		for (size_t k = 0; k < r->n; k++)
			squares += (r->x[k][e] - r->mean[e]) * (r->x[k][e] - r->mean[e]);
		r->sd[e] = r->n > 1 ? sqrt(squares / (double)(r->n - 1)) : 0;
	}
}

hu_status
hu_records_init(hu_records *r, const char *const *paths, int n, size_t sample, uint64_t seed, int normal)
{
	hu_status st = HU_OK;

	memset(r, 0, sizeof *r);
	r->seed = seed;
	r->normal = normal;
	for (int i = 0; i < n && st == HU_OK; i++) {
		struct stat is;
		int folder = !hu_input_stat(paths[i], &is) && S_ISDIR(is.st_mode);
		st = folder ? add_run(r, paths[i], sample) : add_file(r, paths[i], sample);
	}
	if (st == HU_OK && normal && r->n < 2)
		st = hu_fail(HU_EINVAL,
			"--ranks from=normal: a standard deviation needs two records, and %s is one; give more files, "
			"runs or "
			"traced steps, or leave the option out",
			hu_shown(r->first));
	if (st == HU_OK)
		statistics(r);
	else
		hu_records_release(r);
	return st;
}

void
hu_records_release(hu_records *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->x[i]);
	free(r->x);
	free(r->nonfinite);
	free(r->place);
	free(r->mean);
	free(r->sd);
	free(r->names);
	free(r->first);
	memset(r, 0, sizeof *r);
}

/* A normal deviate by Marsaglia's polar method; attempt number t draws with t in the place of the step. */
static double
deviate(uint64_t seed, uint64_t rank, uint64_t place)
{
	uint32_t stream = hu_fnv1a32("allreduce") ^ (uint32_t)hu_mix64(rank);

	for (uint32_t t = 0;; t++) {
		hu_random a = hu_random_at(seed ^ rank << 32, stream, t, place), b = { { a.w[2], a.w[3], 0, 0 } };
		double x = 2 * hu_uniform(a) - 1, y = 2 * hu_uniform(b) - 1, s = x * x + y * y;
		if (s > 0 && s < 1)
			return x * sqrt(-2 * hu_log(s) / s);
	}
}

/* Returns the record that a rank has in a step (records.h). */
static size_t
record_of(const hu_records *r, size_t rank, size_t step)
{
	return (step + rank / r->ranks) % (r->n / r->ranks) * r->ranks + rank % r->ranks;
}

double
hu_records_value(const hu_records *r, size_t rank, size_t ranks, size_t step, size_t e)
{
	if (!r->normal)
		return r->x[record_of(r, rank, step)][e];
	return hu_round(r->mean[e] + r->sd[e] * deviate(r->seed, step * ranks + rank, r->place[e]),
		hu_format_of(HU_FP32), HU_RNE, 0, 0);
}

int
hu_records_finite(const hu_records *r, size_t rank, size_t steps)
{
	size_t n = r->normal ? r->n : steps > r->n / r->ranks ? r->n / r->ranks : steps;

	for (size_t i = 0; i < n; i++)
		if (r->nonfinite[r->normal ? i : record_of(r, rank, i)])
			return 0;
	return 1;
}
