/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/gate/gate_out.h"

#include "analyzers/gate/gate_why.h"
#include "lib/base/console/show_json.h"
#include "lib/base/console/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "F32[3,4]", from "BF16[3,4]" where the dtype changed. */
static void
add_type(hu_str *s, const hu_gate_row *r)
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
detail(const hu_gate_row *r)
{
	hu_str s;
	const hu_measures *m = &r->m;

	hu_str_init(&s);
	add_type(&s, r);
	if (r->old && r->new && r->state != HU_GATE_SHAPE) {
		hu_str_addf(&s, ": %zu of %zu values differ", m->differ, m->count);
		if (m->text) {
			hu_str_addf(&s, ", at step %s '%s' became '%s'", m->step, m->text, m->text2);
		} else if (m->differ) {
			hu_str_add(&s,
				m->nonfinite ? ", the first that is not finite at " : ", the largest difference at ");
			hu_gate_add_place(&s, r);
			hu_str_addf(&s, ": %.9g (%a) became %.9g (%a)", m->a, m->a, m->b, m->b);
			hu_str_add(&s, m->nonfinite ? "; over the other values " : "; over the tensor ");
			hu_gate_add_ulps(&s, r, m->ulps[0]);
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
hu_gate_outcomes(hu_outcomes *v, const hu_gate *g)
{
	hu_str s;

	hu_outcomes_init(v, "halfulp check", g->new.path);
	for (size_t i = 0; i < g->n; i++) {
		const hu_gate_row *r = &g->row[i];
		int ok = r->state < HU_GATE_BEYOND;
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
	v->why = g->failed ? hu_gate_why(g) : NULL;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : isnan(x) ? json_null() : json_string(x > 0 ? "inf" : "-inf");
}

static json_t *
row_json(const hu_gate_row *r, int verdicts)
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
		json_object_set_new(o, "ok", json_boolean(r->state < HU_GATE_BEYOND));
		json_object_set_new(o, "said", json_string(hu_shown(r->said)));
		json_object_set_new(o, "rule", json_string(hu_shown(r->rule.text)));
	}
	if (!r->old || !r->new || r->state == HU_GATE_SHAPE || r->state == HU_GATE_IGNORED)
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
hu_gate_json(FILE *out, const hu_gate *g, int verdicts)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < g->n; i++)
		json_array_append_new(list, row_json(&g->row[i], verdicts));
	o = verdicts ? json_pack("{s:s s:s s:I s:I}", "new", hu_shown(g->new.path), "baseline", hu_shown(g->old.path),
			       "names", (json_int_t)g->n, "failed", (json_int_t)g->failed)
		     : json_pack("{s:s s:s s:b s:I}", "first", hu_shown(g->old.path), "second", hu_shown(g->new.path),
			       "same", !hu_gate_differing(g), "names", (json_int_t)g->n);
	json_object_set_new(o, "rows", list);
	hu_json_write(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(o);
}

static int
differs(const hu_gate_row *r)
{
	return !r->old || !r->new || r->m.differ || r->m.gone || r->m.added || r->state == HU_GATE_SHAPE ||
	       strcmp(r->old->dtype, r->new->dtype);
}

size_t
hu_gate_differing(const hu_gate *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += (size_t)differs(&g->row[i]);
	return n;
}

static void
measures(FILE *out, const hu_gate_row *r)
{
	const hu_measures *m = &r->m;
	char ulps[64];

	snprintf(ulps, sizeof ulps, r->ulps_of == HU_NO_FORMAT ? "%.4g" : "%.4g %s", m->ulps[0],
		hu_format_name(r->ulps_of));
	fprintf(out, " %10zu %13s %10.4g %10.4g %10.4g %11.8f %8.4g %9zu", m->differ, ulps, m->abs, m->rel, m->l2,
		m->cosine, m->sqnr, m->nonfinite);
}

void
hu_gate_table(FILE *out, const hu_gate *g, int all)
{
	size_t shown = 0, name = 4, type = 4, differing = hu_gate_differing(g);

	for (int print = 0; print < 2; print++) {
		if (print && shown)
			fprintf(out, "%-*s  %-*s %10s %13s %10s %10s %10s %11s %8s %9s\n", (int)name, "name", (int)type,
				"type", "differ", "ulps", "abs", "rel", "l2", "cosine", "sqnr dB", "nonfinite");
		for (size_t i = 0; i < g->n; i++) {
			const hu_gate_row *r = &g->row[i];
			hu_str s;
			if (!all && !differs(r))
				continue;
			hu_str_init(&s);
			add_type(&s, r);
			if (!print) {
				size_t n = strlen(hu_shown(r->name));
				name = n > name ? n : name;
				type = s.len > type ? s.len : type;
				shown++;
			} else {
				fprintf(out, "%-*s  %-*s", (int)name, hu_shown(r->name), (int)type, s.s);
				if (!r->old || !r->new)
					fprintf(out, " is in %s alone", hu_shown((r->old ? &g->old : &g->new)->path));
				else if (r->state == HU_GATE_SHAPE)
					fprintf(out, " %s", r->said);
				else
					measures(out, r);
				if (r->m.gone + r->m.added)
					fprintf(out, ", %zu steps missing, %zu new", r->m.gone, r->m.added);
				fputc('\n', out);
			}
			hu_str_release(&s);
		}
	}
	if (differing)
		fprintf(out, "%zu of %zu names differ\n", differing, g->n);
	else
		fprintf(out, "nothing differs in %zu names\n", g->n);
}
