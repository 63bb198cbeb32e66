/* SPDX-License-Identifier: Apache-2.0
   Draws what a command prints. Everything is made in a temporary folder, and only the files that were asked for leave
   it, whole. */
#include "reports/pictures/picture.h"

#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "reports/figure.h"
#include "reports/gallery/child.h"
#include "reports/gallery/gallery.h"
#include "reports/rows/rerun.h"
#include "reports/svg_title.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *command, *script;
} views[] = {
#define VIEW(command, script) { command, script },
#include "reports/pictures/pictures.def"
#undef VIEW
};
enum { VIEWS = sizeof views / sizeof *views };

typedef struct drawing {
	hu_canvas canvas;
	char formats[16];
	char *folder; /* the temporary folder */
	hu_rerun rows;
	hu_recipe recipe;
} drawing;

int
hu_picture_has(const hu_command *c)
{
	for (int i = 0; i < VIEWS; i++)
		if (!strcmp(views[i].command, c->name))
			return 1;
	return 0;
}

/* Reads "640", "640x360", "84mm" or "84x60mm". */
static hu_status
size_of(const char *text, int *width, int *height)
{
	double w, h = 0;
	int all = 0, n = 0;

	/* WIDTHxHEIGHT, or WIDTH alone, in pixels or in millimetres */
	if (sscanf(text, "%lfx%lf%n", &w, &h, &all) == 2)
		n = all;
	else if (sscanf(text, "%lf%n", &w, &all) == 1)
		n = all, h = 0;
	if (n && (!text[n] || !strcmp(text + n, "mm"))) {
		double scale = text[n] ? 96 / 25.4 : 1;
		if (w * scale >= 240 && w * scale <= 4000 && (!h || (h * scale >= 160 && h * scale <= 4000))) {
			*width = (int)(w * scale + 0.5);
			*height = (int)(h * scale + 0.5);
			return HU_OK;
		}
	}
	return hu_fail(HU_EINVAL,
		"--width %s: WIDTH or WIDTHxHEIGHT is needed, from 240x160 to 4000x4000 pixels, or in millimetres as "
		"84mm or 84x60mm",
		text);
}

/* Returns 1 where one of the files is of the kind. */
static int
wants(const hu_outputs *files, hu_output_kind kind)
{
	for (int i = 0; i < files->n; i++)
		if (files->of[i].kind == kind)
			return 1;
	return 0;
}

static hu_status
canvas_of(drawing *d, const hu_args *a, const hu_outputs *files)
{
	static const char *const styles[] = { "print", "dark", "talk" };
	const char *style = hu_args_text(a, "style");
	int i = 0;

	while (i < 3 && strcmp(styles[i], style))
		i++;
	if (i == 3)
		return hu_fail(HU_EINVAL, "--style %s is none of print, dark, talk", style);
	d->canvas.style = style;
	snprintf(d->formats, sizeof d->formats, "svg%s%s", wants(files, HU_OUTPUT_PNG) ? " png" : "",
		wants(files, HU_OUTPUT_PDF) ? " pdf" : "");
	d->canvas.formats = d->formats;
	/* where no size is given, the picture is as high as its rows need */
	return hu_args_given(a, "width") ? size_of(hu_args_text(a, "width"), &d->canvas.width, &d->canvas.height)
					 : HU_OK;
}

/* Returns the options that the command's first view asks for: its data line's words behind "halfulp COMMAND". */
static hu_status
options_of(const hu_command *c, char **more)
{
	hu_recipe r;
	int i = 0;

	while (strcmp(views[i].command, c->name))
		i++;
	hu_status st = hu_recipe_read(&r, "pictures", views[i].script);
	if (st == HU_OK && r.lines)
		*more = hu_xstrdup(r.line[0].text + strlen("halfulp ") + strlen(c->name));
	hu_recipe_release(&r);
	return st;
}

/* Takes the first view whose columns the rows have. */
static hu_status
gather(drawing *d, const hu_command *c)
{
	hu_status st = HU_EFILE;

	for (int i = 0; i < VIEWS && st == HU_EFILE; i++) {
		if (strcmp(views[i].command, c->name))
			continue;
		hu_recipe_release(&d->recipe);
		st = hu_recipe_read(&d->recipe, "pictures", views[i].script);
		if (st == HU_OK)
			st = hu_gather_given(&d->recipe, d->rows.json, d->rows.n, d->folder);
	}
	return st == HU_EFILE ? hu_fail(HU_EINVAL, "these rows have no picture: %s", hu_reason()) : st;
}

