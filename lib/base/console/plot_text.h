/* SPDX-License-Identifier: Apache-2.0
   Makes names and texts from files or the command line safe in what gnuplot reads: none may be run as a program, by
   gnuplot or by the shell that its backquotes start. Nothing but these functions writes such texts into a .gp file or
   into the data that one reads. Both show a text as hu_shown does. */
#ifndef HU_BASE_PLOT_TEXT_H
#define HU_BASE_PLOT_TEXT_H

#include "lib/base/str.h"

/* Appends a string expression of gnuplot's: between single quotes it expands no backquote, no backslash and no macro.
   A single quote is a string of its own, since gnuplot 5.4 ends a text at the second of two doubled ones. */
void hu_plot_quoted(hu_str *b, const char *text);
/* Appends a cell of a table whose separator is a tab, which strcol() reads back as the text. It expands backslashes in
   every cell, takes " for the beginning of a quoted cell, a # that begins a line for a comment, and drops blanks at
   both ends; `no cell` is what our scripts call a missing one. A text with none of these stands as it is. */
void hu_plot_cell(hu_str *b, const char *text);
#endif
