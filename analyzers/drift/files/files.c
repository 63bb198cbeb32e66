/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files.h"

#include "analyzers/drift/files/files_series.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_files_open(hu_files *g, const char *old, const char *new, const char *step)
{
	HU_TRY(hu_contents_open(&g->old, old, step));
	return hu_contents_open(&g->new, new, step);
}

static int
same_shape(const hu_item *a, const hu_item *b)
{
	int same = a->rank == b->rank && a->count == b->count;

	for (int i = 0; same && i < a->rank; i++)
		same = a->shape[i] == b->shape[i];
	return same;
}

static void
add_shape(hu_str *s, const hu_item *t)
{
	hu_str_addf(s, "%s[", t->dtype);
	for (int i = 0; i < t->rank; i++)
		hu_str_addf(s, i ? ",%zu" : "%zu", t->shape[i]);
	hu_str_add(s, "]");
}

/* The formats whose ulps a row wants, the first of which is shown. */
static int
formats(hu_files_row *r, hu_format_id *f)
{
	int n = 0;
	hu_format a = hu_format_of(r->old->format), b = hu_format_of(r->new->format);

	r->ulps_of = !a.bits || !b.bits ? HU_NO_FORMAT : b.p < a.p ? b.id : a.id;
	for (int i = 0; i < r->rule.bounds; i++)
		if (r->rule.bound[i].metric == HU_METRIC_ULPS) {
			if (r->rule.bound[i].format == HU_NO_FORMAT)
				r->rule.bound[i].format = r->ulps_of;
			f[n++] = r->rule.bound[i].format;
		}
	if (!n)
		f[n++] = r->ulps_of;
	r->ulps_of = f[0];
	return n;
}

static int
wants_less(const hu_bound_on *b)
{
	return b->metric != HU_METRIC_COSINE && b->metric != HU_METRIC_SQNR;
}

/* How many times what is allowed VALUE is; above 1 where it is too much. */
static double
times(const hu_bound_on *b, double value)
{
	double t;

	if (isnan(value))
		return 1e290;
	if (b->metric == HU_METRIC_COSINE)
		t = (1 - value) / (1 - b->limit);
	else if (b->metric == HU_METRIC_SQNR)
		t = pow(10, (b->limit - value) / 20);
	else
		t = b->limit > 0 ? value / b->limit : 1e100 * (1 + value);
	return fmin(isnan(t) ? 1e290 : t, 1e290);
}

static void
add_bound(hu_str *s, const hu_bound_on *b, double value, int holds)
{
	char format[48] = "";

	if (b->metric == HU_METRIC_ULPS && b->format != HU_NO_FORMAT)
		snprintf(format, sizeof format, "(%s)", hu_format_name(b->format));
	hu_str_addf(s, "%s%s%s %.6g, %s %s %.6g", s->len ? "; " : "", hu_metric_name(b->metric), format, value,
		holds ? "which is" : "and not", wants_less(b) ? "<=" : ">=", b->limit);
}

/* Bounds of a row whose measures are known; what is said has those that failed, or all that held. */
static void
judge_bounds(hu_files_row *r)
{
	hu_str held, failed;
	int ulps = 0;

	hu_str_init(&held);
	hu_str_init(&failed);
	for (int i = 0; i < r->rule.bounds; i++) {
		const hu_bound_on *b = &r->rule.bound[i];
		double value = hu_metric_of(&r->m, b, b->metric == HU_METRIC_ULPS ? ulps++ : 0);
		int holds = hu_bound_holds(b, value);
		add_bound(holds ? &held : &failed, b, value, holds);
		if (!holds) {
			r->state = HU_FILES_BEYOND;
			r->severity = fmax(r->severity, times(b, value));
		}
	}
	if (r->rule.exact && r->m.differ) {
		r->state = HU_FILES_BEYOND;
		r->severity = fmax(r->severity, 1e100 * (1 + (double)r->m.differ / (double)r->m.count));
		hu_str_addf(&failed, "%zu of %zu values differ, and not one may", r->m.differ, r->m.count);
	}
	const hu_str *s = failed.len ? &failed : &held;
	r->said = s->len ? hu_xstrdup(s->s) : hu_xstrdup("its rule bounds nothing");
	hu_str_release(&held);
	hu_str_release(&failed);
}

/* A failure; what failed before stays said behind it. */
static void
fail(hu_files_row *r, hu_files_state state, double severity, char *said)
{
	char *all = r->state >= HU_FILES_BEYOND ? hu_xprintf("%s; %s", said, r->said) : hu_xstrdup(said);

	r->state = state;
	r->severity = severity;
	free(r->said);
	free(said);
	r->said = all;
}

/* Whether the rule says something of nonfinite itself. */
static int
bounds_nonfinite(const hu_rule *rule)
{
	for (int i = 0; i < rule->bounds; i++)
		if (rule->bound[i].metric == HU_METRIC_NONFINITE)
			return 1;
	return 0;
}

