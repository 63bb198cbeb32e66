/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_out.h"

#include "analyzers/drift/files/files_text.h"
#include "analyzers/drift/files/files_why.h"
#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "F32[3,4]", from "BF16[3,4]" where the dtype changed. */
static void
add_type(hu_str *s, const hu_files_row *r)
{
	const hu_item *t = r->new ? r->new : r->old;

	if (r->old && r->new &&strcmp(r->old->dtype, r->new->dtype))
		hu_str_addf(s, "%s -> ", r->old->dtype);
	hu_str_addf(s, "%s[", t->dtype);
	for (int i = 0; i < t->rank; i++)
		hu_str_addf(s, i ? ",%zu" : "%zu", t->shape[i]);
	hu_str_add(s, "]");
}

static char *
detail(const hu_files_row *r)
{
	hu_str s;
	const hu_measures *m = &r->m;

	hu_str_init(&s);
	add_type(&s, r);
	if (r->old && r->new && r->state != HU_FILES_SHAPE) {
		hu_str_addf(&s, ": %zu of %zu values differ", m->differ, m->count);
		if (m->text) {
			hu_str_addf(&s, ", at step %s '%s' became '%s'", m->step, m->text, m->text2);
		} else if (m->differ) {
			hu_str_add(&s,
				m->nonfinite ? ", the first that is not finite at " : ", the largest difference at ");
			hu_files_add_place(&s, r);
			hu_str_addf(&s, ": %.9g (%a) became %.9g (%a)", m->a, m->a, m->b, m->b);
			hu_str_add(&s, m->nonfinite ? "; over the other values " : "; over the tensor ");
			hu_files_add_ulps(&s, r, m->ulps[0]);
			hu_str_addf(&s, ", abs %.4g, rel %.4g, l2 %.4g, cosine %.9g, sqnr %.4g dB, nonfinite %zu",
				m->abs, m->rel, m->l2, m->cosine, m->sqnr, m->nonfinite);
		}
	}
	if (r->rule.own)
		hu_str_addf(&s, "; rule '%s'", hu_shown(r->rule.text));
	else
		hu_str_add(&s, "; no rule names it, so the default of its dtype holds");
	return s.s;
}

void
hu_files_outcomes(hu_outcomes *v, const hu_files *g)
{
	hu_str s;

	hu_outcomes_init(v, "halfulp check", g->new.path);
	for (size_t i = 0; i < g->n; i++) {
		const hu_files_row *r = &g->row[i];
		int ok = r->state < HU_FILES_BEYOND;
		hu_outcomes_add(v, r->name, ok, hu_xstrdup(hu_shown(r->said)), ok ? NULL : detail(r));
	}
	hu_str_init(&s);
	if (g->failed)
		hu_str_addf(&s, "%zu of %zu names failed, worst first above", g->failed, g->n);
	else
		hu_str_addf(&s, "all %zu names hold", g->n);
	hu_str_addf(&s, "; %zu have the same values", g->same);
	for (size_t i = 0; i < g->rules.n; i++)
		if (!g->rules.rule[i].used)
			hu_str_addf(&s, "\nno name came to the rule '%s'", hu_shown(g->rules.rule[i].text));
	v->summary = s.s;
	v->why = g->failed ? hu_files_why(g) : NULL;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : isnan(x) ? json_null() : json_string(x > 0 ? "inf" : "-inf");
}

