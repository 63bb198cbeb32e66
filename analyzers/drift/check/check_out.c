/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/check/check_out.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/drift/check/check_text.h"
#include "analyzers/drift/check/why.h"

#include "lib/base/console/spec.h"
#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/str.h"
#include "lib/number/ulps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *
key_of(const hu_finding *f)
{
	return (f->want ? f->want : f->got)->key;
}

/* "0.25 (0x1p-2)", or the text where it is no number. */
static void
value_of(const hu_baseline_quantity *q, char *out, size_t size)
{
	if (!q)
		snprintf(out, size, "nothing");
	else if (isfinite(q->value))
		snprintf(out, size, "%s (%a)", q->text, q->value);
	else
		snprintf(out, size, "%s", q->text);
}

char *
hu_check_attribution(const hu_check_report *r)
{
	enum { CALLS = 5 };
	hu_str s;
	int trees = 0;
	size_t calls = 0;

	hu_str_init(&s);
	for (size_t i = 0; i < r->n; i++) {
		if (r->f[i].held < HU_DRIFT || !hu_is_program_row(key_of(&r->f[i])) || calls++ >= CALLS)
			continue;
		char *change = hu_program_row_change(&r->f[i]);
		hu_str_addf(&s, "the program differs: %s\n", change);
		free(change);
	}
	if (calls > CALLS)
		hu_str_addf(&s, "the program differs in %zu calls and tensors, of which these are the first\n", calls);
	hu_missing_steps(&s, r->want, r->got, r->run);
	for (size_t i = 0; i < r->want->nenv; i++) {
		const char *key = r->want->env[i].key, *was = r->want->env[i].value, *is = hu_baseline_env(r->got, key);
		if (is && !strcmp(is, was)) {
			trees += !strcmp(key, "summation_tree") || !strcmp(key, "casts");
			continue;
		}
		hu_str_addf(&s, "%s: %s in the baseline, %s now\n", hu_spec_setting(key), was, is ? is : "nothing");
	}
	for (size_t i = 0; i < r->got->nenv; i++)
		if (!hu_baseline_env(r->want, r->got->env[i].key))
			hu_str_addf(&s, "%s: nothing in the baseline, %s now\n", hu_spec_setting(r->got->env[i].key),
				r->got->env[i].value);
	hu_str_addf(&s, trees == 2 ? "same summation trees and same casts"
				   : "other summation trees or casts: bits may differ for that reason alone");
	return s.s;
}

/* Both values of a failure, how far apart they are and how far they may be. */
static char *
detail(const hu_finding *f)
{
	char want[160], got[160], ulps[32];

	if (hu_is_program_row(key_of(f)))
		return hu_program_row_change(f);
	value_of(f->want, want, sizeof want);
	value_of(f->got, got, sizeof got);
	if (!isfinite(f->ulps))
		return hu_xprintf("baseline %s, run %s", want, got);
	return hu_xprintf("baseline %s, run %s, %s ulps of %s apart; allowed %g ulps, tolerance %g", want, got,
		hu_ulps_text(ulps, f->ulps, hu_format_of(f->want->format), 17), hu_format_name(f->want->format),
		f->want->ulps, f->want->tolerance);
}

void
hu_check_outcomes(hu_outcomes *v, const hu_check_report *r)
{
	hu_outcomes_init(v, "halfulp check", r->run);
	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		int ok = f->held < HU_DRIFT;
		hu_outcomes_add(v, key_of(f), ok, hu_xstrdup(hu_held_text(f->held)), ok ? NULL : detail(f));
		v->v[v->n - 1].line = f->want ? f->want->line : 0;
	}
	v->source = hu_xstrdup(r->path);
	char *why = r->failed ? hu_check_attribution(r) : NULL;
	v->summary = r->failed ? hu_xprintf("%zu of %zu quantities failed, worst first above\n%s", r->failed, r->n, why)
			       : hu_xprintf("all %zu quantities hold", r->n);
	free(why);
	v->why = hu_check_why(r);
	if (r->history) {
		char *text = hu_xprintf("%s\n%s", v->summary, r->history);
		free(v->summary);
		v->summary = text;
	}
	if (r->obtained) {
		char *text = hu_xprintf("%s\n%s has what was obtained; where that is right: halfulp baseline %s -o %s "
					"--reason TEXT",
			v->summary, hu_shown(r->obtained), hu_shown(r->run), hu_shown(r->path));
		free(v->summary);
		v->summary = text;
	}
}

static json_t *
value_json(const hu_baseline_quantity *q)
{
	return !q ? json_null() : isfinite(q->value) ? json_real(q->value) : json_string(q->text);
}

static void
json(FILE *out, const hu_check_report *r)
{
	json_t *list = json_array(), *o;
	char *why = hu_check_attribution(r), *first = hu_check_why(r);

	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		json_array_append_new(list,
			json_pack("{s:s s:b s:s s:o s:o s:o s:o}", "quantity", key_of(f), "ok", f->held < HU_DRIFT,
				"held", hu_held_text(f->held), "baseline", value_json(f->want), "run",
				value_json(f->got), "ulps", isfinite(f->ulps) ? json_real(f->ulps) : json_null(),
				"allowed_ulps", f->want ? json_real(f->want->ulps) : json_null()));
	}
	o = json_pack("{s:s s:s s:I s:I s:s* s:s* s:s s:o}", "run", hu_shown(r->run), "baseline", hu_shown(r->path),
		"quantities", (json_int_t)r->n, "failed", (json_int_t)r->failed, "why", first, "history", r->history,
		"attribution", why, "findings", list);
	hu_json_write(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(o);
	free(first);
	free(why);
}

void
hu_check_write(FILE *out, const hu_check_report *r, const char *format)
{
	hu_outcomes v;

	if (!strcmp(format, "json")) {
		json(out, r);
		return;
	}
	if (!strcmp(format, "text")) {
		hu_check_text(r);
		return;
	}
	hu_check_outcomes(&v, r);
	hu_outcomes_writer_find(format)(out, &v);
	hu_outcomes_release(&v);
}

void
hu_check_write_error(FILE *out, const char *suite, const char *run, const char *reason, const char *format)
{
	hu_outcomes v;

	if (!strcmp(format, "json")) {
		json_t *o = json_pack("{s:s s:s}", "run", hu_shown(run), "error", reason);
		hu_json_write(o, out, JSON_INDENT(1));
		fputc('\n', out);
		json_decref(o);
		return;
	}
	hu_outcomes_init(&v, suite, run);
	v.error = 1;
	hu_outcomes_add(&v, suite, 0, hu_xprintf("nothing was judged: %s", reason), NULL);
	v.summary = hu_xstrdup("nothing was judged");
	hu_outcomes_writer_find(format)(out, &v);
	hu_outcomes_release(&v);
}
