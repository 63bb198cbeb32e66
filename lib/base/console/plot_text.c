/* SPDX-License-Identifier: Apache-2.0
   Quotes texts for gnuplot, in its programs and in its data. */
#include "lib/base/console/plot_text.h"

#include "lib/base/show.h"

#include <string.h>

void
hu_plot_quoted(hu_str *b, const char *text)
{
	hu_str_add(b, "'");
	for (const char *s = hu_shown(text); *s; s++)
		if (*s == '\'')
			hu_str_add(b, "'.\"'\".'");
		else
			hu_str_addn(b, s, 1);
	hu_str_add(b, "'");
}

void
hu_plot_cell(hu_str *b, const char *text)
{
	const char *shown = hu_shown(text);
	int missing = !strcmp(shown, "no cell");

	for (const char *s = shown; *s; s++) {
		int first = s == shown, edge = first || !s[1];
		if (*s == '\\')
			hu_str_add(b, "\\\\");
		else if (*s == '"' || (*s == ' ' && edge) || (first && (*s == '#' || missing)))
			hu_str_addf(b, "\\%03o", (unsigned)*s);
		else
			hu_str_addn(b, s, 1);
	}
}