static json_t *
row_json(const hu_files_row *r, int verdicts)
{
	const hu_measures *m = &r->m;
	json_t *o = json_pack("{s:s s:s* s:s*}", "name", hu_shown(r->name), "old_dtype", r->old ? r->old->dtype : NULL,
		       "new_dtype", r->new ? r->new->dtype : NULL),
	       *shape = json_array();
	const hu_item *t = r->new ? r->new : r->old;

	for (int i = 0; i < t->rank; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
	json_object_set_new(o, "shape", shape);
	if (verdicts) {
		json_object_set_new(o, "ok", json_boolean(r->state < HU_FILES_BEYOND));
		json_object_set_new(o, "said", json_string(hu_shown(r->said)));
		json_object_set_new(o, "rule", json_string(hu_shown(r->rule.text)));
	}
	if (!r->old || !r->new || r->state == HU_FILES_SHAPE || r->state == HU_FILES_IGNORED)
		return o;
	json_object_update_new(
		o, json_pack("{s:I s:I s:I s:o s:o s:o s:o s:o s:o s:s}", "elements", (json_int_t)m->count, "differ",
			   (json_int_t)m->differ, "nonfinite", (json_int_t)m->nonfinite, "abs", number(m->abs), "rel",
			   number(m->rel), "l2", number(m->l2), "cosine", number(m->cosine), "sqnr", number(m->sqnr),
			   "ulps", number(m->ulps[0]), "ulps_of", hu_format_name(r->ulps_of)));
	if (m->differ) {
		json_object_set_new(o, "worst", json_integer((json_int_t)m->at));
		json_object_set_new(o, "old", m->text ? json_string(hu_shown(m->text)) : number(m->a));
		json_object_set_new(o, "new", m->text ? json_string(hu_shown(m->text2)) : number(m->b));
	}
	if (m->step)
		json_object_set_new(o, "step", json_string(hu_shown(m->step)));
	return o;
}

void
hu_files_json(FILE *out, const hu_files *g, int verdicts)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < g->n; i++)
		json_array_append_new(list, row_json(&g->row[i], verdicts));
	o = verdicts ? json_pack("{s:s s:s s:I s:I}", "new", hu_shown(g->new.path), "baseline", hu_shown(g->old.path),
			       "names", (json_int_t)g->n, "failed", (json_int_t)g->failed)
		     : json_pack("{s:s s:s s:b s:I}", "first", hu_shown(g->old.path), "second", hu_shown(g->new.path),
			       "same", !hu_files_differing(g), "names", (json_int_t)g->n);
	json_object_set_new(o, "rows", list);
	hu_json_write(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(o);
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

/* A row of the table: the names, and what both have in common. */
static void
add_row(hu_fitted *t, const hu_files_row *r)
{
	hu_str s;

	hu_str_init(&s);
	add_type(&s, r);
	hu_fitted_cell(t, hu_shown(r->name));
	hu_fitted_cell(t, s.s);
	hu_files_measures(t, r);
	hu_str_release(&s);
}

/* What no column says of a row: in which file it is alone, another shape, other steps. */
static void
print_other(const hu_files *g, const hu_files_row *r)
{
	if (!r->old || !r->new) {
		printf("%s is in ", hu_shown(r->name));
		printf("%s alone\n", hu_shown((r->old ? &g->old : &g->new)->path));
	} else if (r->state == HU_FILES_SHAPE)
		printf("%s: %s\n", hu_shown(r->name), r->said);
	if (r->m.gone + r->m.added)
		printf("%s: %zu steps are missing, %zu are new\n", hu_shown(r->name), r->m.gone, r->m.added);
}

void
hu_files_table(const hu_files *g, int all)
{
	hu_fitted t = { .n = 0 };
	size_t shown = 0, differing = hu_files_differing(g);

	hu_fitted_add(&t, "name", 1, 0);
	hu_fitted_add(&t, "type", 1, 6);
	hu_files_columns(&t);
	for (size_t i = 0; i < g->n; i++)
		if (all || differs(&g->row[i])) {
			add_row(&t, &g->row[i]);
			shown++;
		}
	if (shown)
		hu_fitted_print(&t, hu_fitted_width());
	hu_fitted_release(&t);
	for (size_t i = 0; i < g->n; i++)
		print_other(g, &g->row[i]);
	if (differing)
		printf("%zu of %zu names differ\n", differing, g->n);
	else
		printf("nothing differs in %zu names\n", g->n);
}
