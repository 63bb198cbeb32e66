/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/check/check_out.h"

#include "analyzers/drift/baseline/baseline_program.h"
#include "analyzers/drift/check/check_text.h"
#include "analyzers/drift/check/why.h"

#include "lib/base/console/spec.h"
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

/* What JSON says of the whole. */
static json_t *
head(const hu_outcomes *v, const hu_check_report *r, const char *attribution)
{
	return json_pack("{s:s s:s s:I s:I s:s? s:s? s:s}", "run", hu_shown(r->run), "baseline", hu_shown(r->path),
		"quantities", (json_int_t)r->n, "failed", (json_int_t)r->failed, "why", v->why, "history", r->history,
		"attribution", attribution);
}

void
hu_check_outcomes(hu_outcomes *v, const hu_check_report *r)
{
	char *why = hu_check_attribution(r);
	hu_str s;

	hu_outcomes_init(v, "halfulp check", r->run);
	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		int ok = f->held < HU_DRIFT;
		hu_outcomes_add(v, key_of(f), ok, hu_xstrdup(hu_held_text(f->held)), ok ? NULL : detail(f));
		v->v[v->n - 1].line = f->want ? f->want->line : 0;
	}
	v->source = hu_xstrdup(r->path);
	v->why = hu_check_why(r);
	v->head = head(v, r, why);
	v->list = "findings";
	hu_check_rows(v, r);
	hu_str_init(&s);
	if (r->failed)
		hu_str_addf(&s, "%zu of %zu quantities failed, worst first above\n%s", r->failed, r->n, why);
	else
		hu_str_addf(&s, "all %zu quantities hold", r->n);
	if (r->history)
		hu_str_addf(&s, "\n%s", r->history);
	if (r->obtained)
		hu_str_addf(&s,
			"\n%s has what was obtained; where that is right: halfulp baseline %s -o %s --reason TEXT",
			hu_shown(r->obtained), hu_shown(r->run), hu_shown(r->path));
	v->summary = s.s;
	free(why);
}
