/* SPDX-License-Identifier: Apache-2.0
   The main program: finds the command's row in commands.def and gives it the command line. What a command does is in
   its cmd_*.c. */
#include "cuda/exec/backend.h"
#include "cuda/device/device.h"
#include "lib/base/build.h"
#include "lib/base/console/addition.h"
#include "lib/base/console/command.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/page.h"
#include "lib/base/terminal/pager.h"
#include "lib/base/show.h"
#include "lib/base/bug.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/guard/inherited.h"
#include "lib/base/guard/limit.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "reports/output/output.h"
#include "trainer/bench/bench.h"
#include "trainer/run/idle.h"

#include <mpfr.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name) extern const hu_command hu_cmd_##name;
#include "commands.def"
#undef COMMAND

static const hu_command *const commands[] = {
#define COMMAND(name) &hu_cmd_##name,
#include "commands.def"
#undef COMMAND
	NULL
};

enum { NCOMMANDS = sizeof commands / sizeof *commands - 1 };

static int
unknown(const char *word)
{
	const char *names[NCOMMANDS + 1] = { NULL };

	for (int i = 0; i < NCOMMANDS; i++)
		names[i] = commands[i]->name;
	const char *near = hu_nearest(word, names, NCOMMANDS);
	if (near)
		return hu_complain(hu_fail(HU_EINVAL, "unknown command '%s'; did you mean %s?", word, near));
	return hu_complain(hu_fail(HU_EINVAL, "unknown command '%s'; halfulp --help lists them", word));
}

/* The groups in which the first screen and --help name the commands; a row of commands.def that none names stands under
   "others". */
static const struct {
	const char *title, *names;
} groups[] = {
	{ "deploy", "validate advise inspect" }, { "guard", "check diff engines baseline gate report" },
	{ "train and judge", "train analyze compare verify judge op allreduce" },
	{ "teach", "calc round accumulate formats figures" }, { "machine", "doctor plan bench probe tree" },
	{ "plumbing", "merge" }, /* help --all alone shows it */
};

enum { NGROUPS = sizeof groups / sizeof *groups, NSHOWN = NGROUPS - 1 };

/* Returns the next command from number i on that no group names, or NULL; *i becomes the number behind it. */
static const hu_command *
next_other(int *i)
{
	while (*i < NCOMMANDS) {
		const hu_command *c = commands[(*i)++];
		int named = 0;
		for (int g = 0; g < NGROUPS; g++)
			named |= hu_word_in(groups[g].names, c->name);
		if (!named)
			return c;
	}
	return NULL;
}

/* The lines are README's, with the program as it was called and its example where that lies. */
static int
start(const char *called)
{
	const char *me = strchr(called, '/') ? hu_shown(called) : "halfulp";
	char *found = access("examples/digits.onnx", R_OK) ? hu_build_file("examples/digits.onnx") : NULL;
	const char *at = "";

	if (found) {
		found[strlen(found) - strlen("examples/digits.onnx")] = 0;
		at = hu_shown(found);
	}
	printf("halfulp says what a number format does to your numbers. Three lines to begin:\n\n"
	       "  %s validate %sexamples/digits.onnx%s--data %sexamples/digits.npz \\\n"
	       "      --policy fp16,int8,int4 --accept 'flips<=1%%' --outputs out\n"
	       "  %s check out/int8.npz --baseline out/float32.npz \\\n"
	       "      --rule '*: sqnr >= 30'\n"
	       "  %s calc '1 + 0.0001' --format fp16,bf16,fp32\n\n"
	       "Commands:\n",
		me, at, *at ? " \\\n      " : " ", at, me, me); /* a long path has a line of its own */
	free(found);
	for (int i = 0; i < NSHOWN; i++)
		printf("  %-16s %s\n", groups[i].title, groups[i].names);
	const hu_command *other;
	for (int i = 0; (other = next_other(&i));)
		printf("  %-16s %s\n", "others", other->name);
	puts("\nhalfulp help COMMAND explains one, halfulp --help says what each does.");
	return HU_EXIT_OK;
}

/* The command of this name at the beginning of NAMES, and the next one's place in *NAMES; NULL behind the last. */
static const hu_command *
next_of(const char **names)
{
	char name[32];
	size_t n = strcspn(*names, " ");

	if (!n)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)n, *names);
	*names += n + ((*names)[n] == ' ');
	return hu_command_find(name);
}

