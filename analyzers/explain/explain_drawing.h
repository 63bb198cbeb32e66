/* SPDX-License-Identifier: Apache-2.0
   A drawing of bits is laid out once and rendered twice: explain_text.c renders it for a terminal, explain_svg.c for a
   slide. It consists of titles, panels of aligned bits, and words. Texts are UTF-8; 2^-10 in them is set with a raised
   exponent where the medium can. */
#ifndef HU_ANALYZERS_EXPLAIN_DRAWING_H
#define HU_ANALYZERS_EXPLAIN_DRAWING_H

#include "lib/base/status.h"

#include <stdio.h>

typedef enum hu_ink {
#define INK(id, ansi, fill, text, legend) HU_INK_##id,
#include "analyzers/explain/explain_inks.def"
#undef INK
	HU_INKS
} hu_ink;

typedef struct hu_ink_look { const char *ansi, *fill, *text, *legend; } hu_ink_look;
const hu_ink_look *hu_ink_of(int ink);

typedef struct hu_explain_cell { char digit; unsigned char ink; } hu_explain_cell;  /* digit 0: an empty cell */

/* A row of bits: a label, a sign, a cell for each column of its panel, and the value of the bits. */
typedef struct hu_strip {
	char *label, *value;
	const char *sign;       /* "", "-", "+", … */
	hu_explain_cell *cell;
	int line, chop; /* columns before which lines are drawn: line after the last bit kept, chop after the last bit
			   that the alignment keeps; -1: none */
	int rule;               /* a horizontal line above */
	int more;               /* there are further bits beyond the last column */
	int leaves_out;         /* a row of label and value alone that stands for rows left out */
} hu_strip;

typedef struct hu_column {
	char head[16];          /* text above the column; often empty */
	int rank;               /* where heads overlap, the one with the lower rank is shown */
	int ends;               /* head is right-aligned to the column */
	char before;            /* what is drawn before the column: 0 nothing, ' ' the gap before a field, '~' a mark
				   for columns left out */
} hu_column;

typedef struct hu_explain_panel {
	char *heading;
	hu_column *column;
	int columns;
	hu_strip *strip;
	int strips, cap;
} hu_explain_panel;

typedef enum hu_drawn_kind { HU_DRAWN_TITLE, HU_DRAWN_PANEL, HU_DRAWN_WORDS } hu_drawn_kind;
typedef struct hu_drawn { hu_drawn_kind kind; char *text; hu_explain_panel panel; } hu_drawn;
typedef struct hu_drawing { hu_drawn *item; int n, cap; } hu_drawing;

void hu_drawing_init(hu_drawing *d);
void hu_drawing_release(hu_drawing *d);

void hu_drawing_title(hu_drawing *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hu_drawing_words(hu_drawing *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends a panel without strips; the pointer is valid until the next item is added. */
hu_explain_panel *hu_drawing_panel(hu_drawing *d, const char *heading, int columns);
/* Appends a strip without digits; the pointer is valid until the next strip is added. label and value are copied. */
hu_strip *hu_panel_strip(hu_explain_panel *p, const char *label, const char *sign, const char *value);

/* Returns 1 where some strip of the panel has its line or chop before that column. */
int hu_panel_slot(const hu_explain_panel *p, int column);
/* Sets shown[i] (of p->columns) to 1 for the column heads that are shown, such that no two are nearer than gap. Head i
   would take from[i] to to[i], in any unit. */
void hu_panel_heads(const hu_explain_panel *p, const double *from, const double *to, double gap, char *shown);
/* Returns the number of characters of s, which is UTF-8. */
size_t hu_text_width(const char *s);
/* Returns the bytes of s up to the last blank within width characters, or up to the end of the first word where there
   is no such blank. */
size_t hu_text_line(const char *s, size_t width);

/* Renders d as text; colour adds ANSI attributes. */
void hu_drawing_text(const hu_drawing *d, FILE *out, int colour);
/* Returns 1 where `out` is a terminal that wants colours: NO_COLOR is empty or unset, and TERM is not dumb. */
int hu_drawing_colour(FILE *out);
/* How a picture looks: light on a dark ground; as a slide, of 16:9. */
typedef struct hu_drawing_look { int dark, slide; } hu_drawing_look;
/* Returns a self-contained SVG, which the caller frees; its caption names command, the line that makes it again. */
char *hu_drawing_svg(const hu_drawing *d, const char *command, const hu_drawing_look *look);
#endif
