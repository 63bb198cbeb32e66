/* SPDX-License-Identifier: Apache-2.0
   halfulp figures: draws the gallery, or the figures named, each from what commands of this program print. */
#include "lib/base/console/show_json.h"
#include "lib/base/console/opt.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/guard/temporary.h"
#include "lib/base/mem.h"
#include "reports/figure.h"
#include "reports/gallery/child.h"
#include "reports/gallery/gallery.h"
#include "reports/human.h"
#include "reports/svg_title.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_opt opts[] = { { "list", NULL, NULL, "print the names of the figures and write nothing" },
	{ "out", "DIR", NULL, "folder that the figures and index.html are written to" },
	{ "style", "STYLE", "print",
		"print: dark on no ground, for papers; dark: light on a dark ground; talk: twice as large, 16:9" },
	{ "format", "LIST", "svg,png",
		"file formats of each figure: svg (always made), png, pdf, tex (a figure environment around the pdf)" },
	{ "width", "WIDTH", "page",
		"width of PDF and LaTeX figures: page (169 mm) or column (84 mm, without titles, text of 7 pt)" },
	{ "lean", NULL, NULL, "write the page and the pictures alone, without data, scripts and texts" },
	{ "json", NULL, NULL, "print as JSON which figures there are, or which were made" },
	{ NULL, NULL, NULL, NULL } };

typedef struct job {
	int *figure, n;                 /* the figures, by row of gallery.def */
	char formats[32], pictures[16]; /* of all files, and of those that are no PDF */
	const char *style, *out;
	int lean, tex;
	hu_figure_width width; /* of PDF and LaTeX */
	hu_recipe *recipe;     /* of each figure */
	char *stage, *work;    /* folders: files before they are whole; what commands leave */
} job;

static hu_status
formats_of(job *j, const char *list)
{
	static const char *const known[] = { "svg", "png", "pdf", "tex" };
	enum { KNOWN = sizeof known / sizeof *known };
	int want[KNOWN] = { 1, 0, 0, 0 };
	char *all = hu_xstrdup(list), *save = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(all, ", ", &save); s && st == HU_OK; s = strtok_r(NULL, ", ", &save)) {
		int i = 0;
		while (i < KNOWN && strcmp(known[i], s))
			i++;
		if (i == KNOWN)
			st = hu_fail(HU_EINVAL, "--format %s: '%s' is none of svg, png, pdf, tex", list, s);
		else
			want[i] = 1;
	}
	free(all);
	j->tex = want[3];
	snprintf(j->pictures, sizeof j->pictures, "svg%s", want[1] ? " png" : "");
	snprintf(j->formats, sizeof j->formats, "%s%s", j->pictures, want[2] || want[3] ? " pdf" : "");
	return st;
}

static hu_status
width_of(job *j, const hu_args *a)
{
	const char *width = hu_args_text(a, "width");

	if (strcmp(width, "page") && strcmp(width, "column"))
		return hu_fail(HU_EINVAL, "--width %s: page (169 mm) or column (84 mm) is needed", width);
	if (hu_args_given(a, "width") && !strcmp(j->formats, j->pictures))
		return hu_refuse("width", "without pdf or tex among --format");
	j->width = strcmp(width, "column") ? HU_FIGURE_PAGE : HU_FIGURE_COLUMN;
	return HU_OK;
}

static hu_status
choose(job *j, const hu_args *a)
{
	int all = hu_gallery_size();
	const char **names = hu_xcalloc((size_t)all, sizeof *names);
	hu_status st = HU_OK;

	for (int i = 0; i < all; i++)
		names[i] = hu_gallery_name(i);
	j->figure = hu_xcalloc((size_t)(all + a->nrest), sizeof *j->figure);
	for (int i = 0; !a->nrest && i < all; i++)
		j->figure[j->n++] = i;
	for (int k = 0; k < a->nrest && st == HU_OK; k++) {
		int i = 0;
		while (i < all && strcmp(names[i], a->rest[k]))
			i++;
		const char *near = hu_nearest(a->rest[k], names, (size_t)all);
		if (i == all && near)
			st = hu_fail(HU_EINVAL, "there is no figure '%s'; did you mean %s?", a->rest[k], near);
		else if (i == all)
			st = hu_fail(
				HU_EINVAL, "there is no figure '%s'; halfulp figures --list names them", a->rest[k]);
		int seen = 0;
		for (int m = 0; m < j->n; m++)
			seen |= j->figure[m] == i;
		if (!seen)
			j->figure[j->n++] = i;
	}
	free(names);
	return st;
}

