/* SPDX-License-Identifier: Apache-2.0
   The part of figure.h for papers: makes files for \input{loss} in a document that uses graphicx. */
#include "reports/figure.h"

#include "lib/base/mem.h"
#include "reports/tex.h"

#include <stdlib.h>
#include <string.h>

void
hu_tex_text(hu_str *b, const char *text)
{
	static const struct { const char *utf8, *tex; } letter[] = {
		{ "\u202f", "\\," }, { "\u2212", "$-$" }, { "×", "$\\times$" }, { "·", "$\\cdot$" }, { "–", "--" },
		{ "∞", "$\\infty$" }, { "⁻", "$^{-}$" }, { "⁰", "$^{0}$" }, { "¹", "$^{1}$" }, { "²", "$^{2}$" },
		{ "³", "$^{3}$" }, { "⁴", "$^{4}$" }, { "⁵", "$^{5}$" }, { "⁶", "$^{6}$" },
		{ "⁷", "$^{7}$" }, { "⁸", "$^{8}$" }, { "⁹", "$^{9}$" }, { "Σ", "$\\Sigma$" }, { "√", "$\\surd$" },
		{ "≤", "$\\leq$" }, { "≥", "$\\geq$" }, { "±", "$\\pm$" }, { "‖", "$\\|$" }, { "≈", "$\\approx$" },
		{ "→", "$\\to$" }, { "ε", "$\\varepsilon$" }, { "\u2009", "\\," },
		{ "π", "$\\pi$" }, { "≠", "$\\neq$" }, { "₀", "$_{0}$" }, { "₁", "$_{1}$" },
		{ "₂", "$_{2}$" }, { "₃", "$_{3}$" }, { "₄", "$_{4}$" }, { "₅", "$_{5}$" }, { "₆", "$_{6}$" },
		{ "₇", "$_{7}$" }, { "₈", "$_{8}$" }, { "₉", "$_{9}$" }
	};

	for (const char *s = text; *s; s++) {
		size_t k = 0;
		while (k < sizeof letter / sizeof *letter && strncmp(s, letter[k].utf8, strlen(letter[k].utf8)))
			k++;
		if (k < sizeof letter / sizeof *letter) {
			hu_str_add(b, letter[k].tex);
			s += strlen(letter[k].utf8) - 1;
			continue;
		}
		if (s[0] == '-' && s[1] == '-') { /* two hyphens of an option, which TeX would make a dash */
			hu_str_add(b, "-{}");
			continue;
		}
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

/* A picture lies beside its LaTeX file, wherever \input finds that: LaTeX says the file's folder since October 2020.
   An older one looks for pictures in the folder where it runs, and in those of \graphicspath. */
static const char folder[] = "\\def\\halfulpfolder{}\n"
			     "\\ifx\\CurrentFilePath\\undefined\\else\\ifx\\CurrentFilePath\\empty\\else"
			     "\\edef\\halfulpfolder{\\CurrentFilePath/}\\fi\\fi\n";

hu_status
hu_figures_tex(const hu_figures *f, const char *dir, hu_figure_width width)
{
	int page = width == HU_FIGURE_PAGE;
	hu_status st = HU_OK;

	for (int i = 0; i < f->n && st == HU_OK; i++) {
		const hu_figure *g = &f->at[i];
		hu_str b;
		if (g->why)
			continue;
		hu_str_init(&b);
		hu_str_addf(&b, "%% needs \\usepackage{graphicx}");
		if (g->name) /* a report's figure, whose script lies beside it */
			hu_str_addf(&b, "; %s.pdf is drawn by gnuplot %s%s.gp", g->stem,
				page ? "" : "-e 'narrow = 1; formats = \"pdf\"' ", g->stem);
		hu_str_addf(&b,
			"\n\\begin{figure%s}\n\\centering\n%s"
			"\\includegraphics[width=\\%s,height=0.7\\textheight,keepaspectratio]{\\halfulpfolder %s.pdf}\n"
			"\\caption{",
			page ? "*" : "", folder, page ? "textwidth" : "linewidth", g->stem);
		hu_tex_text(&b, g->title);
		hu_str_add(&b, ". ");
		hu_tex_text(&b, g->caption);
		if (*g->numbers) {
			hu_str_add(&b, " Here: ");
			hu_tex_text(&b, g->numbers);
			hu_str_add(&b, ".");
		}
		hu_str_add(&b, " (");
		hu_tex_text(&b, g->subject);
		hu_str_add(&b, ".)");
		hu_str_addf(&b, "}\n\\label{fig:%s}\n\\end{figure%s}\n", g->stem, page ? "*" : "");
		char *path = hu_path(dir, "%s.tex", g->stem);
		st = hu_file_write(path, b.s, b.len);
		free(path);
		hu_str_release(&b);
	}
	return st;
}
