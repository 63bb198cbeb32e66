/* SPDX-License-Identifier: Apache-2.0
   Writes the gnuplot script of a figure. Title and caption become functions of gnuplot, so that the script, which
   computes their numbers from the data, also says them. */
#include "reports/gallery/gallery.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

static void
quoted(hu_str *b, const char *s, size_t n)
{
	hu_str_add(b, "'");
	for (size_t i = 0; i < n; i++)
		hu_str_addf(b, s[i] == '\'' ? "''" : "%c", s[i]);
	hu_str_add(b, "'");
}

/* Appends `NAME(_) = …`, a string expression: 'text '.say(x).' text'. {x} is say(x), {x|%.2f} is sprintf('%.2f', x). */
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
			hu_str_add(b, ".sprintf(");
			quoted(b, text + n + bar + 1, m - bar - 1);
			hu_str_addf(b, ", %.*s).", (int)(bar - 1), text + n + 1);
		} else {
			hu_str_addf(b, ".say(%.*s).", (int)(m - 1), text + n + 1);
		}
		text += n + m + 1;
	}
	hu_str_add(b, "\n");
}

hu_status
hu_gallery_script(const hu_recipe *r, const char *dir, const char *formats, const char *style)
{
	char *path = hu_xprintf("%s/%s.gp", dir, r->name);
	hu_str b;

	hu_str_init(&b);
	hu_str_addf(&b,
		"# Drawn by `gnuplot %s.gp` in this folder, made by halfulp %s: halfulp figures %s\n"
		"stem = '%s'\nif (!exists('formats')) formats = '%s'\nif (!exists('style')) style = '%s'\n",
		r->name, HU_VERSION, r->name, r->name, formats, style);
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
