/* SPDX-License-Identifier: Apache-2.0
   A command run again for what it prints as JSON: what -o makes files of. */
#ifndef HU_REPORTS_RERUN_H
#define HU_REPORTS_RERUN_H

#include "lib/base/console/opt.h"

/* What the command printed and how it ended. */
typedef struct hu_rerun {
	char *command; /* its own line as a shell takes it, without -o FILE and what says how that looks */
	char *json;    /* n bytes and a 0 after them; NULL where it failed, which it has then said */
	size_t n;
	int code;
} hu_rerun;

/* Runs the command in a process of its own with the line that a has, without the options that are not its own and the
   files of -o that others write, and with those words of `more` that it lacks. HU_EUNABLE where no process can be made.
   o is to be released in any case. */
hu_status hu_rerun_run(hu_rerun *o, const hu_command *c, const hu_args *a, const char *more);
void hu_rerun_release(hu_rerun *o);
#endif