static int
help(int all)
{
	puts("usage: halfulp COMMAND [OPTION...] [ARGUMENT...]");
	for (int i = 0; i < (all ? NGROUPS : NSHOWN); i++) {
		const char *names = groups[i].names;
		printf("\n%s\n", groups[i].title);
		for (const hu_command *c; (c = next_of(&names));)
			printf("  %-12s %s\n", c->name, c->summary);
	}
	int at = 0;
	const hu_command *other = next_other(&at);
	if (other)
		puts("\nothers");
	for (; other; other = next_other(&at))
		printf("  %-12s %s\n", other->name, other->summary);
	puts("\nhalfulp help COMMAND shows one with examples, halfulp COMMAND --help all of it.");
	if (!all)
		puts("halfulp help --all also lists merge, which ends what --shard begins.");
	return HU_EXIT_OK;
}

static int
version(void)
{
	printf("halfulp %s\n", hu_build_version());
	printf("built with %s, MPFR %s, CUDA %s\n", hu_build_compiler(), mpfr_get_version(),
		hu_cuda_built() ? "yes" : "no");
	return HU_EXIT_OK;
}

/* Prints OPTION with its keys, or OPTION=ROW with those that the row reads. */
static hu_status
option_help(const hu_command *c, const char *asked)
{
	size_t n = strcspn(asked, "=");
	char *option = hu_xprintf("%.*s", (int)n, asked);
	int (*reads)(const char *name) = NULL;
	hu_status st = asked[n] ? hu_idle_keys(option, asked + n + 1, &reads) : HU_OK;

	if (st == HU_OK)
		st = hu_page_option(c, option, reads);
	free(option);
	return st;
}

static int
run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	signal(SIGXFSZ, SIG_IGN); /* a file above the limit on sizes is a failed write, which is told and cleaned up */
	hu_threads_settle(argv);
	if (hu_simd_from_env() != HU_OK || hu_limit_stack() != HU_OK)
		return hu_complain(HU_EUNABLE);
	hu_command_register(commands);
	hu_command_add(&hu_output_pictures);
	hu_command_add(&hu_output_rows);
	hu_command_words_set(&hu_cmd_bench, hu_bench_help);
	hu_backend_register(&hu_backend_cuda);
	hu_backend_register(&hu_backend_shim);

	if (!word)
		return hu_stdout_end(start(argv[0] ? argv[0] : "halfulp"));
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version"))
		return hu_stdout_end(version());
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
		(!strcmp(word, "help") && (argc < 3 || !strcmp(argv[2], "help"))))
		return hu_stdout_end(help(0));
	if (!strcmp(word, "help") && argc == 3 && !strcmp(argv[2], "--all"))
		return hu_stdout_end(help(1));

	int asked = !strcmp(word, "help");
	const hu_command *c = hu_command_find(asked ? argv[2] : word);
	if (!c)
		return unknown(asked ? argv[2] : word);
	if (!asked)
		return hu_command_main(c, argc - 1, argv + 1);
	if (argc > 4 || (argc > 3 && argv[3][0] == '-' && strcmp(argv[3], "--all")))
		return hu_complain(hu_fail(HU_EINVAL, "help %s %s: --all may follow, or an option such as %s", c->name,
			argv[argc - 1], strcmp(c->name, "train") ? "json" : "optimizer=adamw"));
	hu_pager_begin();
	if (argc == 4 && hu_command_words_help(c, &(hu_args){ .rest = argv + 3, .nrest = 1 })) {
		/* one thing of several that the command does */
	} else if (argc > 3 && argv[3][0] != '-') {
		hu_status st = option_help(c, argv[3]);
		if (st != HU_OK)
			return hu_complain(st);
	} else if (argc > 3)
		hu_command_help(c);
	else
		hu_page_print(c);
	int code = hu_stdout_end(HU_EXIT_OK);
	hu_pager_end();
	return code;
}

/* Libraries begin before main, and OpenMP's exits with 1 where it finds no memory then. Only what stands in this
   section comes before them, where the C library knows of it. */
#if defined __ELF__ && defined __GLIBC__
static void (*const before_libraries)(void) __attribute__((used, section(".preinit_array"))) = hu_bug_watch_end;
#endif

int
main(int argc, char **argv)
{
	hu_inherited_settle();
	hu_bug_watch_end();
	hu_allocators_set();
	return hu_bug_no_end(run(argc, argv));
}
