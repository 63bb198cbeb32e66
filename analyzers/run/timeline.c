/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/timeline.h"

#include "analyzers/run/sweep.h"
#include "lib/base/mem.h"
#include "lib/op/scaler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the run recorded of a step. */
typedef struct seen { long long step; double scale, amax; int skipped, overflow; } seen;

/* A scaler's state at a step; rows are kept only where something changes. */
typedef struct point { double scale; int skipped, unknown; } point;

/* Returns the narrowest format of a parameter's loss-scaled gradient; fp16 where all are wide, as if they were
   narrow. */
static hu_format
gradient_format(const hu_program *p)
{
	hu_format f = hu_format_of(HU_FP16);
	int bits = 17;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].loss_scaled && p->t[i].cls == HU_WGRAD && hu_format_of(p->t[i].format).bits < bits) {
			f = hu_format_of(p->t[i].format);
			bits = f.bits;
		}
	return f;
}

static hu_status
read_metrics(const hu_run *r, seen **out, int *n)
{
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_table t;
	hu_status st = hu_table_read(&t, path);

	free(path);
	HU_TRY(st);
	int step = hu_table_column(&t, "step"), scale = hu_table_column(&t, "loss_scale"),
	    skipped = hu_table_column(&t, "skipped"), count = hu_table_column(&t, "overflow_count");
	*n = t.rows;
	*out = hu_xcalloc((size_t)t.rows + 1, sizeof **out);
	for (int i = 0; i < t.rows; i++) {
		double s = hu_table_real(&t, i, scale);
		(*out)[i] = (seen){ (long long)hu_table_real(&t, i, step), isnan(s) ? 1 : s, 0,
			hu_table_real(&t, i, skipped) == 1, hu_table_real(&t, i, count) > 0 };
	}
	hu_table_release(&t);
	return HU_OK;
}

/* Adds the largest magnitude of the unscaled gradients to each step. */
static hu_status
read_grads(const hu_run *r, seen *s, int n)
{
	char *path = hu_path(r->dir, "grads.tsv");
	hu_table t;
	int at = 0;
	hu_status st = hu_table_read(&t, path);

	free(path);
	HU_TRY(st);
	int step = hu_table_column(&t, "step"), amax = hu_table_column(&t, "amax"),
	    bad = hu_table_column(&t, "nonfinite");
	for (int i = 0; i < t.rows; i++) {
		long long k = (long long)hu_table_real(&t, i, step);
		double a = hu_table_real(&t, i, amax);
		while (at < n && s[at].step < k)
			at++;
		if (at == n || s[at].step != k)
			continue;
		if (a > s[at].amax)
			s[at].amax = a;
		s[at].overflow |= hu_table_real(&t, i, bad) > 0;
	}
	hu_table_release(&t);
	return HU_OK;
}

/* Returns 1 where scale would have overflowed; sets *unknown to 1 where the record cannot tell. An overflow is known
   for every scale from the recorded one on, and below it nothing is known. A finite step is finite at every smaller
   scale; above, the weights' gradients tell of an overflow, and of nothing else. */
static int
overflows(const seen *s, double scale, double weight, double threshold, int *unknown)
{
	*unknown = 0;
	if (s->overflow || s->skipped) {
		*unknown = scale < s->scale;
		return scale >= s->scale;
	}
	if (scale <= s->scale)
		return 0;
	if (s->amax * scale * weight >= threshold)
		return 1;
	*unknown = 1;
	return 0;
}

static void
rows(hu_tsv *out, const seen *s, const point *p, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		int edge = i == 0 || i == n - 1 || memcmp(&p[i], &p[i - 1], sizeof *p) ||
			   memcmp(&p[i], &p[i + 1], sizeof *p);
		if (!edge)
			continue;
		hu_tsv_int(out, s[i].step);
		hu_tsv_text(out, name);
		hu_tsv_real(out, p[i].scale);
		hu_tsv_int(out, p[i].skipped);
		hu_tsv_int(out, p[i].unknown);
	}
}

static void
follow(hu_tsv *out, const seen *s, int n, int rule, double weight, double threshold)
{
	const hu_scaler *k = hu_scaler_at(rule);
	hu_tracker t = { 0, 0, 0, 0 };
	double scale = k->init;
	point *p = hu_xcalloc((size_t)n + 1, sizeof *p);

	for (int i = 0; i < n; i++) {
		p[i].scale = scale;
		p[i].skipped = overflows(&s[i], scale, weight, threshold, &p[i].unknown);
		hu_scaler_step((hu_scaler_rule)rule, k, p[i].skipped, &scale, &t);
	}
	rows(out, s, p, n, k->name);
	free(p);
}

hu_status
hu_timeline_write(hu_analysis *a)
{
	const hu_run *r = a->run;
	double weight = json_number_value(json_object_get(r->manifest, "loss_weight")),
	       threshold = hu_sweep_threshold(gradient_format(r->train));
	seen *s = NULL;
	int n = 0;
	hu_tsv out;
	char *metrics = hu_path(r->dir, "metrics.tsv");
	int recorded = hu_exists(metrics);
	hu_status st = recorded ? read_metrics(r, &s, &n) : HU_OK;

	free(metrics);
	if (!recorded)
		return HU_OK; /* a trace of another program's run */
	if (st == HU_OK)
		st = read_grads(r, s, n);
	if (st != HU_OK) {
		free(s);
		return st;
	}
	hu_tsv_init(&out);
	hu_run_provenance(r, &out, "loss-scale-timeline");
	hu_tsv_note(&out, "rows", "the first, the last, and those beside a change; a scale holds until the next row");
	hu_tsv_note(&out, "unknown",
		"1: the recorded gradients cannot tell: an overflow counts at every scale from the recorded one on and "
		"is unknown below it; above the recorded scale only the weights' gradients are known. Unknown steps "
		"are taken as finite");
	hu_tsv_header(&out, "step scaler scale skipped unknown");
	for (int i = 0; hu_scaler_at(i); i++)
		if (i != HU_SCALER_none && i != HU_SCALER_static)
			follow(&out, s, n, i, weight > 0 ? weight : 1, threshold);
	point *p = hu_xcalloc((size_t)n + 1, sizeof *p);
	for (int i = 0; i < n; i++) {
		p[i].scale = s[i].scale;
		p[i].skipped = s[i].skipped;
	}
	rows(&out, s, p, n, "recorded");
	free(p);
	free(s);
	st = hu_analysis_write(a, &out, "loss-scale-timeline.tsv");
	hu_tsv_release(&out);
	return st;
}
