/* SPDX-License-Identifier: Apache-2.0
   The files that -o asks for, of which a name's end says what is written: .tsv, .json, .md or .tex of rows, .svg, .png
   or .pdf of a picture. A command whose own option table has --out keeps the names that this row's value lists, such
   as FILE.svg or DIR|FILE.html, and where it does not begin with "FILE." those with an end that is none of these; but
   rows and columns can be chosen only of what is written here. */
#ifndef HU_REPORTS_OUTPUTS_H
#define HU_REPORTS_OUTPUTS_H

#include "lib/base/console/opt.h"

/* The first three are the kinds of hu_json_table_kind. */
typedef enum hu_output_kind {
	HU_OUTPUT_TEX,
	HU_OUTPUT_MARKDOWN,
	HU_OUTPUT_TSV,
	HU_OUTPUT_JSON,
	HU_OUTPUT_SVG,
	HU_OUTPUT_PNG,
	HU_OUTPUT_PDF,
	HU_OUTPUT_FIGURE /* NAME.tex beside NAME.pdf: a LaTeX figure around the picture */
} hu_output_kind;

typedef struct hu_output {
	hu_output_kind kind;
	char *key; /* which of the tables, as -o KEY=FILE says; NULL: it says none */
	const char *file;
} hu_output;

typedef struct hu_outputs {
	hu_output *of;
	int n;
} hu_outputs;

/* Returns 1 where the value of -o is one that the command writes itself. */
int hu_outputs_is_own(const hu_command *c, const hu_args *a, const char *value);
/* Returns 1 where the output is a picture, or a LaTeX figure around one. */
int hu_output_is_drawn(const hu_output *o);
/* Reads every -o that is not the command's own. HU_EINVAL: an end that says nothing, or a table's key where a file has
   all tables or none. o is to be released in any case. */
hu_status hu_outputs_read(hu_outputs *o, const hu_command *c, const hu_args *a);
void hu_outputs_release(hu_outputs *o);
#endif
