/* SPDX-License-Identifier: Apache-2.0
   Options that some commands have beside their own, and that a function above all commands answers: it runs the
   command itself and makes something of what it prints. The main program registers them, so that a command on a lower
   floor has a picture or a table without knowing what makes it. */
#ifndef HU_BASE_ADDITION_H
#define HU_BASE_ADDITION_H

#include "lib/base/console/opt.h"
#include "lib/base/console/opt_need.h"

typedef struct hu_command_addition {
	const hu_opt *opts;                 /* the options; none has the name of a command's own */
	const hu_opt_need *needs;           /* which of them need something to have an effect; `of` is the hu_args */
	int (*belongs)(const hu_command *c); /* 1 where the command has these options */
	int (*asked)(const hu_args *a);      /* 1 where the command line asks for what they make */
	/* Runs the command in that case and returns the exit code. a->opts has the command's own options first. */
	int (*run)(const hu_command *c, const hu_args *a);
} hu_command_addition;

/* Adds options, at most four times. x must outlive every call below. */
void hu_command_add(const hu_command_addition *x);
/* Sets *asked to the addition that the command line asks for, NULL where it asks for none. HU_EINVAL where it asks for
   two, or gives an option of one that has no effect. */
hu_status hu_command_asked(const hu_command *c, const hu_args *a, const hu_command_addition **asked);
/* Returns the command's own options with those that are added behind them. The table is valid until the next call. */
const hu_opt *hu_command_opts(const hu_command *c);
#endif
