/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/history.h"

#include "analyzers/drift/baseline/baseline_common.h"
#include "analyzers/drift/gate_figures.h"
#include "analyzers/drift/history_rows.h"
#include "lib/base/console/plot_text.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/store/history/course.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 12 };

static hu_status
commit_name(char *out, size_t size)
{
	const char *named = getenv("GITHUB_SHA");

	named = named && *named ? named : getenv("CI_COMMIT_SHA");
	if (named && *named)
		snprintf(out, size, "%.80s", named);
	else
		hu_baseline_commit(out, size);
	return strcmp(out, "-")
		       ? HU_OK
		       : hu_fail(HU_EFILE, "--history: no commit is checked out here: run it in a git repository, "
					   "or set CI_COMMIT_SHA");
}

/* A share that has only grown: commits until it is one half at its mean pace; NAN else. */
static double
commits_to_half(const hu_course *c)
{
	const char *column = strrchr(c->key, '/');

	if (c->n < 3 || !column || !strstr(column, "share") || c->value[c->n - 1] >= 0.5)
		return NAN;
	for (size_t i = 1; i < c->n; i++)
		if (c->value[i] < c->value[i - 1])
			return NAN;
	double pace = (c->value[c->n - 1] - c->value[0]) / (double)(c->n - 1);
	return pace > 0 ? (0.5 - c->value[c->n - 1]) / pace : NAN;
}

static int
is_cosine(const hu_course *c)
{
	return !fnmatch("*cosine", c->key, 0);
}

/* Of a cosine near 1 what it lacks is drawn, which an axis can tell apart. A line stands where the quantity moved, and
   at most some SHOWN commits have their names below. */
static void
draw(const hu_courses *h, const char *dir)
{
	enum { SHOWN = 16 };
	hu_str data, script;
	size_t moved = 0;

	hu_str_init(&data);
	hu_str_init(&script);
	for (size_t i = 0; i < h->n && moved < DRAWN; i++) {
		const hu_course *c = &h->q[i];
		if (!c->split)
			continue;
		hu_str_addf(&data, "%s# %s\n", moved++ ? "\n\n" : "", hu_shown(c->key));
		for (size_t k = 0; k < c->n; k++) {
			char *commit = hu_xprintf("%.8s", c->commit[k]);
			hu_plot_cell(&data, commit);
			hu_str_addf(&data, "\t%.17g\n", is_cosine(c) ? 1 - c->value[k] : c->value[k]);
			free(commit);
		}
		char *title = hu_xprintf("%s%s", is_cosine(c) ? "1 - " : "", c->key);
		hu_str_add(&script, "set title ");
		hu_plot_quoted(&script, title);
		free(title);
		hu_str_addf(&script,
			" noenhanced\n"
			"set arrow 1 from %zu.5, graph 0 to %zu.5, graph 1 nohead dt 2 lc rgb '#D55E00'\n"
			"plot 'history.data' index %zu using 0:2:xtic(int($0) %% %zu ? '' : strcol(1)) "
			"with linespoints pt 7 lc rgb '#0072B2'\n",
			c->split - 1, c->split - 1, moved - 1, (c->n + SHOWN - 1) / SHOWN);
	}
	if (moved) {
		char *head =
			hu_xprintf("set terminal svg size 860,%zu background '#ffffff' font 'DejaVu Sans,10'\n"
				   "set output 'history.svg'\nset datafile separator '\\t'\nunset key\nset border 3\n"
				   "set tics nomirror\nset xtics rotate by -45 noenhanced\nset format y '%%g'\n"
				   "set rmargin 8\nset multiplot layout %zu,2\n",
				(moved + 1) / 2 * 240, (moved + 1) / 2);
		char *all = hu_xprintf("%s%sunset multiplot\n", head, script.s);
		char *path = hu_path(dir, "history.data");
		if (hu_file_write(path, data.s, data.len) == HU_OK)
			hu_gate_draw(dir, "history.gp", all);
		free(path);
		free(all);
		free(head);
	}
	hu_str_release(&data);
	hu_str_release(&script);
}

/* "FROM -> TO" with as many digits as tell the two apart, six or more. */
static void
add_change(hu_str *s, double from, double to)
{
	char a[40], b[40];
	int digits = 6;

	do {
		snprintf(a, sizeof a, "%.*g", digits, from);
		snprintf(b, sizeof b, "%.*g", digits, to);
	} while (!strcmp(a, b) && ++digits <= 17);
	hu_str_addf(s, "%s -> %s", a, b);
}

static void
say(hu_str *s, const hu_courses *h, const char *path)
{
	hu_str_addf(s, "%s has %zu commits\n", hu_shown(path), h->commits);
	for (size_t i = 0; i < h->n; i++) {
		const hu_course *c = &h->q[i];
		double left = commits_to_half(c);
		if (c->split) {
			hu_str_addf(s, "%s moved at commit %.12s: ", c->key, hu_shown(c->commit[c->split]));
			add_change(s, c->before, c->after);
			hu_str_addf(s, " (mean of %zu commits, and of %zu since)\n", c->split, c->n - c->split);
		}
		if (isfinite(left))
			hu_str_addf(s, "%s has only grown, to %.3g: at its pace it is one half in %.0f commits\n",
				c->key, c->value[c->n - 1], ceil(left));
	}
}

hu_status
hu_history_add(hu_str *s, const hu_baseline *b, const hu_baseline *want, const char *dir)
{
	char *path = hu_path(dir, HU_HISTORY_FILE), commit[96];
	hu_courses h;
	hu_table t;
	hu_status st = commit_name(commit, sizeof commit);

	if (st == HU_OK)
		st = hu_make_dirs(dir);
	if (st == HU_OK)
		st = hu_history_rows(b, want, dir, commit);
	if (st == HU_OK)
		st = hu_table_read(&t, path);
	if (st == HU_OK) {
		hu_courses_of(&h, &t, NULL);
		say(s, &h, path);
		draw(&h, dir);
		hu_courses_release(&h);
		hu_table_release(&t);
	}
	free(path);
	return st;
}
