/* SPDX-License-Identifier: Apache-2.0
   A drawing of bits, laid out once and rendered twice: titles, panels of aligned bits, words.
   explain_text.c renders it for a terminal, explain_svg.c for a slide. Texts are UTF-8; 2^-10 in
   them is set with a raised exponent where the medium can. */
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

typedef struct hu_explain_cell { char digit; unsigned char ink; } hu_explain_cell;  /* digit 0: nothing there */

/* A row of bits: a label, a sign, a cell for each column of its panel, what it is worth. */
typedef struct hu_strip {
	char *label, *value;
	const char *sign;       /* "", "-", "+", … */
	hu_explain_cell *cell;
	int line, chop; /* the last bit kept stands before this column, the alignment's before that one; -1: neither */
	int rule;               /* a horizontal line above */
	int more;               /* its bits go on beyond the last column */
	int leaves_out;         /* no bits: only label and value, for rows left out */
} hu_strip;

typedef struct hu_column {
	char head[16];          /* what stands above it; often nothing */
	int rank;               /* where heads collide the lower rank stays */
	int ends;               /* head is right-aligned to the column */
	char before;            /* 0, ' ' a field begins, '~' columns are left out */
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
/* A panel without strips; the pointer holds until the next item is added. */
hu_explain_panel *hu_drawing_panel(hu_drawing *d, const char *heading, int columns);
/* A strip without digits; the pointer holds until the next strip. label and value are copied. */
hu_strip *hu_panel_strip(hu_explain_panel *p, const char *label, const char *sign, const char *value);

/* Columns in which a panel's line can stand: 1 where some strip's line or chop is before it. */
int hu_panel_slot(const hu_explain_panel *p, int column);
/* Which columns' heads are shown, 1 each in shown (of p->columns): head I takes `from`[I] to `to`[I], widths in any
   unit, gap apart. */
void hu_panel_heads(const hu_explain_panel *p, const double *from, const double *to, double gap, char *shown);
/* Characters of s, in UTF-8. */
size_t hu_text_width(const char *s);
/* Bytes of s up to the last blank within width characters, or to a word's end where none is. */
size_t hu_text_line(const char *s, size_t width);

/* colour: ANSI attributes. */
void hu_drawing_text(const hu_drawing *d, FILE *out, int colour);
/* 1 where `out` is a terminal that wants colours (NO_COLOR is empty or unset, TERM is not dumb). */
int hu_drawing_colour(FILE *out);
/* A self-contained SVG in a new string, freed by the caller; its caption names command, the line that makes it again.
 */
char *hu_drawing_svg(const hu_drawing *d, const char *command);
#endif
