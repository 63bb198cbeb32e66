/* SPDX-License-Identifier: Apache-2.0
   Outcomes for a person: the verdict first, failures before what holds, ten lines where all is well, and the decision
   in the last one. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/show.h"

#include <stdlib.h>
#include <string.h>

const char *
hu_outcome_format(const char *given)
{
	const char *all = getenv("HALFULP_RESULTS");

	return given ? given : all && *all ? all : "text";
}

void
hu_outcomes_text(FILE *out, const hu_outcomes *v)
{
	size_t shown = 0, room;

	if (v->error) /* standard error has the reason */
		return;
	room = HU_OUTCOME_ROWS;
	for (size_t i = 0; i < v->n && shown < room; i++, shown++) {
		const hu_outcome *o = &v->v[i];
		fprintf(out, "%-4s  %s: %s\n", o->ok ? "pass" : "fail", o->name, o->said);
		if (o->detail)
			fprintf(out, "      %s\n", o->detail);
	}
	hu_outcome_rest(out, v->n, v->failed, shown);
	fprintf(out, "%s\n", v->summary);
}

void
hu_outcome_line(FILE *out, hu_str *text)
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
hu_outcome_rest(FILE *out, size_t n, size_t failed, size_t shown)
{
	size_t fail = failed > shown ? failed - shown : 0, hold = n - failed - (shown > failed ? shown - failed : 0);

	if (fail && hold)
		fprintf(out, "%zu more fail and %zu hold; --format tap lists them all\n", fail, hold);
	else if (fail)
		fprintf(out, "%zu more fail; --format tap lists them all\n", fail);
	else if (hold)
		fprintf(out, "%zu more hold; --format tap lists them all\n", hold);
}
