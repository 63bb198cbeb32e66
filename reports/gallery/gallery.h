/* SPDX-License-Identifier: Apache-2.0
   The gallery: figures for lectures and papers, each drawn from what commands of this program print. A figure is a row
   of gallery.def and a gnuplot script NAME.gp, whose head (recipe.c) says its title, caption, source and commands. */
#ifndef HU_REPORTS_GALLERY_H
#define HU_REPORTS_GALLERY_H

#include "lib/base/status.h"
#include "lib/base/str.h"

#include <stddef.h>

typedef enum hu_recipe_kind {
	HU_RECIPE_RUN,  /* a command that leaves files in the working folder */
	HU_RECIPE_DATA, /* a command that prints a table, or JSON */
	HU_RECIPE_TABLE /* a table among these files */
} hu_recipe_kind;

/* One line of a head. part names the table that it fills, "" for the main one. at is the key of JSON whose rows are
   meant, NULL for all. Where tag is not NULL, the line is done for each of tag_values in turn, which stands in place of
   {tag} and fills a column of that name. */
typedef struct hu_recipe_line {
	hu_recipe_kind kind;
	char *part, *at, *tag, *tag_values, *text;
} hu_recipe_line;

/* The columns of a table, separated by blanks, and which rows are left out (gather.c). */
typedef struct hu_recipe_take {
	char *part, *columns;
} hu_recipe_take;

typedef struct hu_recipe {
	const char *folder, *name;      /* its script is reports/FOLDER/NAME.gp */
	char *title, *caption, *source; /* source: the paper, NULL where there is none */
	hu_recipe_line *line;
	int lines, lines_cap;
	hu_recipe_take *take;
	int takes, takes_cap;
	char *script; /* the whole file */
} hu_recipe;

int hu_gallery_size(void);
const char *hu_gallery_name(int i);
const char *hu_gallery_summary(int i);

/* Reads reports/FOLDER/NAME.gp; the strings must outlive r. HU_EFILE names the line that is wrong; r is to be released
   in any case. */
hu_status hu_recipe_read(hu_recipe *r, const char *folder, const char *name);
void hu_recipe_release(hu_recipe *r);
/* Returns the commands of a figure's data, one behind the other, which stand behind its caption in a paper. The caller
   frees it. */
char *hu_recipe_commands(const hu_recipe *r);

/* Commands that were done already: figures share them. */
typedef struct hu_gathered {
	char **done;
	int n, cap;
} hu_gathered;

/* Runs the figure's commands in the folder `work` and writes NAME.tsv and NAME.PART.tsv into dir. HU_EUNABLE where a
   command fails, with what it said; HU_EFILE where a table lacks a column. */
hu_status hu_gather(hu_gathered *g, const hu_recipe *r, const char *work, const char *dir);
void hu_gathered_release(hu_gathered *g);

/* The same of one text: data, n bytes of JSON that a command printed, stands for the output of every data line of the
   head. HU_EFILE where it lacks a column of the figure's. */
hu_status hu_gather_given(const hu_recipe *r, const char *data, size_t n, const char *dir);

/* What a figure is drawn on: file formats ("svg png"), the style, the command line that made the data (NULL: those of
   the figure's head), and the size in pixels of a page, 96 to the inch (0: the figure's own). */
typedef struct hu_canvas {
	const char *formats, *style, *command;
	int width, height;
} hu_canvas;

/* Writes NAME.gp into dir: variables, the figure's script, and what makes gnuplot write NAME.txt, which has the title
   in its first line and the caption in its second. */
hu_status hu_recipe_script(const hu_recipe *r, const char *dir, const hu_canvas *canvas);
/* Reads NAME.txt: *title is to be freed, and *caption points into it. */
hu_status hu_recipe_words(const hu_recipe *r, const char *dir, char **title, char **caption);

/* Figures that were drawn: their files are in dir, command is the line that made them. Where lean is 1, the page is to
   name pictures alone. */
typedef struct hu_gallery {
	const hu_recipe *recipe;
	int n;
	const char *dir, *formats, *style, *command;
	int lean;
} hu_gallery;

/* Makes the page of the figures. */
hu_status hu_gallery_page(hu_str *page, const hu_gallery *g);
#endif
