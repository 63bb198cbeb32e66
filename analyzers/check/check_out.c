/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/check/check_out.h"

#include "lib/base/mem.h"
#include "lib/base/console/show.h"
#include "lib/base/str.h"

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
	else if (q->number && isfinite(q->value))
		snprintf(out, size, "%s (%a)", q->text, q->value);
	else
		snprintf(out, size, "%s", q->text);
}

char *
hu_check_attribution(const hu_check_report *r)
{
	hu_str s;
	int trees = 0;

	hu_str_init(&s);
	for (size_t i = 0; i < r->want->nenv; i++) {
		const char *key = r->want->env[i].key, *was = r->want->env[i].value, *is = hu_baseline_env(r->got, key);
		if (is && !strcmp(is, was)) {
			trees += !strcmp(key, "summation_tree") || !strcmp(key, "casts");
			continue;
		}
		hu_str_addf(&s, "%s: %s in the baseline, %s now\n", key, was, is ? is : "nothing");
	}
	hu_str_addf(&s, trees == 2 ? "same summation trees and same casts"
				   : "other summation trees or casts: bits may differ for that reason alone");
	return s.s;
}

static void
lines(FILE *out, const char *before, const char *text)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\n");
		fprintf(out, "%s%.*s\n", before, (int)n, s);
		s += n + (s[n] == '\n');
	}
}

static void
tap(FILE *out, const hu_check_report *r)
{
	fprintf(out, "1..%zu\n", r->n);
	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		char want[160], got[160];
		int bad = f->held >= HU_DRIFT;
		fprintf(out, "%s %zu - %s: %s\n", bad ? "not ok" : "ok", i + 1, key_of(f), hu_held_text(f->held));
		if (!bad)
			continue;
		value_of(f->want, want, sizeof want);
		value_of(f->got, got, sizeof got);
		fprintf(out, "#   baseline %s, run %s", want, got);
		if (isfinite(f->ulps))
			fprintf(out, ", %.17g ulps of %s apart; allowed %g ulps, noise %g", f->ulps,
				hu_format_name(f->want->format), f->want->ulps, f->want->noise);
		fputc('\n', out);
	}
	if (r->failed) {
		char *why = hu_check_attribution(r);
		fprintf(out, "# %zu of %zu quantities failed, worst first above\n", r->failed, r->n);
		lines(out, "# ", why);
		free(why);
	} else {
		fprintf(out, "# all %zu quantities hold\n", r->n);
	}
}

static void
xml(FILE *out, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\n': fputs("&#10;", out); break;
		default: fputc(*s, out);
		}
}

static void
junit(FILE *out, const hu_check_report *r)
{
	char *why = hu_check_attribution(r);

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"halfulp check ");
	xml(out, hu_shown(r->run));
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\">\n", r->n, r->failed);
	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		char want[160], got[160], text[512];
		fprintf(out, "  <testcase classname=\"halfulp\" name=\"");
		xml(out, key_of(f));
		if (f->held < HU_DRIFT) {
			fprintf(out, "\"/>\n");
			continue;
		}
		value_of(f->want, want, sizeof want);
		value_of(f->got, got, sizeof got);
		int n = snprintf(text, sizeof text, "%s: baseline %s, run %s", hu_held_text(f->held), want, got);
		if (isfinite(f->ulps) && n > 0 && (size_t)n < sizeof text)
			snprintf(text + n, sizeof text - (size_t)n, ", %.17g ulps apart", f->ulps);
		fprintf(out, "\">\n    <failure message=\"");
		xml(out, text);
		fprintf(out, "\"/>\n  </testcase>\n");
	}
	fprintf(out, "  <system-out>");
	xml(out, why);
	fprintf(out, "</system-out>\n</testsuite>\n");
	free(why);
}

static json_t *
value_json(const hu_baseline_quantity *q)
{
	return !q ? json_null() : q->number && isfinite(q->value) ? json_real(q->value) : json_string(q->text);
}

static void
json(FILE *out, const hu_check_report *r)
{
	json_t *list = json_array(), *o;
	char *why = hu_check_attribution(r);

	for (size_t i = 0; i < r->n; i++) {
		const hu_finding *f = &r->f[i];
		json_array_append_new(list,
			json_pack("{s:s s:b s:s s:o s:o s:o s:o}", "quantity", key_of(f), "ok", f->held < HU_DRIFT,
				"held", hu_held_text(f->held), "baseline", value_json(f->want), "run",
				value_json(f->got), "ulps", isfinite(f->ulps) ? json_real(f->ulps) : json_null(),
				"allowed_ulps", f->want ? json_real(f->want->ulps) : json_null()));
	}
	o = json_pack("{s:s s:s s:I s:I s:s s:o}", "run", hu_shown(r->run), "baseline", hu_shown(r->path), "quantities",
		(json_int_t)r->n, "failed", (json_int_t)r->failed, "attribution", why, "findings", list);
	json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	fputc('\n', out);
	json_decref(o);
	free(why);
}

hu_check_writer *
hu_check_writer_find(const char *name)
{
	return !strcmp(name, "tap") ? tap : !strcmp(name, "junit") ? junit : !strcmp(name, "json") ? json : NULL;
}
