/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/figure.h"

#include "lib/base/mem.h"
#include "lib/base/console/plot_text.h"
#include "lib/base/show.h"
#include "reports/caption.h"
#include "reports/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; hu_figure_scope scope; const char *query, *ranges, *numbers, *title, *caption;
} rows[] = {
#define FIGURE(name, scope, query, ranges, numbers, title, caption)                                                   \
	{ name, HU_FIGURE_##scope, query, ranges, numbers, title, caption },
#include "reports/figures.def"
#undef FIGURE
};

enum { NROWS = sizeof rows / sizeof *rows };

/* Runs the parts of a row's query, "QUERY; PART query; …", on n runs. */
static hu_status
select_parts(hu_figure *f, const char *query, char *const *dir, int n)
{
	char *all = hu_xstrdup(query), *save = NULL;
	hu_status st = HU_OK;

	for (char *q = strtok_r(all, ";", &save); q && st == HU_OK; q = strtok_r(NULL, ";", &save)) {
		HU_ASSERT(f->parts < HU_FIGURE_PARTS);
		q += strspn(q, " ");
		char *rest = q + strcspn(q, " ");
		if (f->parts)
			f->part_name[f->parts] = hu_xprintf("%.*s", (int)(rest - q), q);
		else
			rest = q;
		st = hu_select(&f->part[f->parts], rest, dir, n);
		f->parts++;
	}
	free(all);
	if (st == HU_OK && !f->part[0].rows)
		f->why = hu_xstrdup(f->part[0].empty);
	return st;
}

static hu_status
add(hu_figures *f, int row, int run, const hu_report_runs *runs)
{
	hu_figure *g = &f->at[f->n++];

	g->name = rows[row].name;
	g->title = rows[row].title;
	g->caption = rows[row].caption;
	g->ranges = rows[row].ranges;
	g->scope = rows[row].scope;
	g->run = run;
	g->stem = run > 0 ? hu_xprintf("%s-%d", g->name, run + 1) : hu_xstrdup(g->name);
	if (g->scope == HU_FIGURE_COMPARED && runs->n < 2) {
		g->why = hu_xstrdup("it compares runs and there is one");
		return HU_OK;
	}
	HU_TRY(select_parts(g, rows[row].query, run < 0 ? runs->dir : runs->dir + run, run < 0 ? runs->n : 1));
	if (g->scope == HU_FIGURE_COMPARED && g->why && g->part[0].empty && !strncmp(g->why, "every value", 11)) {
		free(g->why);
		g->why = hu_xstrdup("the runs do not differ in a single bit of their loss");
	}
	if (!g->why) {
		g->numbers = hu_figure_numbers(g, runs, rows[row].numbers);
		g->subject = hu_figure_subject(g, runs);
	}
	return HU_OK;
}

hu_status
hu_figures_select(hu_figures *f, const hu_report_runs *runs)
{
	hu_status st = HU_OK;

	f->n = 0;
	f->at = hu_xcalloc((size_t)(NROWS * runs->n), sizeof *f->at);
	for (int row = 0; row < NROWS && st == HU_OK; row++) {
		if (rows[row].scope != HU_FIGURE_EACH)
			st = add(f, row, -1, runs);
		else
			for (int run = 0; run < runs->n && st == HU_OK; run++)
				st = add(f, row, run, runs);
	}
	if (st != HU_OK)
		hu_figures_release(f);
	return st;
}

void
hu_figures_release(hu_figures *f)
{
	for (int i = 0; i < f->n; i++) {
		for (int k = 0; k < f->at[i].parts; k++) {
			free(f->at[i].part_name[k]);
			if (f->at[i].part[k].query)
				hu_selection_release(&f->at[i].part[k]);
		}
		free(f->at[i].stem);
		free(f->at[i].why);
		free(f->at[i].numbers);
		free(f->at[i].subject);
	}
	free(f->at);
	memset(f, 0, sizeof *f);
}

static void
array(hu_str *b, const char *name, char *const *value, int n)
{
	if (!n)
		return;
	hu_str_addf(b, "array %s[%d] = [", name, n);
	for (int i = 0; i < n; i++) {
		hu_str_add(b, i ? ", " : "");
		char *brief = hu_abbreviate(value[i], HU_LABEL);
		hu_plot_quoted(b, brief);
		free(brief);
	}
	hu_str_add(b, "]\n");
}

static int
same_figure(const hu_figure *a, const hu_figure *b)
{
	return !strcmp(a->name, b->name) && !a->why;
}

/* Writes the least and the largest value of each column of f->ranges over all runs' figures of this name. */
static void
shared_ranges(hu_str *b, const hu_figures *all, const hu_figure *f)
{
	char *columns = hu_xstrdup(f->ranges), *save = NULL;

	for (char *c = strtok_r(columns, " ", &save); c; c = strtok_r(NULL, " ", &save)) {
		double least = NAN, most = NAN;
		for (int i = 0; i < all->n; i++)
			for (size_t r = 0; same_figure(&all->at[i], f) && r < all->at[i].part[0].rows; r++) {
				double x = hu_selection_real(&all->at[i].part[0], r, c);
				least = fmin(x, least);
				most = fmax(x, most);
			}
		hu_str_addf(b, "%s_least = %.17g; %s_most = %.17g\n", c, least, c, most);
	}
	free(columns);
}

/* Writes the variables that the .gp needs before it reads its data. */
static void
prologue(hu_str *b, const hu_figures *figures, const hu_figure *f, const hu_report_runs *runs, const char *formats,
	const char *command)
{
	char *labels[1] = { f->run < 0 ? NULL : runs->at[f->run].label };

	hu_str_addf(b, "# %s: drawn from %s.tsv by `gnuplot %s.gp` in this folder.\n# Made by halfulp %s: %s\n",
		f->title, f->stem, f->stem, HU_VERSION, command);
	hu_str_addf(
		b, "stem = '%s'; file = '%s.tsv'\nif (!exists('formats')) formats = '%s'\n", f->stem, f->stem, formats);
	hu_str_addf(b, "runs = %d\n", f->run < 0 ? runs->n : 1);
	if (f->run >= 0)
		hu_str_addf(b, "run_number = %d\n", f->run + 1);
	hu_str_add(b, "subject = ");
	hu_plot_quoted(b, f->subject);
	hu_str_add(b, "\nnumbers = ");
	hu_plot_quoted(b, f->numbers);
	hu_str_add(b, "\n");
	shared_ranges(b, figures, f);
	if (f->run < 0) {
		char **all = hu_xcalloc((size_t)runs->n, sizeof *all);
		for (int i = 0; i < runs->n; i++)
			all[i] = runs->at[i].label;
		array(b, "run_label", all, runs->n);
		free(all);
	} else {
		array(b, "run_label", labels, 1);
	}
	for (int k = 0; k < f->parts; k++) {
		const hu_selection *s = &f->part[k];
		const char *under = k ? "_" : "", *name = k ? f->part_name[k] : "";
		hu_str_addf(b, "rows%s%s = %zu; dropped%s%s = %zu\n", under, name, s->rows, under, name, s->dropped);
		if (k && s->rows)
			hu_str_addf(b, "file_%s = '%s.%s.tsv'\n", name, f->stem, name);
		for (int l = 0; l < s->levels; l++) {
			char *array_name = hu_xprintf("%s_name", s->level[l].column);
			array(b, array_name, s->level[l].name, s->level[l].names);
			free(array_name);
		}
	}
	hu_str_add(b, "\n");
}

static hu_status
write_text(const char *dir, const char *name, const hu_str *text)
{
	char *path = hu_path(dir, "%s", name);
	hu_status st = hu_file_write(path, text->s, text->len);

	free(path);
	return st;
}

static hu_status
write_part(const hu_figure *f, int k, const hu_report_runs *runs, const char *dir, const char *command)
{
	hu_str head, text;
	char *name = k ? hu_xprintf("%s.%s.tsv", f->stem, f->part_name[k]) : hu_xprintf("%s.tsv", f->stem);

	hu_str_init(&head);
	hu_str_addf(&head, "# figure: %s\n# report: halfulp %s: %s\n", f->stem, HU_VERSION, command);
	for (int i = 0; i < runs->n; i++)
		if (f->run < 0 || f->run == i)
			hu_str_addf(&head, "# run %d: %s (%s)\n", f->run < 0 ? i + 1 : 1, hu_shown(runs->at[i].dir),
				runs->at[i].label);
	hu_str_addf(&head, "# table: %s\n", f->part[k].table);
	hu_selection_text(&f->part[k], head.s, &text);
	hu_status st = write_text(dir, name, &text);
	hu_str_release(&head);
	hu_str_release(&text);
	free(name);
	return st;
}

static hu_status
write_figure(const hu_figures *all, const hu_figure *f, const hu_report_runs *runs, const char *dir,
	const char *formats, const char *command)
{
	hu_str b;
	char *source = hu_xprintf("figures/%s.gp", f->name), *name = hu_xprintf("%s.gp", f->stem), *text = NULL;
	size_t n;
	hu_status st = hu_report_source(source, &text, &n);

	hu_str_init(&b);
	if (st == HU_OK) {
		prologue(&b, all, f, runs, formats, command);
		hu_str_addn(&b, text, n);
		st = write_text(dir, name, &b);
	}
	for (int k = 0; k < f->parts && st == HU_OK; k++)
		if (f->part[k].rows)
			st = write_part(f, k, runs, dir, command);
	hu_str_release(&b);
	free(text);
	free(source);
	free(name);
	return st;
}

hu_status
hu_figures_write(
	const hu_figures *f, const hu_report_runs *runs, const char *dir, const char *formats, const char *command)
{
	hu_str style = { 0 };

	HU_TRY(hu_report_source("style.gp", &style.s, &style.len));
	hu_status st = write_text(dir, "style.gp", &style);
	free(style.s);
	for (int i = 0; i < f->n && st == HU_OK; i++)
		if (!f->at[i].why)
			st = write_figure(f, &f->at[i], runs, dir, formats, command);
	return st;
}
