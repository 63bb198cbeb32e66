/* SPDX-License-Identifier: Apache-2.0
   An option that has no effect is refused by name. Which option has an effect where is data: a row of a table of
   needs says what some options need, and a row of a table of kinds, such as the optimizers, says which options it
   reads. */
#ifndef HU_BASE_OPT_NEED_H
#define HU_BASE_OPT_NEED_H

#include "lib/base/console/opt.h"

/* The options (names separated by blanks) have an effect where met(of) is not 0. `why` ends the sentence "--x has no
   effect …" where it is 0. A row whose options is NULL ends a table. met returns 1 also for values that are invalid,
   because whoever reads them reports them. */
typedef struct hu_opt_need {
	const char *options;
	int (*met)(const void *of);
	const char *why;
} hu_opt_need;

/* One row of a kind, such as one optimizer, and the options that it reads (names separated by blanks). A NULL name
   ends the table. */
typedef struct hu_opt_reader { const char *name, *reads; } hu_opt_reader;

/* Returns 1 where word is one of list's words, which blanks separate. */
int hu_word_in(const char *list, const char *word);
/* Returns why the option has no effect by the table of needs, or NULL where it has one. */
const char *hu_unmet(const hu_opt_need *needs, const void *of, const char *option);
/* Returns why the option has no effect with the row `chosen` of the kind whose rows are at(0), at(1), …: other rows
   read it, and `chosen` does not. kind is the option that chooses ("--optimizer"). NULL where `chosen` reads it,
   where no row does, or where there is no such row. The caller frees the string. */
char *hu_unread(const char *kind, hu_opt_reader (*at)(int i), const char *chosen, const char *option);

/* Returns HU_EINVAL with a reason that names the option. */
hu_status hu_refuse(const char *option, const char *why);
/* Refuses the first option of the table that was given and has no effect by the table of needs. */
hu_status hu_args_need(const hu_args *a, const hu_opt_need *needs, const void *of);
#endif
