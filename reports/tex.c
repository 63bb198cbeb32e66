/* SPDX-License-Identifier: Apache-2.0
   The part of figure.h for papers: makes files for \input{loss} in a document that uses graphicx. */
#include "reports/figure.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Writes text with TeX's special characters escaped. */
static void
tex_text(hu_str *b, const char *s)
{
	for (; *s; s++) {
		if (strchr("&%$#_{}", *s))
			hu_str_add(b, "\\");
		if (*s == '^' || *s == '~' || *s == '\\' || *s == '|' || *s == '<' || *s == '>')
			hu_str_addf(b, "%s",
				*s == '^'    ? "\\^{}"
				: *s == '~'  ? "\\~{}"
				: *s == '\\' ? "\\textbackslash{}"
				: *s == '|'  ? "$|$"
				: *s == '<'  ? "$<$"
					     : "$>$");
		else
			hu_str_addn(b, s, 1);
	}
}

hu_status
hu_figures_tex(const hu_figures *f, const char *dir)
{
	hu_status st = HU_OK;

	for (int i = 0; i < f->n && st == HU_OK; i++) {
		const hu_figure *g = &f->at[i];
		hu_str b;
		if (g->why)
			continue;
		hu_str_init(&b);
		hu_str_addf(&b,
			"%% needs \\usepackage{graphicx}; %s.pdf is drawn by gnuplot "
			"%s.gp\n\\begin{figure}\n\\centering\n\\includegraphics[width=\\linewidth]{%s.pdf}\n\\caption{",
			g->stem, g->stem, g->stem);
		tex_text(&b, g->title);
		hu_str_add(&b, ". ");
		tex_text(&b, g->caption);
		hu_str_addf(&b, "}\n\\label{fig:%s}\n\\end{figure}\n", g->stem);
		char *path = hu_path(dir, "%s.tex", g->stem);
		st = hu_file_write(path, b.s, b.len);
		free(path);
		hu_str_release(&b);
	}
	return st;
}