static hu_status
parse(job *j, const hu_args *a)
{
	static const char *const styles[] = { "print", "dark", "talk" };
	int i = 0;

	memset(j, 0, sizeof *j);
	HU_TRY(formats_of(j, hu_args_text(a, "format")));
	j->style = hu_args_text(a, "style");
	while (i < 3 && strcmp(styles[i], j->style))
		i++;
	if (i == 3)
		return hu_fail(HU_EINVAL, "--style %s is none of print, dark, talk", j->style);
	HU_TRY(width_of(j, a));
	HU_TRY(choose(j, a));
	j->lean = hu_args_given(a, "lean");
	j->out = hu_args_text(a, "out");
	if (!j->out && !hu_args_given(a, "list"))
		return hu_fail(
			HU_EINVAL, "where to? halfulp figures --out DIR draws them, halfulp figures --list names them");
	return HU_OK;
}

static void
list(const job *j, int json)
{
	json_t *all = json_array();

	for (int k = 0; k < j->n; k++) {
		const char *name = hu_gallery_name(j->figure[k]), *summary = hu_gallery_summary(j->figure[k]);
		if (json)
			json_array_append_new(all, json_pack("{s:s, s:s}", "figure", name, "summary", summary));
		else
			printf("%-20s %s\n", name, summary);
	}
	if (json) {
		hu_json_write(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	json_decref(all);
}

/* Gathers the data and writes data and scripts into the stage. */
static hu_status
prepare(job *j)
{
	hu_gathered done = { NULL, 0, 0 };
	hu_progress bar;
	char *style, *path = hu_path(j->stage, "gallery-style.gp");
	size_t n;
	hu_status st = hu_report_source("gallery/gallery-style.gp", &style, &n);

	if (st == HU_OK) {
		st = hu_file_write(path, style, n);
		free(style);
	}
	free(path);
	hu_progress_start(&bar, "data", (size_t)j->n);
	for (int k = 0; k < j->n && st == HU_OK; k++) {
		hu_progress_note(&bar, "%s", hu_gallery_name(j->figure[k]));
		st = hu_recipe_read(&j->recipe[k], "gallery", hu_gallery_name(j->figure[k]));
		if (st == HU_OK)
			st = hu_gather(&done, &j->recipe[k], j->work, j->stage);
		if (st == HU_OK)
			st = hu_recipe_script(
				&j->recipe[k], j->stage, &(hu_canvas){ j->formats, j->style, NULL, 0, 0 });
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	hu_gathered_release(&done);
	return st;
}

static hu_status
draw(job *j)
{
	hu_figures f = { hu_xcalloc((size_t)j->n, sizeof(hu_figure)), j->n };

	for (int k = 0; k < j->n; k++)
		f.at[k].stem = hu_xstrdup(j->recipe[k].name);
	int column = j->width == HU_FIGURE_COLUMN;
	hu_status st = hu_figures_draw(&f, j->stage, column ? j->pictures : j->formats, HU_FIGURE_PAGE);
	if (st == HU_OK && column)
		st = hu_figures_draw(&f, j->stage, "pdf", HU_FIGURE_COLUMN);
	for (int k = 0; k < j->n && st == HU_OK; k++) {
		char *title, *caption, *path = hu_path(j->stage, "%s.svg", j->recipe[k].name);
		st = hu_recipe_words(&j->recipe[k], j->stage, &title, &caption);
		if (st == HU_OK) {
			st = hu_svg_title(path, title);
			free(title);
		}
		free(path);
	}
	for (int k = 0; k < j->n; k++)
		free(f.at[k].stem);
	free(f.at);
	return st;
}

/* Writes NAME.tex of every figure into the stage: an environment around NAME.pdf, with caption, label and commands. */
static hu_status
write_tex(const job *j)
{
	hu_status st = HU_OK;

	for (int k = 0; k < j->n && st == HU_OK && j->tex; k++) {
		const hu_recipe *r = &j->recipe[k];
		char *title, *caption, *commands = hu_recipe_commands(r);
		st = hu_recipe_words(r, j->stage, &title, &caption);
		if (st == HU_OK) {
			hu_figure one = { .stem = (char *)(size_t)r->name,
				.title = title,
				.caption = caption,
				.numbers = (char[]){ "" },
				.subject = commands };
			st = hu_figures_tex(&(hu_figures){ &one, 1 }, j->stage, j->width);
			free(title);
		}
		free(commands);
	}
	return st;
}

/* Moves one figure's file out of the stage. */
static hu_status
move(const job *j, const char *name)
{
	char *from = hu_path(j->stage, "%s", name), *to = hu_path(j->out, "%s", name);
	hu_status st = rename(from, to) ? hu_fail(HU_EIO, "%s: cannot be written: %s", to, strerror(errno)) : HU_OK;

	free(from);
	free(to);
	return st;
}

static hu_status
move_all(const job *j)
{
	hu_status st = j->lean ? HU_OK : move(j, "gallery-style.gp");

	for (int k = 0; k < j->n && st == HU_OK; k++) {
		const hu_recipe *r = &j->recipe[k];
		char *all = hu_xprintf("%s%s%s", j->formats, j->tex ? " tex" : "", j->lean ? "" : " txt gp"),
		     *save = NULL;
		for (char *s = strtok_r(all, " ", &save); s && st == HU_OK; s = strtok_r(NULL, " ", &save)) {
			char *name = hu_xprintf("%s.%s", r->name, s);
			st = move(j, name);
			free(name);
		}
		for (int i = 0; i < r->takes && !j->lean && st == HU_OK; i++) {
			char *name = hu_xprintf("%s%s%s.tsv", r->name, *r->take[i].part ? "." : "", r->take[i].part);
			st = move(j, name);
			free(name);
		}
		free(all);
	}
	return st;
}

/* Returns the line that makes the page again. */
static char *
command_line(const hu_args *a)
{
	hu_str b;

	hu_str_init(&b);
	hu_str_add(&b, "halfulp figures");
	for (int i = 0; i < a->nrest; i++)
		hu_str_addf(&b, " %s", a->rest[i]);
	if (hu_args_given(a, "style"))
		hu_str_addf(&b, " --style %s", hu_args_text(a, "style"));
	if (hu_args_given(a, "format"))
		hu_str_addf(&b, " --format %s", hu_args_text(a, "format"));
	if (hu_args_given(a, "width"))
		hu_str_addf(&b, " --width %s", hu_args_text(a, "width"));
	hu_str_add(&b, hu_args_given(a, "lean") ? " --lean --out DIR" : " --out DIR");
	return b.s;
}

/* Makes everything in folders of its own, so that a failure leaves an older gallery as it was; the page comes last. */
static hu_status
make(job *j, const hu_args *a)
{
	char *index = hu_path(j->out, "index.html"), *command = command_line(a);
	hu_str page = { NULL, 0, 0 };
	hu_status st = hu_gnuplot_check();

	j->recipe = hu_xcalloc((size_t)j->n, sizeof *j->recipe);
	j->stage = j->work = NULL;
	if (st == HU_OK)
		st = hu_make_dirs(j->out);
	if (st == HU_OK)
		st = hu_temporary_folder(&j->stage, j->out);
	if (st == HU_OK) {
		j->work = hu_path(j->stage, "work");
		st = hu_make_dirs(j->work);
	}
	if (st == HU_OK)
		st = prepare(j);
	if (st == HU_OK)
		st = draw(j);
	if (st == HU_OK)
		st = write_tex(j);
	if (st == HU_OK)
		st = hu_gallery_page(
			&page, &(hu_gallery){ j->recipe, j->n, j->stage, j->formats, j->style, command, j->lean });
	if (st == HU_OK)
		st = move_all(j);
	if (st == HU_OK)
		st = hu_file_write(index, page.s, page.len);
	if (page.s)
		hu_str_release(&page);
	if (j->stage) {
		hu_remove_all(j->stage);
		hu_temporary_folder_done(j->stage);
	}
	for (int k = 0; k < j->n; k++)
		hu_recipe_release(&j->recipe[k]);
	free(j->recipe);
	free(j->stage);
	free(j->work);
	free(index);
	free(command);
	return st;
}

static int
run(const hu_args *a)
{
	job j;
	hu_status st = parse(&j, a);
	int json = hu_args_given(a, "json");

	if (json)
		hu_progress_disable();
	if (st == HU_OK && hu_args_given(a, "list")) {
		list(&j, json);
	} else if (st == HU_OK) {
		st = make(&j, a);
		if (st == HU_OK && json)
			list(&j, json);
		else if (st == HU_OK)
			printf("%s/index.html: %d figure%s\n", hu_shown(j.out), j.n, j.n == 1 ? "" : "s");
	}
	free(j.figure);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
draws(const void *of)
{
	return !hu_args_given(of, "list");
}

static const hu_opt_need needs[] = { { "out style format width lean", draws, "beside --list, which writes nothing" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_figures = { "figures", "[NAME...] --out DIR | --list",
	"draw figures for lectures and papers, each from commands of this program",
	"Writes index.html, and for each figure NAME.svg, NAME.png, its data NAME.tsv and the gnuplot script\n"
	"NAME.gp that draws it again. NAME.txt has title and caption, whose numbers are those of the data. Without\n"
	"NAME all figures are drawn, which takes about a minute. The page says under each figure which commands\n"
	"made its data; made again, data and SVG are the same. The environment variable GNUPLOT names the\n"
	"gnuplot to use.",
	opts, run, needs, NULL };
