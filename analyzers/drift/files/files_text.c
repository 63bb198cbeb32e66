/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_text.h"

#include "lib/base/console/show_json.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/number/ulps.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICTS = 1, TYPES = 2 };

/* A name. What was not measured is below 0, NaN or NULL. */
typedef struct row {
	const char *verdict, *old_dtype, *new_dtype, *ulps_of, *step;
	char *name, *type, *said, *rule;
	hu_field_sizes shape;
	int ok;
	long long elements, differ, nonfinite, worst;
	double abs, rel, l2, cosine, sqnr, ulps;
	hu_bias_found bias;
	hu_field_cell ulps_text, old, new;
	char text[64]; /* of ulps_text */
} row;

#define COLUMN(...) HU_FIELD_OF(row, __VA_ARGS__)
static const hu_table_field columns[] = {
	COLUMN("verdict", TEXT, verdict, SHOWN, "whether its rule holds", .only = VERDICTS),
	COLUMN("name", TEXT, name, ANYWHERE, "the name of the tensor or metric"),
	COLUMN("old_dtype", TEXT, old_dtype, WRITTEN, "its dtype in the first file"),
	COLUMN("new_dtype", TEXT, new_dtype, WRITTEN, "its dtype in the second file"),
	COLUMN("type", TEXT, type, SHOWN, "dtype and shape", .rank = 6, .only = TYPES),
	COLUMN("shape", SIZES, shape, WRITTEN, "its shape"),
	COLUMN("ok", FLAG, ok, WRITTEN, "whether its rule holds", .only = VERDICTS),
	COLUMN("said", TEXT, said, WRITTEN, "what was found", .only = VERDICTS),
	COLUMN("rule", TEXT, rule, WRITTEN, "the rule that counted", .only = VERDICTS),
	COLUMN("elements", COUNT, elements, WRITTEN, "pairs of values that were compared"),
	COLUMN("differ", COUNT, differ, ANYWHERE, "pairs of different values", .rank = 1),
	COLUMN("nonfinite", COUNT, nonfinite, WRITTEN, "pairs of which one is not finite"),
	COLUMN("ulps_text", CELL, ulps_text, SHOWN, "the largest difference in ulps", .heading = "ulps", .digits = 4,
		.rank = 5),
	COLUMN("abs", MEASURED, abs, ANYWHERE, "the largest difference", .digits = 4, .rank = 7),
	COLUMN("rel", MEASURED, rel, ANYWHERE, "abs over the largest magnitude", .digits = 4, .rank = 3),
	COLUMN("l2", MEASURED, l2, ANYWHERE, "the norm of the difference over that of the first", .digits = 4,
		.rank = 4),
	COLUMN("cosine", MEASURED, cosine, ANYWHERE, "the cosine of the angle between the two", .digits = -8,
		.rank = 8),
	COLUMN("sqnr", MEASURED, sqnr, ANYWHERE, "the signal-to-quantisation-noise ratio", .unit = "dB", .digits = 4,
		.rank = 2),
	COLUMN("not_finite", COUNT, nonfinite, SHOWN, "pairs of which one is not finite", .heading = "nonfinite",
		.rank = 9),
	COLUMN("ulps", MEASURED, ulps, WRITTEN, "the largest difference in ulps"),
	COLUMN("ulps_of", TEXT, ulps_of, WRITTEN, "the format of these ulps"),
	COLUMN("worst", COUNT, worst, WRITTEN, "the element with the largest difference"),
	COLUMN("old", CELL, old, WRITTEN, "its value in the first file"),
	COLUMN("new", CELL, new, WRITTEN, "its value in the second file"),
	COLUMN("step", TEXT, step, WRITTEN, "the step of that element, of a metric"),
	COLUMN("signed_ulp_mean", MEASURED, bias.signed_mean, WRITTEN, "the mean difference in ulps", .only = TYPES),
	COLUMN("outward_ulp_mean", MEASURED, bias.outward_mean, WRITTEN,
		"the mean difference away from zero, in ulps", .only = TYPES),
	COLUMN("bias_t", MEASURED, bias.t, WRITTEN, "the statistic of whether differences have one direction",
		.only = TYPES),
};

