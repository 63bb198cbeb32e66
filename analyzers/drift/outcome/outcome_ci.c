/* SPDX-License-Identifier: Apache-2.0
   Outcomes for what shows them beside the code: GitHub's annotations, GitLab's code quality. */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ANNOTATIONS = 10 }; /* that GitHub shows of a step */

/* As a workflow command wants it: %, ends of lines, and in a property : and , too. */
static void
escaped(FILE *out, const char *s, int property)
{
	for (; *s; s++)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*s);
		else
			fputc(*s, out);
}

/* source: NULL where the text is about no line of it. */
static void
command(FILE *out, const char *level, const char *source, int line, const char *title, const char *text,
	const char *more)
{
	fprintf(out, "::%s ", level);
	if (source) {
		fputs("file=", out);
		escaped(out, source, 1);
		fprintf(out, ",line=%d,", line);
	}
	fputs("title=", out);
	escaped(out, title, 1);
	fputs("::", out);
	escaped(out, text, 0);
	if (more) {
		fputs("%0A", out);
		escaped(out, more, 0);
	}
	fputc('\n', out);
}

void
hu_outcomes_github(FILE *out, const hu_outcomes *v)
{
	size_t room = ANNOTATIONS - (v->why != NULL), shown = v->failed > room ? room - 1 : v->failed;

	if (v->why)
		command(out, "error", NULL, 0, v->suite, v->why, NULL);
	for (size_t i = 0; i < v->n && i < shown; i++)
		command(out, "error", v->v[i].line ? v->source : NULL, v->v[i].line, v->v[i].name, v->v[i].said,
			v->v[i].detail);
	if (shown < v->failed) {
		char *rest = hu_xprintf("%zu more failed, the worst of which are above", v->failed - shown);
		command(out, "error", NULL, 0, v->suite, rest, NULL);
		free(rest);
	}
	command(out, "notice", NULL, 0, v->suite, v->summary, NULL);
}

/* One name of one judgement is one finding, whatever its numbers. */
static void
finding(json_t *list, const hu_outcomes *v, const char *name, int line, const char *text, const char *severity)
{
	char hash[17];

	hu_outcome_fingerprint(hash, v, name);
	json_array_append_new(list, json_pack("{s:s s:s s:s s:s s:{s:s s:{s:i}}}", "description", text, "check_name",
					    v->suite, "fingerprint", hash, "severity", severity, "location", "path",
					    hu_shown(line ? v->source : v->of), "lines", "begin", line ? line : 1));
}

void
hu_outcomes_gitlab(FILE *out, const hu_outcomes *v)
{
	json_t *list = json_array();

	if (v->why)
		finding(list, v, "", 0, v->why, "critical");
	for (size_t i = 0; i < v->n; i++) {
		const hu_outcome *o = &v->v[i];
		if (o->ok)
			continue;
		char *text =
			hu_xprintf("%s: %s%s%s", o->name, o->said, o->detail ? ": " : "", o->detail ? o->detail : "");
		finding(list, v, o->name, v->source ? o->line : 0, text, "major");
		free(text);
	}
	hu_json_write(list, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(list);
}
