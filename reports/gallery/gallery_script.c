/* SPDX-License-Identifier: Apache-2.0
   Writes the gnuplot script of a figure. Title and caption become functions of gnuplot, so that the script, which
   computes their numbers from the data, also says them. */
#include "reports/gallery/gallery.h"

#include "lib/base/console/plot_text.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static void
quoted(hu_str *b, const char *s, size_t n)
{
	char *part = hu_xprintf("%.*s", (int)n, s);

	hu_plot_quoted(b, part);
	free(part);
}

/* Appends `NAME(_) = …`, a string expression: 'text '.say(x).' text'. {x} is say(x), {x|%.2f} is sprintf('%.2f', x)
   with a minus sign in place of a hyphen; {x|%s} is a text, as a name is, and stays as it is. */
static void
function(hu_str *b, const char *name, const char *text)
{
	hu_str_addf(b, "%s(_) = ", name);
	for (;;) {
		size_t n = strcspn(text, "{"), m = strcspn(text + n, "}"), bar = strcspn(text + n, "|");
		quoted(b, text, n);
		if (!text[n] || !text[n + m])
			break;
		if (bar < m) {
			int is_name = m - bar == 3 && !strncmp(text + n + bar + 1, "%s", 2);
			hu_str_addf(b, ".%s(sprintf(", is_name ? "" : "minus");
			quoted(b, text + n + bar + 1, m - bar - 1);
			hu_str_addf(b, ", %.*s)).", (int)(bar - 1), text + n + 1);
		} else {
			hu_str_addf(b, ".say(%.*s).", (int)(m - 1), text + n + 1);
		}
		text += n + m + 1;
	}
	hu_str_add(b, "\n");
}

hu_status
hu_recipe_script(const hu_recipe *r, const char *dir, const hu_canvas *canvas)
{
	char *path = hu_xprintf("%s/%s.gp", dir, r->name);
	hu_str b;

	hu_str_init(&b);
	if (canvas->command) {
		hu_str_add(&b, "command = ");
		hu_plot_quoted(&b, canvas->command);
		hu_str_add(&b, "\n");
	} else {
		hu_str_addf(&b, "# Drawn by `gnuplot %s.gp` in this folder, made by halfulp %s: halfulp figures %s\n",
			r->name, HU_VERSION, r->name);
	}
	if (canvas->width)
		hu_str_addf(&b, "width = %d\n", canvas->width);
	if (canvas->height)
		hu_str_addf(&b, "height = %d\n", canvas->height);
	hu_str_addf(&b, "stem = '%s'\nif (!exists('formats')) formats = '%s'\nif (!exists('style')) style = '%s'\n",
		r->name, canvas->formats, canvas->style);
	for (int k = 0; k < r->takes; k++) {
		const char *part = r->take[k].part, *under = *part ? "_" : "", *dot = *part ? "." : "";
		hu_str_addf(&b, "file%s%s = '%s%s%s.tsv'\n", under, part, r->name, dot, part);
	}
	function(&b, "title", r->title);
	function(&b, "caption", r->caption);
	hu_str_add(&b, "\n");
	hu_str_add(&b, r->script);
	hu_str_add(&b, "\n# What the page says\nset print stem.'.txt'\nprint title(0)\nprint caption(0)\nset print\n");
	hu_status st = hu_file_write(path, b.s, b.len);
	hu_str_release(&b);
	free(path);
	return st;
}

hu_status
hu_recipe_words(const hu_recipe *r, const char *dir, char **title, char **caption)
{
	char *path = hu_xprintf("%s/%s.txt", dir, r->name);
	size_t n;
	hu_status st = hu_file_read(path, title, &n);

	free(path);
	HU_TRY(st);
	char *end = strchr(*title, '\n');
	if (!end) {
		free(*title);
		return hu_fail(HU_EUNABLE, "gnuplot wrote no title and caption of figure %s", r->name);
	}
	*end = 0;
	*caption = end + 1;
	(*caption)[strcspn(*caption, "\n")] = 0;
	return HU_OK;
}