void
hu_files_add_type(hu_str *s, const hu_files_row *r)
{
	const hu_item *t = r->new ? r->new : r->old;

	if (r->old && r->new &&strcmp(r->old->dtype, r->new->dtype))
		hu_str_addf(s, "%s -> ", r->old->dtype);
	hu_str_addf(s, "%s[", t->dtype);
	for (int i = 0; i < t->rank; i++)
		hu_str_addf(s, i ? ",%zu" : "%zu", t->shape[i]);
	hu_str_add(s, "]");
}

static int
is_measured(const hu_files_row *r)
{
	return r->old && r->new && r->state != HU_FILES_SHAPE && r->state != HU_FILES_IGNORED;
}

static void
fill_measures(row *to, const hu_files_row *r)
{
	const hu_measures *m = &r->m;

	to->elements = (long long)m->count;
	to->differ = (long long)m->differ;
	to->nonfinite = (long long)m->nonfinite;
	to->abs = m->abs;
	to->rel = m->rel;
	to->l2 = m->l2;
	to->cosine = m->cosine;
	to->sqnr = m->sqnr;
	to->ulps = m->ulps[0];
	to->ulps_of = hu_format_name(r->ulps_of);
	to->step = m->step;
	to->ulps_text.value = m->text ? NAN : m->ulps[0];
	if (r->ulps_of != HU_NO_FORMAT && !m->text) {
		char ulps[32];
		snprintf(to->text, sizeof to->text, "%s %s",
			hu_ulps_text(ulps, m->ulps[0], hu_format_of(r->ulps_of), 4), to->ulps_of);
		to->ulps_text.text = to->text;
	}
	if (!m->differ)
		return;
	to->worst = (long long)m->at;
	to->old = (hu_field_cell){ m->a, m->text };
	to->new = (hu_field_cell){ m->b, m->text2 };
}

static void
fill(row *to, const hu_files_row *r)
{
	const hu_item *t = r->new ? r->new : r->old;
	hu_str type;

	hu_str_init(&type);
	hu_files_add_type(&type, r);
	*to = (row){ .verdict = r->state >= HU_FILES_BEYOND    ? "fail"
				: r->state == HU_FILES_IGNORED ? NULL
							       : "pass",
		.name = hu_xstrdup(hu_shown(r->name)),
		.type = type.s,
		.old_dtype = r->old ? r->old->dtype : NULL,
		.new_dtype = r->new ? r->new->dtype : NULL,
		.shape = { t->shape, t->rank },
		.ok = r->state < HU_FILES_BEYOND,
		.said = hu_xstrdup(hu_shown(r->said)),
		.rule = hu_xstrdup(hu_shown(r->rule.text)),
		.elements = -1,
		.differ = -1,
		.nonfinite = -1,
		.worst = -1,
		.ulps_text = { NAN, NULL },
		.old = { NAN, NULL },
		.new = { NAN, NULL } };
	to->abs = to->rel = to->l2 = to->cosine = to->sqnr = to->ulps = NAN;
	to->bias = r->bias;
	if (is_measured(r))
		fill_measures(to, r);
}

static void
drop(void *rows, size_t n)
{
	row *r = rows;

	for (size_t i = 0; i < n; i++) {
		free(r[i].name);
		free(r[i].type);
		free(r[i].said);
		free(r[i].rule);
	}
	free(r);
}

/* Decides the last line. */
static void
decide(hu_str *s, const hu_files *g)
{
	hu_str_addf(s, "%s ", hu_shown(hu_file_leaf(g->new.path)));
	if (!g->n)
		hu_str_add(s, "and its baseline have nothing to compare");
	else if (!g->failed)
		hu_str_addf(s, "holds: %s of %zu name%s %s, %zu %s the same values",
			g->n == 1 ? "the rule" : "the rules", g->n, g->n == 1 ? "" : "s",
			g->n == 1 ? "is kept" : "are kept", g->same, g->same == 1 ? "has" : "have");
	else {
		hu_str_addf(s, "drifted: %zu of %zu names fail, worst: ", g->failed, g->n);
		hu_str_addf(s, "%s, ", hu_shown(g->row[0].name));
		hu_str_add(s, hu_shown(g->row[0].said));
	}
}

