/* SPDX-License-Identifier: Apache-2.0
   Outcomes as Markdown, for the summary of a job and the comment of a merge request. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 20 }; /* of failures; the list of all is in the other formats */

/* What Markdown or HTML would read as theirs stands as it is; an end of a line becomes a blank within a cell. */
static void
escaped(FILE *out, const char *s)
{
	for (; *s; s++)
		if (*s == '<' || *s == '>' || *s == '&')
			fprintf(out, "&#%d;", *s);
		else if (strchr("\\`*_{}[]()#+!|~", *s))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s == '\n' ? ' ' : *s, out);
}

void
hu_outcomes_markdown(FILE *out, const hu_outcomes *v)
{
	size_t shown = v->failed > ROWS ? ROWS : v->failed;

	fputs(v->failed ? "## ❌ " : "## ✅ ", out);
	escaped(out, v->suite);
	fputs(": ", out);
	escaped(out, hu_shown(v->of));
	fputs("\n\n", out);
	if (v->why) {
		fputs("**", out);
		escaped(out, v->why);
		fputs("**\n\n", out);
	}
	if (shown)
		fputs("| failed | how | details |\n| --- | --- | --- |\n", out);
	for (size_t i = 0; i < v->n && i < shown; i++) {
		fputs("| ", out);
		escaped(out, v->v[i].name);
		fputs(" | ", out);
		escaped(out, v->v[i].said);
		fputs(" | ", out);
		escaped(out, v->v[i].detail ? v->v[i].detail : "");
		fputs(" |\n", out);
	}
	if (shown < v->failed)
		fprintf(out, "\n%zu more failed, the worst of which are above.\n", v->failed - shown);
	if (v->failed)
		fputc('\n', out);
	for (const char *s = v->summary; *s;) {
		size_t n = strcspn(s, "\n");
		char *line = hu_xprintf("%.*s", (int)n, s);
		fputs("- ", out);
		escaped(out, line);
		fputc('\n', out);
		free(line);
		s += n + (s[n] == '\n');
	}
}
