/* SPDX-License-Identifier: Apache-2.0
   The commands of this program by name, for a command that runs others. Commands on one floor do not know each other:
   the main program, which knows all, tells the names. */
#ifndef HU_BASE_COMMAND_H
#define HU_BASE_COMMAND_H

#include "lib/base/console/opt.h"

/* Sets the list of commands, which a NULL ends and which must outlive every call below. */
void hu_command_register(const hu_command *const *all);
/* NULL where there is no such command. */
const hu_command *hu_command_find(const char *name);

/* How a command ended. */
typedef struct hu_command_end {
	int code;      /* its exit code; HU_EXIT_ENV where a signal ended it */
	char *reason;  /* the last line of its standard error, without "halfulp NAME: "; "" where there is none */
} hu_command_end;

/* Runs a command on its arguments (argv[0] is its name) in a process of its own. Its standard output goes to the open
   file OUT, or nowhere where that is -1; its standard error is passed on where say is set. HU_EUNABLE where no process
   can be made; end->reason is the caller's to free. To be called before this process has made threads. */
hu_status hu_command_run(hu_command_end *end, int argc, char **argv, int out, int say);
#endif
