/* SPDX-License-Identifier: Apache-2.0
   The short page of each command, doc/help/COMMAND.txt, which the build puts into the program. */
#ifndef HU_BASE_PAGE_H
#define HU_BASE_PAGE_H

#include "lib/base/console/opt.h"

typedef struct hu_page {
	const char *command, *text;
} hu_page;

/* All pages; one whose command is NULL ends them. */
extern const hu_page hu_pages[];

/* Prints the command's short page and where all its options stand: at most 24 lines of 80 columns. A command without a
   page has its long one printed. */
void hu_page_print(const hu_command *c);
/* Prints one option with its keys, of which `reads` accepts those that a row of the option's kind reads; NULL: all.
   HU_EINVAL where the command has no such option. */
hu_status hu_page_option(const hu_command *c, const char *option, int (*reads)(const char *row));
#endif
