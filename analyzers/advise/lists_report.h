/* SPDX-License-Identifier: Apache-2.0
   What is told of the proven lists: sentences, and block_list.txt. */
#ifndef HU_ANALYZERS_ADVISE_LISTS_REPORT_H
#define HU_ANALYZERS_ADVISE_LISTS_REPORT_H

#include "analyzers/advise/lists.h"

#include "lib/base/str.h"

/* A name in quotes that Python reads. */
void hu_lists_quoted(hu_str *t, const char *name);
void hu_lists_print(const hu_lists *l, const hu_search *s);
/* Appends block_list.txt: block_list and nodes, lists in Python, each with its proof. */
void hu_lists_text(hu_str *t, const hu_lists *l, const hu_search *s, const hu_assignment *best);
#endif
