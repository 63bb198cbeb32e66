/* SPDX-License-Identifier: Apache-2.0
   A command's options as a table: the same rows parse the line, print --help,
   and are compared with the table of defaults in doc/. Parsing is getopt_long's:
   options may stand anywhere, `--name=value` or `--name value`, and an
   unambiguous beginning of a name is enough. */
#ifndef HU_BASE_OPT_H
#define HU_BASE_OPT_H

#include "lib/base/status.h"

#include <stddef.h>

typedef struct hu_opt {
	const char *name;     /* without the dashes; NULL ends the table */
	const char *arg;      /* what stands after it in help ("N", "FILE"); NULL: a switch */
	const char *def;      /* default as text; NULL: none */
	const char *help;     /* one line */
} hu_opt;

typedef struct hu_args {
	const hu_opt *opts;
	char **value;         /* per option: the last value given (or the default); "1" for a switch given */
	int *given;           /* per option: how often it was given */
	struct { int opt; char *value; } *each; /* every option in the order given: for repeatable ones */
	int neach;
	char **rest;          /* positional arguments */
	int nrest;
} hu_args;

/* Parses ARGV[1..]. ARGV's order may change. HU_EINVAL names the option and the
   nearest known one. --help is known to all and shows in given(-1). */
hu_status hu_args_parse(hu_args *a, const hu_opt *opts, int argc, char **argv);
void hu_args_release(hu_args *a);
int hu_args_help(const hu_args *a);                          /* --help was given */

const char *hu_args_text(const hu_args *a, const char *name);  /* NULL: no default and not given */
int hu_args_given(const hu_args *a, const char *name);
int hu_args_has(const hu_args *a, const char *name);           /* the table has such an option */
/* The K-th (from 0) value of a repeatable option; NULL past the last. */
const char *hu_args_nth(const hu_args *a, const char *name, int k);
hu_status hu_args_int(const hu_args *a, const char *name, long long min, long long max, long long *out);
/* A finite number; also accepts 2^K and hex floats. */
hu_status hu_args_real(const hu_args *a, const char *name, double min, double max, double *out);

/* Parses a number as hu_args_real does; 0 where S is no number. Accepts inf and nan. */
int hu_parse_real(const char *s, double *out);

/* What a command is; rows in commands.def, defined beside its main function. */
typedef struct hu_command {
	const char *name, *usage, *summary, *details;
	const hu_opt *opts;
	int (*run)(const hu_args *a);   /* returns the exit code */
	const struct hu_opt_need *needs; /* of a hu_args, as in lib/base/console/opt_need.h: what some options need to
					    have an effect. NULL: none does */
} hu_command;

/* CODE, or exit 4's and its line where what was printed did not arrive. */
int hu_stdout_end(int code);
/* Runs a command on its line: parses, prints help or the error, calls run. */
int hu_command_main(const hu_command *c, int argc, char **argv);
void hu_command_help(const hu_command *c);

/* Prints "halfulp NAME: reason" on standard error and returns ST's exit code. */
int hu_complain(hu_status st);
#endif
