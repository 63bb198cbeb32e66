/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/outcome/outcome.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void
hu_outcomes_init(hu_outcomes *v, const char *suite, const char *of)
{
	memset(v, 0, sizeof *v);
	v->suite = hu_xstrdup(suite);
	v->of = hu_xstrdup(of);
	hu_str_init(&v->reasons);
	hu_str_init(&v->remarks);
	hu_str_init(&v->decision);
}

void
hu_outcomes_refuse(hu_outcomes *v, const char *suite, const char *of, const char *reason)
{
	hu_outcomes_init(v, suite, of);
	v->error = 1;
	hu_outcomes_add(v, suite, 0, hu_xprintf("nothing was judged: %s", reason), NULL);
	v->summary = hu_xstrdup("nothing was judged");
	v->head = json_pack("{s:s s:s}", "run", hu_shown(of), "error", reason);
}

void
hu_outcomes_add(hu_outcomes *v, const char *name, int ok, char *said, char *detail)
{
	HU_GROW(v->v, v->n, v->cap);
	v->v[v->n++] = (hu_outcome){ hu_xstrdup(hu_shown(name)), said, detail, ok, 0, NAN, NAN };
	v->failed += !ok;
}

void
hu_outcomes_decide(hu_outcomes *v, char *decision)
{
	const char *rest = strchr(v->summary, '\n');

	if (rest)
		hu_str_addf(&v->remarks, "%s\n", rest + 1);
	hu_str_add(&v->decision, decision);
	free(decision);
}

void
hu_outcomes_release(hu_outcomes *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->v[i].name);
		free(v->v[i].said);
		free(v->v[i].detail);
	}
	if (v->drop)
		v->drop(v->rows, v->n);
	hu_str_release(&v->reasons);
	hu_str_release(&v->remarks);
	hu_str_release(&v->decision);
	json_decref(v->head);
	free(v->v);
	free(v->suite);
	free(v->of);
	free(v->source);
	free(v->why);
	free(v->summary);
	memset(v, 0, sizeof *v);
}

void
hu_outcome_fingerprint(char hash[17], const hu_outcomes *v, const char *name)
{
	char *key = hu_xprintf("%s/%s", v->suite, name);

	snprintf(hash, 17, "%016llx", (unsigned long long)XXH3_64bits(key, strlen(key)));
	free(key);
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
description(FILE *out, const char *s)
{
	for (; *s; s++)
		fprintf(out, *s == '#' ? "\\%c" : "%c", *s);
}

void
hu_outcomes_tap(FILE *out, const hu_outcomes *v)
{
	if (v->why)
		lines(out, "# ", v->why);
	fprintf(out, "1..%zu\n", v->n);
	for (size_t i = 0; i < v->n; i++) {
		fprintf(out, "%s %zu - ", v->v[i].ok ? "ok" : "not ok", i + 1);
		description(out, v->v[i].name);
		fputs(": ", out);
		description(out, v->v[i].said);
		fputc('\n', out);
		if (v->v[i].detail)
			lines(out, "#   ", v->v[i].detail);
	}
	lines(out, "# ", v->summary);
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

void
hu_outcomes_junit(FILE *out, const hu_outcomes *v)
{
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s ", v->suite);
	xml(out, hu_shown(v->of));
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", v->n, v->error ? 0 : v->failed,
		v->error ? v->failed : 0);
	for (size_t i = 0; i < v->n; i++) {
		const hu_outcome *c = &v->v[i];
		fprintf(out, "  <testcase classname=\"halfulp\" name=\"");
		xml(out, c->name);
		if (c->ok) {
			fprintf(out, "\"/>\n");
			continue;
		}
		fprintf(out, "\">\n    <%s message=\"", v->error ? "error" : "failure");
		xml(out, c->said);
		if (c->detail) {
			fputs(": ", out);
			xml(out, c->detail);
		}
		fprintf(out, "\"/>\n  </testcase>\n");
	}
	fprintf(out, "  <system-out>");
	if (v->why) {
		xml(out, v->why);
		xml(out, "\n");
	}
	xml(out, v->summary);
	fprintf(out, "</system-out>\n</testsuite>\n");
}