/* Why the rows that are shown fail, and what all of them together look like. */
static void
explain(hu_outcomes *v, const hu_files *g)
{
	const char *cause = v->why ? strstr(v->why, "Most likely cause: ") : NULL;

	if (!g->failed)
		return;
	hu_str_add(&v->reasons, "\n");
	for (size_t i = 0; i < g->failed && i < v->nshown; i++) {
		hu_str_addf(&v->reasons, "%s: ", hu_shown(g->row[i].name));
		hu_str_addf(&v->reasons, "%s\n", hu_shown(g->row[i].said));
	}
	if (cause)
		hu_str_addf(&v->reasons, "%s\n", cause);
}

void
hu_files_rows(hu_outcomes *v, const hu_files *g)
{
	size_t shown = g->failed && g->failed < HU_OUTCOME_ROWS ? g->failed : HU_OUTCOME_ROWS;
	row *rows = hu_xcalloc(g->n + 1, sizeof *rows);

	for (size_t i = 0; i < g->n; i++)
		fill(&rows[i], &g->row[i]);
	v->fields = (hu_fields)HU_FIELDS(columns, row);
	v->fields.with = VERDICTS;
	v->fields.dense = 1;
	v->rows = rows;
	v->drop = drop;
	while (v->nshown < shown && v->nshown < g->n) {
		v->shown[v->nshown] = v->nshown;
		v->nshown++;
	}
	explain(v, g);
	decide(&v->decision, g);
}

static int
differs(const hu_files_row *r)
{
	return !r->old || !r->new || r->m.differ || r->m.gone || r->m.added || r->state == HU_FILES_SHAPE ||
	       strcmp(r->old->dtype, r->new->dtype);
}

size_t
hu_files_differing(const hu_files *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += (size_t)differs(&g->row[i]);
	return n;
}

/* What no column says of a row: in which file it is alone, another shape, one direction, other steps. */
static void
print_other(const hu_files *g, const hu_files_row *r)
{
	if (!r->old || !r->new) {
		printf("%s is in ", hu_shown(r->name));
		printf("%s alone\n", hu_shown((r->old ? &g->old : &g->new)->path));
	} else if (r->state == HU_FILES_SHAPE)
		printf("%s: %s\n", hu_shown(r->name), r->said);
	if (r->bias.t > HU_BIAS_T)
		printf("%s: differences have one direction: %+.4g ulps of %s on the mean, %+.4g away from zero, T = "
		       "%.4g\n",
			hu_shown(r->name), r->bias.signed_mean, hu_format_name(r->ulps_of), r->bias.outward_mean,
			r->bias.t);
	if (r->m.gone + r->m.added)
		printf("%s: %zu step%s missing, %zu %s new\n", hu_shown(r->name), r->m.gone,
			r->m.gone == 1 ? " is" : "s are", r->m.added, r->m.added == 1 ? "is" : "are");
}

/* The rows that differ, or all of them, *n of them. */
static row *
pick(const hu_files *g, int all, size_t *n)
{
	row *rows = hu_xcalloc(g->n + 1, sizeof *rows);

	*n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (all || differs(&g->row[i]))
			fill(&rows[(*n)++], &g->row[i]);
	return rows;
}

void
hu_files_table(const hu_files *g, int all)
{
	hu_fields t = HU_FIELDS(columns, row);
	size_t n, differing = hu_files_differing(g);
	row *rows = pick(g, all, &n);

	t.with = TYPES;
	t.dense = 1;
	if (n)
		hu_fields_print(&t, rows, n, NULL);
	drop(rows, n);
	for (size_t i = 0; i < g->n; i++)
		print_other(g, &g->row[i]);
	if (differing)
		printf("%zu of %zu names differ\n", differing, g->n);
	else
		printf("nothing differs in %zu names\n", g->n);
}

void
hu_files_json(const hu_files *g)
{
	hu_fields t = HU_FIELDS(columns, row);
	size_t n;
	row *rows = pick(g, 1, &n);

	t.with = TYPES;
	json_t *o = json_pack("{s:s s:s s:b s:I s:o}", "first", hu_shown(g->old.path), "second", hu_shown(g->new.path),
		"same", !hu_files_differing(g), "names", (json_int_t)g->n, "rows", hu_fields_array(&t, rows, n));

	hu_json_write(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	putchar('\n');
	json_decref(o);
	drop(rows, n);
}
