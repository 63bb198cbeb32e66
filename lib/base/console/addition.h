/* SPDX-License-Identifier: Apache-2.0
   Options that some commands have beside their own, and that a function above all commands answers: it runs the
   command itself and makes something of what it prints. The main program registers them, so that a command on a lower
   floor has a picture or a table without knowing what makes it. */
#ifndef HU_BASE_ADDITION_H
#define HU_BASE_ADDITION_H

#include "lib/base/console/opt.h"
#include "lib/base/console/opt_need.h"

typedef struct hu_command_addition {
	const hu_opt *opts;  /* the options; --out is left out where a command has one of its own */
	const char *without; /* why the others have no effect where nothing is asked for: "without ..." */
	int (*belongs)(const hu_command *c); /* 1 where the command has these options */
	/* 1 where the command line asks for what they make */
	int (*asked)(const hu_command *c, const hu_args *a);
	/* Runs the command in that case and returns the exit code. a->opts has the command's own options first. */
	int (*run)(const hu_command *c, const hu_args *a);
} hu_command_addition;

/* Adds options, at most four times. x must outlive every call below. */
void hu_command_add(const hu_command_addition *x);
/* Sets *asked to the addition that the command line asks for, NULL where it asks for none. HU_EINVAL where it asks for
   an option is given of additions none of which is asked for. */
hu_status hu_command_asked(const hu_command *c, const hu_args *a, const hu_command_addition **asked);
/* Returns HU_EINVAL, with the reason, where one of the addition's options but --out was given; HU_OK else. */
hu_status hu_addition_idle(const hu_command_addition *x, const hu_args *a);
/* Sets a function that prints the help of what the words of the command's line name, such as one benchmark, and returns
   1, or 0 where they name nothing that has help of its own. One command may have such. */
void hu_command_words_set(const hu_command *c, int (*print)(const hu_args *a));
/* Returns 1 where it has printed such help. */
int hu_command_words_help(const hu_command *c, const hu_args *a);
/* Prints the help of one thing that the command does, `halfulp COMMAND NAME`, with those of the command's own options
   that takes(option or OPTION:KEY) accepts. */
void hu_command_help_of(
	const hu_command *c, const char *name, const char *summary, const char *details, int (*takes)(const char *row));
/* Returns the command's own options with those that are added behind them. The table is valid until the next call. */
const hu_opt *hu_command_opts(const hu_command *c);
#endif