/* What both have, and its measures are known. */
static void
judge(hu_files_row *r)
{
	r->state = r->m.differ ? HU_FILES_WITHIN : HU_FILES_SAME;
	int lost = r->m.gone + r->m.added > 0, dtype = strcmp(r->old->dtype, r->new->dtype) != 0;

	if (r->m.differ)
		judge_bounds(r);
	else
		r->said = hu_xstrdup("the same values");
	if (r->m.nonfinite && !bounds_nonfinite(&r->rule))
		fail(r, HU_FILES_NONFINITE, 1e200 * (double)r->m.nonfinite,
			hu_xprintf("%zu of %zu values are not finite, or no longer are, where the baseline has another "
				   "value",
				r->m.nonfinite, r->m.count));
	if (dtype && (!r->rule.own || r->rule.exact))
		fail(r, HU_FILES_DTYPE, 1e210,
			hu_xprintf("its dtype was %s and is %s%s", r->old->dtype, r->new->dtype,
				r->rule.own ? "" : ", and no rule says how much that may change"));
	if (lost && !r->rule.optional)
		fail(r, HU_FILES_STEPS, 1e220 * (double)(r->m.gone + r->m.added),
			hu_xprintf("%zu step%s missing and %zu %s new, %s among them", r->m.gone,
				r->m.gone == 1 ? " is" : "s are", r->m.added, r->m.added == 1 ? "is" : "are",
				r->m.step2));
}

static hu_status
compare(hu_files *g, hu_files_row *r)
{
	hu_format_id f[HU_PAIR_FORMATS];
	int n = formats(r, f), series = r->old->kind == HU_ITEM_SERIES;

	if (series != (r->new->kind == HU_ITEM_SERIES))
		return hu_fail(HU_EFILE, "%s holds metrics and %s tensors: two of one kind are needed",
			(series ? &g->old : &g->new)->path, (series ? &g->new : &g->old)->path);
	if (series) {
		hu_series_measure(&r->m, r->old, r->new, f, n);
	} else if (!same_shape(r->old, r->new)) {
		hu_str s;
		hu_str_init(&s);
		hu_str_add(&s, "its shape was ");
		add_shape(&s, r->old);
		hu_str_add(&s, " and is ");
		add_shape(&s, r->new);
		r->m.differ = r->m.count = r->old->count;
		fail(r, HU_FILES_SHAPE, 1e230, hu_xstrdup(s.s));
		hu_str_release(&s);
		return HU_OK;
	} else {
		HU_TRY(hu_pair_measure(&r->m, &g->old, r->old, &g->new, r->new, f, n));
	}
	judge(r);
	return HU_OK;
}

/* A name that one of the two has alone. */
static void
judge_alone(hu_files_row *r)
{
	if (r->rule.optional) {
		r->state = HU_FILES_OPTIONAL;
		r->said = hu_xprintf("is in the %s alone, which its rule allows", r->old ? "baseline" : "new file");
	} else if (r->old) {
		fail(r, HU_FILES_MISSING, 1e250, hu_xstrdup("is missing: the baseline has it"));
	} else {
		fail(r, HU_FILES_ADDED, 1e240, hu_xstrdup("is new: the baseline does not have it"));
	}
}

/* Failures first, by how many times its bound a measure is; of equal ones the first by name, which tells layers and
   steps by their numbers. */
static int
worst_first(const void *a, const void *b)
{
	const hu_files_row *x = a, *y = b;
	int bad = y->state >= HU_FILES_BEYOND;

	if ((x->state >= HU_FILES_BEYOND) != bad)
		return bad ? 1 : -1;
	if (bad && x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (!bad && x->m.l2 != y->m.l2)
		return x->m.l2 < y->m.l2 ? 1 : -1;
	return hu_str_order(x->name, y->name);
}

static hu_status
judge_row(hu_files *g, const hu_item *old, const hu_item *new)
{
	hu_files_row *r = &g->row[g->n++];
	const hu_rule *rule;

	*r = (hu_files_row){ .name = (old ? old : new)->name, .old = old, .new = new, .ulps_of = HU_NO_FORMAT };
	rule = hu_rules_match(&g->rules, r->name);
	r->rule = rule ? *rule : hu_rule_default(old ? old : new, new ? new : old);
	if (r->rule.ignore) {
		r->state = HU_FILES_IGNORED;
		r->said = hu_xstrdup("not compared: its rule says ignore");
		return HU_OK;
	}
	if (old && new)
		return compare(g, r);
	judge_alone(r);
	return HU_OK;
}

hu_status
hu_files_judge(hu_files *g)
{
	hu_status st = HU_OK;
	size_t i = 0, k = 0;

	g->row = hu_xcalloc(g->old.n + g->new.n + 1, sizeof *g->row);
	while (st == HU_OK && (i < g->old.n || k < g->new.n)) {
		int order = i == g->old.n ? 1 : k == g->new.n ? -1 : strcmp(g->old.item[i].name, g->new.item[k].name);
		const hu_item *old = order <= 0 ? &g->old.item[i++] : NULL,
			      *new = order >= 0 ? &g->new.item[k++] : NULL;
		st = judge_row(g, old, new);
	}
	for (i = 0; i < g->n; i++) {
		g->failed += g->row[i].state >= HU_FILES_BEYOND;
		g->same += g->row[i].state == HU_FILES_SAME;
	}
	if (g->n)
		qsort(g->row, g->n, sizeof *g->row, worst_first);
	return st;
}

void
hu_files_release(hu_files *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->row[i].said);
	free(g->row);
	hu_contents_release(&g->old);
	hu_contents_release(&g->new);
	hu_rules_release(&g->rules);
	memset(g, 0, sizeof *g);
}
