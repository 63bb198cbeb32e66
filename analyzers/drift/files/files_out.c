/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/files/files_out.h"

#include "analyzers/drift/files/files_text.h"
#include "analyzers/drift/files/files_why.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <string.h>

static char *
detail(const hu_files_row *r)
{
	hu_str s;
	const hu_measures *m = &r->m;

	hu_str_init(&s);
	hu_files_add_type(&s, r);
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

/* What JSON says of the whole. */
static json_t *
head(const hu_files *g)
{
	return json_pack("{s:s s:s s:I s:I}", "new", hu_shown(g->new.path), "baseline", hu_shown(g->old.path), "names",
		(json_int_t)g->n, "failed", (json_int_t)g->failed);
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
		if (!g->rules.rule[i].used) {
			const char *rule = hu_shown(g->rules.rule[i].text);
			hu_str_addf(&s, "\nno name came to the rule '%s'", rule);
			hu_str_addf(&v->remarks, "no name came to the rule '%s'\n", rule);
		}
	v->summary = s.s;
	v->why = g->failed ? hu_files_why(g) : NULL;
	v->head = head(g);
	v->list = "rows";
	hu_files_rows(v, g);
}
