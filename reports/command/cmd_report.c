/* SPDX-License-Identifier: Apache-2.0
   halfulp report: writes the page and the figures of one or several runs. */
#include "lib/base/console/show_json.h"
#include "lib/base/guard/guard.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"

#include "lib/base/file.h"
#include "lib/base/guard/input.h"
#include "lib/base/guard/temporary.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "reports/figure.h"
#include "reports/command/page_file.h"
#include "reports/history/history_page.h"
#include "reports/human.h"
#include "reports/model/model_page.h"
#include "reports/page/page.h"
#include "reports/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_opt opts[] = { { "out", "DIR|FILE.md", NULL,
				       "folder that the report is written to; the page of a model or history may be a "
				       "file, X.html, and a block for a model card X.md; -: verdict, numbers and "
				       "key figures are printed as text [report/ in the first RUN]" },
	{ "format", "LIST", "svg,png",
		"file formats of each figure: svg (always made), png, pdf, tex (a figure environment around the pdf)" },
	{ "width", "WIDTH", "page",
		"width of PDF and LaTeX figures: page (174 mm) or column (84 mm), both with text of 8 pt" },
	{ "history", "DIR", NULL,
		"make the page of what check --history DIR kept, in place of a run's: each quantity over the commits" },
	{ "json", NULL, NULL, "print as JSON which files were made" }, { NULL, NULL, NULL, NULL } };

/* What is made of each figure: for gnuplot the formats of the page's pictures ("svg png") and whether a PDF, which may
   be narrower; and whether a LaTeX file beside it. */
typedef struct wanted {
	char pictures[16];
	int pdf, tex;
	hu_figure_width width;
} wanted;

static hu_status
wanted_of(const hu_args *a, wanted *out)
{
	const char *list = hu_args_text(a, "format"), *width = hu_args_text(a, "width");
	const char *known[] = { "svg", "png", "pdf", "tex" };
	int want[4] = { 1, 0, 0, 0 };
	char *all = hu_xstrdup(list), *save = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(all, ", ", &save); s && st == HU_OK; s = strtok_r(NULL, ", ", &save)) {
		size_t i = 0;
		while (i < 4 && strcmp(known[i], s))
			i++;
		if (i == 4)
			st = hu_fail(HU_EINVAL, "--format %s: '%s' is none of svg, png, pdf, tex", list, s);
		else
			want[i] = 1;
	}
	free(all);
	if (st == HU_OK && strcmp(width, "page") && strcmp(width, "column"))
		st = hu_fail(HU_EINVAL, "--width %s: page (174 mm) or column (84 mm) is needed", width);
	*out = (wanted){ .pdf = want[2] || want[3],
		.tex = want[3],
		.width = strcmp(width, "column") ? HU_FIGURE_PAGE : HU_FIGURE_COLUMN };
	snprintf(out->pictures, sizeof out->pictures, "svg%s", want[1] ? " png" : "");
	if (st == HU_OK && hu_args_given(a, "width") && !out->pdf)
		st = hu_refuse("width", "without pdf or tex among --format");
	return st;
}

/* Returns the endings of the files that a figure is written to, apart by spaces; the caller frees it. */
static char *
names_of(const wanted *w)
{
	return hu_xprintf("%s%s%s", w->pictures, w->pdf ? " pdf" : "", w->tex ? " tex" : "");
}

/* Returns the line that made the report, for its provenance. */
static char *
command_line(const hu_args *a, const hu_report_runs *runs)
{
	hu_str b;

	hu_str_init(&b);
	hu_str_add(&b, "halfulp report");
	if (hu_args_given(a, "format"))
		hu_str_addf(&b, " --format %s", hu_args_text(a, "format"));
	if (hu_args_given(a, "width"))
		hu_str_addf(&b, " --width %s", hu_args_text(a, "width"));
	if (hu_args_given(a, "out")) {
		hu_str_add(&b, " --out ");
		hu_show_word(&b, hu_args_text(a, "out"));
	}
	for (int i = 0; i < runs->n; i++) {
		hu_str_add(&b, " ");
		hu_show_word(&b, runs->dir[i]);
	}
	for (size_t i = 0; i < b.len; i++)
		if (b.s[i] == '\n' || b.s[i] == '\r')
			b.s[i] = ' ';
	return b.s;
}