static hu_status
draw(drawing *d)
{
	hu_figure one = { .stem = (char *)(size_t)d->recipe.name };
	char *style, *path;
	size_t n;

	static const char *const loaded[] = { "gallery/gallery-style.gp", "pictures/picture-style.gp" };
	for (int i = 0; i < 2; i++) {
		HU_TRY(hu_report_source(loaded[i], &style, &n));
		path = hu_path(d->folder, "%s", strchr(loaded[i], '/') + 1);
		hu_status st = hu_file_write(path, style, n);
		free(path);
		free(style);
		HU_TRY(st);
	}
	d->canvas.command = d->rows.command;
	HU_TRY(hu_recipe_script(&d->recipe, d->folder, &d->canvas));
	return hu_figures_draw(&(hu_figures){ &one, 1 }, d->folder, d->formats, HU_FIGURE_PAGE);
}

static hu_status
copy_file(const char *from, const char *to)
{
	char *data;
	size_t n;

	HU_TRY(hu_file_read(from, &data, &n));
	hu_status st = hu_file_write(to, data, n);
	free(data);
	return st;
}

/* Writes FILE.tex, a figure around FILE.pdf. */
static hu_status
write_tex(const drawing *d, const char *file, char *title, char *caption)
{
	char *stem = hu_xprintf("%.*s", (int)(strlen(file) - 4), file), *tex;
	const char *slash = strrchr(stem, '/');
	hu_figure one = { .stem = (char *)(size_t)(slash ? slash + 1 : stem),
		.title = title,
		.caption = caption,
		.numbers = (char[]){ "" },
		.subject = d->rows.command };
	hu_status st = hu_figures_tex(&(hu_figures){ &one, 1 }, d->folder, HU_FIGURE_COLUMN);

	tex = hu_path(d->folder, "%s.tex", one.stem);
	if (st == HU_OK)
		st = copy_file(tex, file);
	free(stem);
	free(tex);
	return st;
}

/* Writes the files that were asked for, and says what they show. */
static hu_status
deliver(const drawing *d, const hu_args *a, const hu_outputs *files, int says)
{
	static const char *const ends[] = { "svg", "png", "pdf" };
	char *title, *caption;
	hu_status st = hu_recipe_words(&d->recipe, d->folder, &title, &caption);

	if (st != HU_OK)
		return st;
	char *svg = hu_path(d->folder, "%s.svg", d->recipe.name);
	st = hu_svg_title(svg, title);
	free(svg);
	for (int i = 0; i < files->n && st == HU_OK; i++) {
		const hu_output *o = &files->of[i];
		if (!hu_output_is_drawn(o))
			continue;
		char *drawn = o->kind == HU_OUTPUT_FIGURE
				      ? NULL
				      : hu_path(d->folder, "%s.%s", d->recipe.name, ends[o->kind - HU_OUTPUT_SVG]);
		st = drawn ? copy_file(drawn, o->file) : write_tex(d, o->file, title, caption);
		if (st == HU_OK && !hu_args_given(a, "json"))
			printf("%s\n", hu_shown(o->file));
		free(drawn);
	}
	if (st == HU_OK && says && hu_args_given(a, "json"))
		fwrite(d->rows.json, 1, d->rows.n, stdout);
	else if (st == HU_OK && !hu_args_given(a, "json"))
		printf("%s. %s\n", title, caption);
	free(title);
	return st;
}

hu_status
hu_picture_make(const hu_command *c, const hu_args *a, const hu_outputs *files, int says, int *code)
{
	const char *tmp = getenv("TMPDIR");
	drawing d = { .folder = NULL };
	char *more = NULL;
	hu_status st = canvas_of(&d, a, files);

	d.folder = hu_xprintf("%s/halfulp-picture-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (st == HU_OK)
		st = hu_gnuplot_check();
	if (st == HU_OK)
		st = options_of(c, &more);
	if (st == HU_OK && !mkdtemp(d.folder))
		st = hu_fail(HU_EIO, "%s: %s; TMPDIR names a folder for temporary files", d.folder, strerror(errno));
	int made = st == HU_OK && more;
	if (st == HU_OK)
		st = hu_rerun_run(&d.rows, c, a, more);
	if (st == HU_OK && d.rows.json) {
		st = gather(&d, c);
		if (st == HU_OK)
			st = draw(&d);
		if (st == HU_OK)
			st = deliver(&d, a, files, says);
	}
	if (made)
		hu_remove_all(d.folder);
	hu_recipe_release(&d.recipe);
	free(more);
	free(d.folder);
	*code = d.rows.code;
	hu_rerun_release(&d.rows);
	return st;
}
