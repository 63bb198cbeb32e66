/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/caption.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "reports/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4, NAMED = 6 }; /* NAMED: of more runs the least and the largest number are said */

/* A place in a template: {verb a b}, with the part of the figure that it reads. */
typedef struct place {
	char *word[WORDS];
	int words, percent, ulps;
	const hu_selection *from;
} place;

/* Cuts "C@PART" after C and returns the part's table: the figure's own where none is named, NULL where it has none. */
static const hu_selection *
part_of(const hu_figure *f, char *column)
{
	char *at = column ? strchr(column, '@') : NULL;

	if (!at)
		return &f->part[0];
	*at = 0;
	for (int k = 1; k < f->parts; k++)
		if (!strcmp(f->part_name[k], at + 1))
			return f->part[k].rows ? &f->part[k] : NULL;
	return NULL;
}

static double
over_rows(const hu_selection *s, const char *verb, const char *column, const char *run)
{
	double all = NAN;

	for (size_t r = 0; r < s->rows; r++) {
		double x = hu_selection_real(s, r, column);
		if (isnan(x) || (run && strcmp(hu_selection_cell(s, r, "run"), run)))
			continue;
		x = !strcmp(verb, "absmax") ? fabs(x) : x;
		if (isnan(all) || !strcmp(verb, "last"))
			all = x;
		else if (!strcmp(verb, "sum"))
			all += x;
		else if (!strcmp(verb, "min"))
			all = fmin(all, x);
		else
			all = fmax(all, x);
	}
	return all;
}

/* Returns the row where sign * column is largest; s->rows where no row has it. */
static size_t
largest(const hu_selection *s, const char *column, double sign)
{
	size_t at = s->rows;
	double most = NAN;

	for (size_t r = 0; r < s->rows; r++) {
		double x = sign * hu_selection_real(s, r, column);
		if (!isnan(x) && !(x <= most)) {
			most = x;
			at = r;
		}
	}
	return at;
}

static int
put_number(hu_str *b, double x, const place *p)
{
	int whole = x == floor(x) && fabs(x) < 1e9;

	if (!isfinite(x))
		return 0;
	char *s = hu_human(x, p->percent ? HU_UNIT_SHARE
			      : p->ulps  ? HU_UNIT_ULP
			      : whole    ? HU_UNIT_COUNT
					 : HU_UNIT_REAL);
	hu_str_add(b, s);
	free(s);
	return 1;
}

/* Returns the number of the run i. */
static double
of_run(const place *p, int i)
{
	char run[16];

	snprintf(run, sizeof run, "%d", i + 1);
	return over_rows(p->from, p->word[1], p->word[2], run);
}

/* Appends "0.5 (LABEL)" behind `before`; returns 0 where the run has no such number. */
static int
put_run(hu_str *b, const char *before, const place *p, const hu_report_runs *runs, int i)
{
	hu_str one;

	hu_str_init(&one);
	int ok = put_number(&one, of_run(p, i), p);
	if (ok)
		hu_str_addf(b, "%s%s (%s)", before, one.s, runs->at[i].label);
	hu_str_release(&one);
	return ok;
}

static int
put_runs(hu_str *b, const place *p, const hu_report_runs *runs)
{
	int any = 0, least = -1, most = -1;

	for (int i = 0; i < runs->n && runs->n <= NAMED; i++)
		any += put_run(b, any ? ", " : "", p, runs, i);
	for (int i = 0; i < runs->n && runs->n > NAMED; i++) {
		double x = of_run(p, i);
		if (!isfinite(x))
			continue;
		least = least < 0 || x < of_run(p, least) ? i : least;
		most = most < 0 || x > of_run(p, most) ? i : most;
	}
	return least < 0 ? any : put_run(b, "from ", p, runs, least) + put_run(b, " to ", p, runs, most);
}