/* Moves every file of `from` into `to` where `move` is set, otherwise removes them; then removes `from`. */
static hu_status
empty_into(const char *from, const char *to)
{
	hu_status st = HU_OK;
	DIR *d;

	HU_TRY(hu_input_folder(from, &d));
	if (!d)
		return hu_fail(HU_EIO, "%s: somebody has removed this folder", from);
	for (struct dirent *e; (e = hu_input_entry(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		char *source = hu_path(from, "%s", e->d_name), *target = to ? hu_path(to, "%s", e->d_name) : NULL;
		if (target && st == HU_OK && rename(source, target))
			st = hu_fail(HU_EIO, "%s: cannot be written: %s", target, strerror(errno));
		unlink(source);
		free(source);
		free(target);
	}
	closedir(d);
	rmdir(from);
	return st;
}

static void
print_json(const hu_report_runs *runs, const hu_figures *f, const char *out, const wanted *made)
{
	json_t *figures = json_array(), *labels = json_array();
	char *page = hu_path(out, "index.html");

	for (int i = 0; i < runs->n; i++)
		json_array_append_new(
			labels, json_pack("{s:s, s:s}", "run", hu_shown(runs->at[i].dir), "label", runs->at[i].label));
	for (int i = 0; i < f->n; i++) {
		const hu_figure *g = &f->at[i];
		json_t *j = json_pack("{s:s, s:s, s:b, s:o?}", "figure", g->name, "title", g->title, "drawn", !g->why,
			"run", g->run < 0 ? NULL : json_string(hu_shown(runs->at[g->run].dir)));
		json_t *files = json_array();
		char *names = names_of(made), *each = hu_xprintf("%s tsv gp", names), *save = NULL;
		for (char *w = strtok_r(each, " ", &save); w && !g->why; w = strtok_r(NULL, " ", &save))
			json_array_append_new(files, json_sprintf("%s.%s", g->stem, w));
		free(each);
		free(names);
		json_object_set_new(j, "why", g->why ? json_string(g->why) : json_null());
		json_object_set_new(j, "files", files);
		json_array_append_new(figures, j);
	}
	json_t *all = json_pack("{s:s, s:o, s:o}", "page", hu_shown(page), "runs", labels, "figures", figures);
	hu_json_write(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(all);
	free(page);
}

static void
print_made(const hu_figures *f, const char *out)
{
	int drawn = 0;

	for (int i = 0; i < f->n; i++)
		drawn += !f->at[i].why;
	printf("%s/index.html: %d figure%s", hu_shown(out), drawn, drawn == 1 ? "" : "s");
	if (drawn < f->n)
		printf(", %d not drawn for want of data (the page says why)", f->n - drawn);
	putchar('\n');
}

/* Writes everything into a folder of its own first, so that a failure leaves an older report complete; index.html is
   moved last. */
static hu_status
write_report(const hu_report_runs *runs, const hu_figures *f, const char *out, const wanted *files, const char *command)
{
	hu_status st = hu_make_dirs(out);
	char *stage;

	if (st == HU_OK)
		st = hu_temporary_folder(&stage, out);
	HU_TRY(st);
	char *index = hu_path(out, "index.html"),
	     *formats = hu_xprintf("%s%s", files->pictures, files->pdf ? " pdf" : ""), *links = names_of(files);
	hu_str page = { 0 };

	st = hu_figures_write(f, runs, stage, formats, command);
	if (st == HU_OK && files->tex)
		st = hu_figures_tex(f, stage, files->width);
	if (st == HU_OK)
		st = hu_figures_draw(
			f, stage, files->width == HU_FIGURE_PAGE ? formats : files->pictures, HU_FIGURE_PAGE);
	if (st == HU_OK && files->width == HU_FIGURE_COLUMN)
		st = hu_figures_draw(f, stage, "pdf", HU_FIGURE_COLUMN);
	if (st == HU_OK)
		st = hu_page(&page, runs, f, links, command, stage);
	hu_status moved = empty_into(stage, st == HU_OK ? out : NULL);
	hu_remove_all(stage); /* where not all of it was moved */
	hu_temporary_folder_done(stage);
	st = st == HU_OK ? moved : st;
	if (st == HU_OK)
		st = hu_file_write(index, page.s, page.len);
	if (page.s)
		hu_str_release(&page);
	free(links);
	free(formats);
	free(stage);
	free(index);
	return st;
}

static hu_status
report(const hu_args *a, const hu_report_runs *runs, const hu_figures *f, const wanted *files)
{
	char *out = hu_args_text(a, "out") ? hu_xstrdup(hu_args_text(a, "out")) : hu_path(runs->dir[0], "report");
	char *command = command_line(a, runs);
	hu_status st = HU_OK;

	for (int i = 0; i < 2 && st == HU_OK; i++)
		st = hu_page_file_refuse(out, i ? ".md" : ".html", "figures stand beside the page of a run");
	if (st == HU_OK)
		st = hu_gnuplot_check();
	if (st == HU_OK)
		st = write_report(runs, f, out, files, command);
	if (st == HU_OK && hu_args_given(a, "json"))
		print_json(runs, f, out, files);
	else if (st == HU_OK)
		print_made(f, out);
	free(command);
	free(out);
	return st;
}

/* Returns 1 where the report is printed as text. */
static int
is_printed(const hu_args *a)
{
	const char *out = hu_args_text(a, "out");

	return out && !strcmp(out, "-");
}

/* The page of a history, beside its table where no folder is named. */
static hu_status
report_history(const hu_args *a)
{
	const char *dir = hu_args_text(a, "history"), *out = hu_args_text(a, "out");
	char *command = hu_args_line(a, "report");
	hu_str page = { 0 };
	hu_status st = hu_page_file_refuse(out, ".md", "the page of a history is no Markdown");

	if (st == HU_OK && is_printed(a))
		st = hu_fail(HU_EINVAL, "-o -: the page of a history is a file or a folder; name one");
	if (st == HU_OK)
		st = hu_history_page(&page, dir, command);
	if (st == HU_OK)
		st = hu_page_file_write(&page, out ? out : dir, "a history", hu_args_given(a, "json"));
	hu_str_release(&page);
	free(command);
	return st;
}

/* The block for the card of the model. */
static hu_status
report_card(const hu_args *a, const char *command)
{
	const char *out = hu_args_text(a, "out");
	hu_str card = { 0 };
	hu_status st = hu_model_markdown(&card, a->rest[0], command);

	if (st == HU_OK)
		st = hu_file_write(out, card.s, card.len);
	if (st == HU_OK && hu_args_given(a, "json"))
		printf("{\n \"page\": \"%s\"\n}\n", hu_shown(out));
	else if (st == HU_OK)
		printf("%s: a block for a model card\n", hu_shown(out));
	hu_str_release(&card);
	return st;
}

/* The page of a model, which validate or advise wrote about. Its pictures are in the page. */
static hu_status
report_model(const hu_args *a)
{
	char *out = hu_args_text(a, "out") ? hu_xstrdup(hu_args_text(a, "out")) : hu_path(a->rest[0], "report"),
	     *command;
	hu_report_runs one = { .n = 1, .dir = a->rest };
	hu_str page = { 0 };
	hu_status st =
		a->nrest > 1 ? hu_fail(HU_EINVAL, "%s: the page of a model is of one folder", a->rest[0]) : HU_OK;

	for (const char *const *o = (const char *const[]){ "format", "width", NULL }; st == HU_OK && *o; o++)
		if (hu_args_given(a, *o))
			st = hu_refuse(*o, "on a model's folder, whose page has its pictures in it");
	if (st == HU_OK && is_printed(a))
		st = hu_fail(HU_EINVAL, "-o -: the page of a model is a file or a folder; name one");
	command = command_line(a, &one);
	if (st == HU_OK && hu_page_file_ends(out, ".md")) {
		st = report_card(a, command);
	} else if (st == HU_OK) {
		st = hu_model_page(&page, a->rest[0], command);
		if (st == HU_OK)
			st = hu_page_file_write(&page, out, "a model", hu_args_given(a, "json"));
	}
	hu_str_release(&page);
	free(command);
	free(out);
	return st;
}

static int
run(const hu_args *a)
{
	hu_report_runs runs;
	hu_figures figures = { 0 };
	wanted files;
	hu_status st = wanted_of(a, &files);

	if (st == HU_OK && hu_args_given(a, "history")) {
		st = a->nrest ? hu_fail(HU_EINVAL,
					"--history %s: a history is of many runs, and no RUN is named beside it",
					hu_shown(hu_args_text(a, "history")))
			      : report_history(a);
		return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
	}
	if (st == HU_OK && !a->nrest)
		st = hu_fail(HU_EINVAL, "which run? halfulp report RUN [RUN...]");
	for (int i = 0; i < a->nrest; i++)
		hu_guard(a->rest[i]);
	if (st == HU_OK && hu_model_page_is(a->rest[0])) {
		st = report_model(a);
		return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
	}
	if (st != HU_OK)
		return hu_complain(st);
	if (hu_args_given(a, "json"))
		hu_progress_disable();
	st = hu_report_runs_open(&runs, a->rest, a->nrest);
	if (st != HU_OK)
		return hu_complain(st);
	st = hu_figures_select(&figures, &runs);
	if (st == HU_OK && is_printed(a))
		st = hu_terminal(&runs, &figures);
	else if (st == HU_OK)
		st = report(a, &runs, &figures, &files);
	hu_figures_release(&figures);
	hu_report_runs_release(&runs);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
writes_files(const void *of)
{
	return !is_printed(of);
}

static int
of_runs(const void *of)
{
	return !hu_args_given(of, "history");
}

static const hu_opt_need needs[] = { { "format width", of_runs, "with --history, whose page has its pictures in it" },
	{ "format width json", writes_files, "beside -o -, which prints text and writes no files" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_report = { "report", "RUN [RUN...]",
	"write the page and the figures of one or several runs, or the page of a model",
	"Writes index.html with the verdict, numbers, and figures as SVG and PNG, each beside the .gp and .tsv\n"
	"that made it. The page opens from disk, without a network. Figures of training compare all runs;\n"
	"differences are to the first. Where analysis tables are missing (halfulp analyze RUN makes them), the\n"
	"page leaves out what needs them and says so. The environment variable GNUPLOT names the gnuplot to use.\n"
	"Of a folder that validate --report or advise --out wrote it makes the page of a model: the decision table\n"
	"first, then the plan and its proof, the graph with the damage painted on it, the nodes by their damage,\n"
	"errors along the depth, and outlier channels. Graphviz' dot lays the graph out where it is installed; the\n"
	"environment variable DOT names the dot to use.\n"
	"With --history it draws each quantity that check kept over the commits, with the limits of its baseline, and\n"
	"names the commit where it moved.",
	opts, run, needs, NULL };
