/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/coverage.h"

#include "analyzers/drift/baseline/baseline_headline.h"
#include "analyzers/drift/baseline/baseline_program.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned
of_metrics(const hu_table *t)
{
	int skipped = hu_table_column(t, "skipped"), scale = hu_table_column(t, "loss_scale"),
	    eval = hu_table_column(t, "eval_loss");
	unsigned saw = 0;

	for (int i = 0; i < t->rows; i++) {
		double now = hu_table_real(t, i, scale), before = i ? hu_table_real(t, i - 1, scale) : NAN;
		saw |= hu_table_real(t, i, skipped) > 0 ? HU_SAW_SKIP : 0;
		saw |= now > before ? HU_SAW_GROWTH : now < before ? HU_SAW_BACKOFF : 0;
		saw |= strcmp(hu_table_cell(t, i, eval), "-") ? HU_SAW_EVALUATION : 0;
	}
	return saw;
}

static hu_status
read_table(hu_table *t, const hu_run *r, const char *name)
{
	char *path = hu_path(r->dir, "%s", name);
	int sealed = !strncmp(name, "analysis/", 9);
	hu_status st = sealed ? hu_table_read_sealed(t, path, "halfulp analyze") : hu_table_read(t, path);

	free(path);
	return st;
}

hu_status
hu_coverage(unsigned *saw, const hu_run *r)
{
	const json_t *rule = json_object_get(json_object_get(r->manifest, "loss_scaling"), "rule");
	const char *name = json_string_value(rule);
	hu_table t;

	HU_TRY(read_table(&t, r, "metrics.tsv"));
	*saw = of_metrics(&t);
	hu_table_release(&t);
	char *exercise = hu_path(r->dir, "exercise/metrics.tsv");
	int exercised = hu_exists(exercise);
	hu_status st = exercised ? hu_table_read(&t, exercise) : HU_OK;
	free(exercise);
	HU_TRY(st);
	if (exercised) { /* its evaluations are not held */
		*saw |= of_metrics(&t) & (HU_SAW_SKIP | HU_SAW_GROWTH | HU_SAW_BACKOFF);
		hu_table_release(&t);
	}
	*saw |= name && strcmp(name, "none") && strcmp(name, "static") ? HU_SAW_SCALING : 0;
	*saw |= r->nstep ? HU_SAW_TRACE : 0;
	HU_TRY(read_table(&t, r, "analysis/underflow.tsv"));
	int zero = hu_table_column(&t, "became_zero"), subnormal = hu_table_column(&t, "became_subnormal");
	for (int i = 0; i < t.rows; i++)
		if (hu_table_real(&t, i, zero) > 0 || hu_table_real(&t, i, subnormal) > 0)
			*saw |= HU_SAW_UNDERFLOW;
	hu_table_release(&t);
	return HU_OK;
}

void
hu_coverage_text(hu_str *s, unsigned saw, size_t steps)
{
	size_t interval = steps / 8 > 2 ? steps / 8 : 2;

	if (saw & HU_SAW_SCALING && !(saw & HU_SAW_SKIP))
		hu_str_addf(s,
			"in %zu steps no gradient overflowed and no step was skipped: a finite check that never fires "
			"would pass; a run with --exercise has such steps, and one with --loss-scale init=2^24\n",
			steps);
	if (saw & HU_SAW_SCALING && !(saw & HU_SAW_GROWTH))
		hu_str_addf(s,
			"in %zu steps the loss scale never grew: another growth interval or factor would pass; a run "
			"with --exercise has such steps, and one with --loss-scale interval=%zu\n",
			steps, interval);
	if (saw & HU_SAW_TRACE && !(saw & HU_SAW_UNDERFLOW))
		hu_str_addf(s,
			"no cast of a traced step made a number zero or subnormal: casts that flush would pass%s\n",
			saw & HU_SAW_SCALING ? "; a run with --loss-scale init=1 has such casts" : "");
	if (!(saw & HU_SAW_EVALUATION))
		hu_str_addf(s, "nothing was evaluated: an evaluation that is wrong would pass\n");
	if (!(saw & HU_SAW_TRACE))
		hu_str_addf(s,
			"no step was traced, so no call was judged; a run with --trace steps=0,last has such steps\n");
}

/* A difference that is to be told, and how far it is. */
typedef struct moved {
	const hu_baseline_quantity *was, *is;
	int headline;
	double share;
} moved;

static int
farthest_first(const void *a, const void *b)
{
	const moved *x = a, *y = b;

	if (x->headline != y->headline)
		return y->headline - x->headline;
	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp((x->was ? x->was : x->is)->key, (y->was ? y->was : y->is)->key);
}

static void
add_moved(hu_str *s, const moved *m)
{
	const hu_baseline_quantity *was = m->was, *is = m->is;

	if (hu_is_program_row((was ? was : is)->key)) {
		hu_finding f = { .want = was, .got = is };
		char *change = hu_program_row_change(&f);
		hu_str_addf(s, "  %s\n", change);
		free(change);
		return;
	}
	hu_str_addf(s, "  %s: %s -> %s", (was ? was : is)->key, was ? was->text : "nothing", is ? is->text : "nothing");
	if (was && is && isfinite(was->value) && isfinite(is->value)) {
		if (was->value != 0)
			hu_str_addf(s, " (%+.3g %%)", 100 * (is->value - was->value) / fabs(was->value));
		else
			hu_str_addf(s, " (%+.3g)", is->value);
	}
	hu_str_add(s, "\n");
}

void
hu_coverage_moved(hu_str *s, const hu_baseline *was, const hu_baseline *is)
{
	enum { MOST = 20 };
	moved *m = hu_xcalloc(was->n + is->n + 1, sizeof *m);
	size_t n = 0, added = 0, gone = 0;

	for (size_t i = 0; i < was->n; i++) {
		const hu_baseline_quantity *a = &was->q[i], *b = hu_baseline_find(is, a->key);
		gone += !b;
		if (b && !strcmp(a->text, b->text))
			continue;
		m[n++] = (moved){ a, b, hu_is_headline(was, a),
			b && isfinite(a->value) && isfinite(b->value)
				? fabs((b->value - a->value) / fmax(fabs(a->value), 1e-300))
				: INFINITY };
	}
	for (size_t i = 0; i < is->n; i++)
		if (!hu_baseline_find(was, is->q[i].key)) {
			m[n++] = (moved){ NULL, &is->q[i], hu_is_headline(is, &is->q[i]), INFINITY };
			added++;
		}
	if (n)
		qsort(m, n, sizeof *m, farthest_first);
	hu_str_addf(s, "since the baseline before: %zu of %zu quantities moved, %zu are new, %zu are gone\n",
		n - added - gone, was->n, added, gone);
	for (size_t i = 0; i < n && i < MOST; i++)
		add_moved(s, &m[i]);
	if (n > MOST)
		hu_str_addf(s, "  and %zu more; halfulp check against the old file lists them all\n", n - MOST);
	free(m);
}