/* Appends what stands for a place; returns 0 where the data lack it. */
static int
put_place(hu_str *b, const place *p, const hu_report_runs *runs)
{
	const char *verb = p->word[0];

	if (!p->from || !p->from->rows)
		return 0;
	if (!strcmp(verb, "runs"))
		return put_runs(b, p, runs);
	if (!strcmp(verb, "share")) {
		double of = over_rows(p->from, "sum", p->word[2], NULL);
		place share = { .percent = 1 };
		return put_number(b, over_rows(p->from, "sum", p->word[1], NULL) / of, &share);
	}
	if (!strcmp(verb, "at") || !strcmp(verb, "atmin")) {
		size_t r = largest(p->from, p->word[1], strcmp(verb, "at") ? -1 : 1);
		if (r == p->from->rows)
			return 0;
		hu_str_add(b, hu_selection_cell(p->from, r, p->word[2]));
		return 1;
	}
	return put_number(b, over_rows(p->from, verb, p->word[1], NULL), p);
}

/* Appends one clause of a template; returns 0, with b as it was, where a number is missing. */
static int
put_clause(hu_str *b, const char *clause, const hu_figure *f, const hu_report_runs *runs)
{
	hu_str out;
	int ok = 1;

	hu_str_init(&out);
	while (*clause && ok) {
		size_t n = strcspn(clause, "{");
		hu_str_addn(&out, clause, n);
		clause += n;
		if (!*clause)
			break;
		size_t inside = strcspn(++clause, "}");
		char *text = hu_xprintf("%.*s", (int)inside, clause), *save = NULL;
		place p = { .from = NULL };
		for (char *w = strtok_r(text, " ", &save); w && p.words < WORDS; w = strtok_r(NULL, " ", &save)) {
			if (!strcmp(w, "%"))
				p.percent = 1;
			else if (!strcmp(w, "ulps"))
				p.ulps = 1;
			else
				p.word[p.words++] = w;
		}
		HU_ASSERT(p.words >= 2);
		p.from = part_of(f, !strcmp(p.word[0], "runs") ? p.word[2] : p.word[1]);
		ok = put_place(&out, &p, runs);
		free(text);
		clause += inside + 1;
	}
	if (ok)
		hu_add_raised(b, out.s);
	hu_str_release(&out);
	return ok;
}

char *
hu_figure_numbers(const hu_figure *f, const hu_report_runs *runs, const char *numbers)
{
	hu_str b;

	hu_str_init(&b);
	while (*numbers) {
		const char *end = strstr(numbers, "; ");
		char *clause = hu_xprintf("%.*s", end ? (int)(end - numbers) : (int)strlen(numbers), numbers);
		size_t before = b.len;
		hu_str_add(&b, before ? "; " : "");
		if (!put_clause(&b, clause, f, runs)) {
			b.len = before;
			b.s[before] = 0;
		}
		free(clause);
		numbers += end ? (size_t)(end - numbers) + 2 : strlen(numbers);
	}
	return b.s;
}

static void
add_fact(hu_str *b, const char *before, const char *text)
{
	if (text && *text)
		hu_str_addf(b, "%s%s%s", b->len ? " · " : "", before, hu_shown(text));
}

char *
hu_figure_subject(const hu_figure *f, const hu_report_runs *runs)
{
	const hu_report_run *r = &runs->at[f->run < 0 ? 0 : f->run];
	const char *compute = hu_json_text(r->manifest, "policy.compute"),
		   *variable = hu_json_text(r->manifest, "policy.variable");
	hu_str b;

	hu_str_init(&b);
	if (f->run >= 0)
		add_fact(&b, "run ", r->label);
	add_fact(&b, "model ", hu_json_text(r->manifest, "model"));
	add_fact(&b, "data ", hu_json_text(r->manifest, "dataset.name"));
	if (f->run >= 0 && compute && variable)
		hu_str_addf(&b, " · computes in %s, weights in %s", hu_shown(compute), hu_shown(variable));
	if (f->run < 0 && runs->n > 1)
		hu_str_addf(&b, " · %d runs", runs->n);
	return b.s;
}
