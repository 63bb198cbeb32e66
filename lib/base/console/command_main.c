/* SPDX-License-Identifier: Apache-2.0
   The part of opt.h that runs a command: prints its help, the reason of a failure, or lets it work. */
#include "lib/base/console/opt.h"

#include "lib/base/console/addition.h"
#include "lib/base/console/spec.h"
#include "lib/base/terminal/fitted.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/pager.h"
#include "lib/base/failed.h"
#include "lib/base/guard/limit.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *running = "", *outer;

/* Whether a word such as "convnet:" or "idx:DIR:" stands at s, which begins what is said of one of several choices. */
static int
names_choice(const char *s)
{
	size_t n = strcspn(s, " ");

	return n > 1 && s[n - 1] == ':';
}

/* Prints text that begins in column `indent`: on a terminal in lines that fit its width, where each of several choices
   begins a line unless it stands in brackets, elsewhere in one line. */
static void
print_wrapped(const char *text, size_t indent)
{
	size_t width = hu_fitted_width(), at = indent;

	int lists = width != SIZE_MAX && indent + strlen(text) > width, inside = 0;
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, " "), space = s > text;
		if (space && (at + space + n > width || (lists && !inside && s[-2] == ';' && names_choice(s)))) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			space = 0;
		}
		printf("%s%.*s", space ? " " : "", (int)n, s);
		at += space + n;
		for (size_t i = 0; i < n; i++)
			inside += (s[i] == '[') - (s[i] == ']');
		s += n + (s[n] == ' ');
	}
}

/* Prints a row of the table behind what is written on the line. */
static void
print_row(const hu_opt *o, const char *left)
{
	size_t column = 29, n = strlen(left);
	char *all = o->def ? hu_xprintf("%s [%s]", o->help, o->def) : hu_xstrdup(o->help);

	printf("%-*s ", (int)column - 1, left);
	print_wrapped(all, n > column - 1 ? n + 1 : column);
	putchar('\n');
	free(all);
}

void
hu_command_help_keys(const hu_opt *opts, const char *option, int (*reads)(const char *row))
{
	char left[96];

	for (const hu_opt *o = opts; o->name; o++) {
		if (!hu_spec_is_key_of(o, option) || (reads && !reads(o->name)))
			continue;
		snprintf(left, sizeof left, "    %s%s%s", hu_spec_key(o), o->arg ? "=" : "", o->arg ? o->arg : "");
		print_row(o, left);
	}
}

/* Returns 1 where the row is one of the command's own that `takes` refuses. */
static int
is_left_out(const hu_command *c, const char *row, int (*takes)(const char *row))
{
	for (const hu_opt *o = c->opts; o->name; o++)
		if (!strcmp(o->name, row))
			return takes && !takes(row);
	return 0;
}

