/* SPDX-License-Identifier: Apache-2.0
   Outcomes for a person: the verdict first, failures before what holds, ten lines where all is well, and the decision
   in the last one. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The rows that are to be shown, as a table of their fields. */
static void
table(FILE *out, const hu_outcomes *v)
{
	size_t stride = v->fields.stride;
	char *rows = hu_xcalloc(v->nshown + 1, stride);

	for (size_t i = 0; i < v->nshown; i++)
		memcpy(rows + i * stride, (const char *)v->rows + v->shown[i] * stride, stride);
	if (v->nshown)
		hu_fields_print_to(out, &v->fields, rows, v->nshown, NULL);
	free(rows);
}

/* Outcomes without fields, the first of them; returns how many. */
static size_t
lines(FILE *out, const hu_outcomes *v)
{
	size_t shown = 0;

	for (; shown < v->n && shown < HU_OUTCOME_ROWS; shown++) {
		const hu_outcome *o = &v->v[shown];
		fprintf(out, "%-4s  %s: %s\n", o->ok ? "pass" : "fail", o->name, o->said);
		if (o->detail)
			fprintf(out, "      %s\n", o->detail);
	}
	return shown;
}

/* How many rows, whose failures stand first, are not among the first SHOWN; nothing where all are. */
static void
rest(FILE *out, const hu_outcomes *v, size_t shown)
{
	size_t fail = v->failed > shown ? v->failed - shown : 0,
	       hold = v->n - v->failed - (shown > v->failed ? shown - v->failed : 0);

	if (fail && hold)
		fprintf(out, "%zu more fail and %zu hold; --format tap lists them all\n", fail, hold);
	else if (fail)
		fprintf(out, "%zu more fail; --format tap lists them all\n", fail);
	else if (hold)
		fprintf(out, "%zu more hold; --format tap lists them all\n", hold);
}

/* The decision, cut where it is too long. */
static void
decide(FILE *out, const hu_str *text)
{
	size_t columns = 0, n = 0, cut = 0;

	for (; n < text->len; n++) {
		if (((unsigned char)text->s[n] & 0xc0) == 0x80)
			continue; /* a byte within a letter of UTF-8 */
		if (columns == HU_OUTCOME_LINE - 1)
			cut = n;
		if (columns++ == HU_OUTCOME_LINE)
			break;
	}
	fprintf(out, "%.*s%s\n", (int)(n < text->len ? cut : n), text->s, n < text->len ? "…" : "");
}

void
hu_outcomes_text(FILE *out, const hu_outcomes *v)
{
	size_t shown = v->nshown;

	if (v->error) /* standard error has the reason */
		return;
	if (v->fields.n)
		table(out, v);
	else
		shown = lines(out, v);
	fputs(v->reasons.s, out);
	rest(out, v, shown);
	fputs(v->remarks.s, out);
	if (v->decision.len)
		decide(out, &v->decision);
	else
		fprintf(out, "%s\n", v->summary);
}
