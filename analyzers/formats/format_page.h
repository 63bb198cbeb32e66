/* SPDX-License-Identifier: Apache-2.0
   Prints number formats for the command formats: the list, as text or as a table for a document, and the page of one
   format. */
#ifndef HU_ANALYZERS_FORMAT_PAGE_H
#define HU_ANALYZERS_FORMAT_PAGE_H

#include "lib/number/block/block.h"

#include <jansson.h>

void hu_formats_print(void);

/* Returns what rounding to nearest even gives for a value that is far too large. */
const char *hu_format_above(hu_format f);
/* Prints the list as a table of that kind: latex, markdown or tsv, in any case. HU_EINVAL for another. */
hu_status hu_formats_table(const char *kind);

void hu_format_page(hu_format f);
json_t *hu_format_json(hu_format f);

/* The same for a block format: its elements and their scale. */
void hu_block_page(const hu_block *b);
json_t *hu_block_json(const hu_block *b);
/* Writes what b's elements are into `text` and returns it: a format's name, int8 or, with a zero point, uint8. */
const char *hu_block_element(const hu_block *b, char *text, size_t room);
#endif