static void
print_options(const hu_command *c, int (*takes)(const char *row))
{
	const hu_opt *opts = hu_command_opts(c);

	printf("\noptions:\n");
	for (const hu_opt *o = opts; o->name; o++) {
		char left[64];
		if (hu_spec_is_key(o) || is_left_out(c, o->name, takes))
			continue;
		snprintf(left, sizeof left, "  --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		print_row(o, left);
		hu_command_help_keys(opts, o->name, takes);
	}
	printf("  %-26s ", "--max-memory SIZE");
	print_wrapped(
		"memory that the command may ask for (8GiB, 500MB), mapped files aside [half of this machine's]", 29);
	putchar('\n');
	printf("  %-26s %s\n", "--help", "this page");
}

void
hu_command_help(const hu_command *c)
{
	printf("usage: halfulp %s %s\n\n%s\n", c->name, c->usage, c->summary);
	if (c->details)
		printf("\n%s\n", c->details);
	if (c->columns) {
		printf("\ncolumns:\n");
		c->columns();
	}
	print_options(c, NULL);
}

void
hu_command_help_of(
	const hu_command *c, const char *name, const char *summary, const char *details, int (*takes)(const char *row))
{
	printf("usage: halfulp %s %s [OPTION...]\n\n%s\n\n%s\n", c->name, name, summary, details);
	print_options(c, takes);
}

/* A rank that leaves it to rank 0 to say why returns 0: mpirun kills all ranks once one has returned something else,
   and rank 0 might not have spoken yet. One that fails before it has joined the others cannot know whether rank 0
   fails too, which would end the job at once; where this rank is still there after PATIENCE seconds the failure is its
   own, and the others, who wait for it, end with it. */
int
hu_complain(hu_status st)
{
	enum { PATIENCE = 3 };
	const char *reason = hu_reason(), *earlier;
	int code = hu_exit_code(st), joined = hu_ranks_size() > 1, rank = joined ? hu_ranks_rank() : hu_ranks_own();
	char who[48] = "";

	/* a file or an option is not to blame where the system had failed before */
	if (code != HU_EXIT_ENV && hu_failed(&earlier)) {
		code = HU_EXIT_ENV;
		reason = earlier;
	}
	fflush(stdout);
	if (!hu_ranks_speaks() && joined)
		return HU_EXIT_OK;
	if (!hu_ranks_speaks())
		sleep(PATIENCE);
	if (rank)
		snprintf(who, sizeof who, "rank %d of %d: ", rank, joined ? hu_ranks_size() : hu_ranks_started());
	char *line = hu_xprintf("halfulp%s%s: %s%s\n", *running ? " " : "", running, who, reason);
	fputs(line, stderr);
	free(line);
	hu_ranks_give_up(code);
	return code;
}

void
hu_command_warn(void)
{
	const char *earlier;

	if (!hu_failed(&earlier))
		fprintf(stderr, "halfulp%s%s: warning: %s\n", *running ? " " : "", running, hu_reason());
}

int
hu_stdout_end(int code)
{
	errno = 0;
	if (!(ferror(stdout) | fflush(stdout)) || (code != HU_EXIT_OK && code != HU_EXIT_JUDGED))
		return code;
	int why = errno;
	return hu_complain(
		hu_fail(HU_EIO, "standard output cannot be written%s%s", why ? ": " : "", why ? strerror(why) : ""));
}

/* Refuses a command that does not share its work where several processes of it were started together. */
static hu_status
may_run(const char *name)
{
	static const struct {
		const char *command, *why;
	} rows[] = {
#define SHARES(command, moves) { #command, NULL },
#define ALONE(command, why) { #command, why },
#include "lib/base/ranks/shares.def"
#undef ALONE
#undef SHARES
	};
	const char *why = "it works in one process";
	int n = hu_ranks_started();

	for (size_t i = 0; i < sizeof rows / sizeof *rows && n > 1; i++) {
		if (strcmp(rows[i].command, name))
			continue;
		if (!rows[i].why)
			return HU_OK;
		why = rows[i].why;
	}
	return n == 1 ? HU_OK
		      : hu_fail(HU_EINVAL,
				"%s, and %d were started together: leave out mpirun, or set HALFULP_MPI=none for each "
				"to work alone",
				why, n);
}

/* Returns code, or says that the system failed, though what was done then was done without that. */
static int
as_the_system(int code)
{
	const char *earlier;

	if (code == HU_EXIT_ENV || !hu_failed(&earlier))
		return code;
	return code == HU_EXIT_OK || code == HU_EXIT_JUDGED ? hu_complain(hu_fail(HU_EIO, "%s", earlier)) : HU_EXIT_ENV;
}

int
hu_command_main(const hu_command *c, int argc, char **argv)
{
	const hu_command_addition *x;
	hu_args a;
	int code;

	running = outer ? outer : c->name;
	hu_status st = hu_args_parse(&a, hu_command_opts(c), argc, argv);
	if (st != HU_OK)
		code = hu_complain(st);
	else if (hu_args_help(&a)) {
		if (!hu_ranks_own()) {
			hu_pager_begin();
			if (!hu_command_words_help(c, &a))
				hu_command_help(c);
			hu_pager_end();
		}
		code = HU_EXIT_OK;
	} else if ((st = hu_limit_memory(a.max_memory)) != HU_OK || (st = may_run(c->name)) != HU_OK ||
		   (st = hu_command_asked(c, &a, &x)) != HU_OK ||
		   (!x && (st = hu_args_need(&a, c->needs, &a)) != HU_OK))
		code = hu_complain(st);
	else if (x)
		code = x->run(c, &a);
	else
		code = c->run(&a);
	hu_args_release(&a);
	code = as_the_system(hu_stdout_end(code));
	hu_ranks_close();
	return code;
}

int
hu_command_within(const hu_command *c, int argc, char **argv)
{
	outer = running;
	int code = hu_command_main(c, argc, argv);
	outer = NULL;
	return code;
}
