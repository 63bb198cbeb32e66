/* SPDX-License-Identifier: Apache-2.0
   A command's options as a table: the same rows parse the command line, print --help, and are compared with the
   table of defaults in doc/. getopt_long does the parsing: options may stand anywhere, as `--name=value` or `--name
   value`, and any unambiguous beginning of a name is enough. Where a table has --out, -o is short for it. */
#ifndef HU_BASE_OPT_H
#define HU_BASE_OPT_H

#include "lib/base/status.h"

#include <stddef.h>

typedef struct hu_opt {
	const char *name; /* without the dashes, or OPTION:KEY of a key (spec.h); NULL ends the table */
	const char *arg;  /* its value as --help calls it ("N", "FILE"); NULL for a switch */
	const char *def;  /* the default as text; NULL: none */
	const char *help; /* one line */
} hu_opt;

typedef struct hu_args {
	const hu_opt *opts;
	char **value; /* for each option the last value given, else the default; a given switch has "1" */
	int *given;   /* for each option how often it was given */
	struct {
		int opt;
		char *value;
	} * each; /* all options in the order given, for repeatable ones */
	int neach;
	char **rest; /* positional arguments */
	int nrest;
	char **own; /* values that were made while the line was read (spec.h) */
	int nown;
	const char *max_memory; /* the value of --max-memory, which every command knows; NULL: not given */
} hu_args;

/* Parses argv[1..], whose order may change. Returns HU_EINVAL where an option is unknown, with the nearest known
   name in the reason, or lacks its value. Keys of options that have some (spec.h) are read too. Every command knows
   --help (hu_args_help) and --max-memory. The strings stay argv's. */
hu_status hu_args_parse(hu_args *a, const hu_opt *opts, int argc, char **argv);
void hu_args_release(hu_args *a);
int hu_args_help(const hu_args *a); /* 1 where --help was given */

const char *hu_args_text(const hu_args *a, const char *name); /* NULL: no default, and not given */
/* How often the option was given. A name that the table lacks ends the program, here and above. */
int hu_args_given(const hu_args *a, const char *name);
int hu_args_has(const hu_args *a, const char *name); /* 1 where the table has such an option */
/* The k-th value (from 0) of a repeatable option; NULL past the last. */
const char *hu_args_nth(const hu_args *a, const char *name, int k);
/* Returns the command line as one line of text, for the provenance of a file: "halfulp NAME", the words without a dash,
   and the options as --name=value, each quoted where a shell needs it. The caller frees it. */
char *hu_args_line(const hu_args *a, const char *name);
/* Reads an option's value as an integer of [min, max]. HU_EINVAL, which names the option, where it is none or is
   missing. */
hu_status hu_args_int(const hu_args *a, const char *name, long long min, long long max, long long *out);
/* The same for a finite number of [min, max]; hexadecimal floats and powers of two such as 2^-10 are numbers too. */
hu_status hu_args_real(const hu_args *a, const char *name, double min, double max, double *out);

/* Parses a number as hu_args_real does, but accepts inf and nan. Returns 0 where s is no number. */
int hu_parse_real(const char *s, double *out);

/* A command. Each is a row of commands.def and is defined beside its main function. */
typedef struct hu_command {
	const char *name, *usage, *summary, *details;
	const hu_opt *opts;
	int (*run)(const hu_args *a); /* returns the exit code */
	/* Which options need something to have an effect (lib/base/console/opt_need.h); `of` is the hu_args. NULL:
	   none does. */
	const struct hu_opt_need *needs;
	void (*columns)(void); /* prints what the columns of its table mean; NULL: nothing is said of them */
} hu_command;

/* Flushes standard output at the end of a command. Returns code, or prints a line and returns exit code 4 where the
   output could not be written. */
int hu_stdout_end(int code);
/* Runs a command on its command line: parses it, prints help or the error, or calls run. Returns the exit code. */
int hu_command_main(const hu_command *c, int argc, char **argv);
/* The same for a command that the running one stands for, in whose name it complains. */
int hu_command_within(const hu_command *c, int argc, char **argv);
/* Prints the command's help on standard output. */
void hu_command_help(const hu_command *c);
/* Prints the lines of the option's keys, where reads is not NULL of those alone whose name OPTION:KEY it accepts. */
void hu_command_help_keys(const hu_opt *opts, const char *option, int (*reads)(const char *row));

/* Prints "halfulp NAME: reason" on standard error, with the running command's name and hu_reason's text. Returns the
   exit code for st. */
int hu_complain(hu_status st);
/* Prints "halfulp NAME: warning: reason" on standard error for what the command can do without. Where the system failed
   it prints nothing, because the command ends with that failure, which is one line. */
void hu_command_warn(void);
#endif
