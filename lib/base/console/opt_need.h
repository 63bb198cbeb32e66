/* SPDX-License-Identifier: Apache-2.0
   An option that has no effect is refused by name. What has an effect where is data: a row of needs says what
   some options need, and whatever comes in kinds, such as an optimizer, says in its row which options it reads. */
#ifndef HU_BASE_OPT_NEED_H
#define HU_BASE_OPT_NEED_H

#include "lib/base/console/opt.h"

/* OPTIONS (names, a blank between two) have an effect where MET(OF) is not 0; WHY says, as the end of a sentence, what
   is so where it is 0. A row whose options is NULL ends a table. MET must be true of values that are wrong: whoever
   reads them says so. */
typedef struct hu_opt_need {
	const char *options;
	int (*met)(const void *of);
	const char *why;
} hu_opt_need;

/* One of a kind, and the options that it reads (names, a blank between two). A NULL name ends the kind. */
typedef struct hu_opt_reader { const char *name, *reads; } hu_opt_reader;

/* Whether WORD is one of LIST's words, which have a blank between two. */
int hu_word_in(const char *list, const char *word);
/* Why OPTION has no effect by NEEDS, or NULL where it has one. */
const char *hu_unmet(const hu_opt_need *needs, const void *of, const char *option);
/* Why OPTION has no effect where CHOSEN is one of the kind that AT(0), AT(1), ... lists and that KIND names
   ("--optimizer"): others read it and CHOSEN does not. NULL where CHOSEN reads it, or none does, or there is no such
   row. Freed by the caller. */
char *hu_unread(const char *kind, hu_opt_reader (*at)(int i), const char *chosen, const char *option);

/* HU_EINVAL, and a reason that names OPTION. */
hu_status hu_refuse(const char *option, const char *why);
/* Refuses the first option on the line that has no effect by NEEDS. */
hu_status hu_args_need(const hu_args *a, const hu_opt_need *needs, const void *of);
#endif
