/* SPDX-License-Identifier: Apache-2.0
   The main program: finds the command's row in commands.def and gives it the command line. What a command does is in
   its cmd_*.c. */
#include "cuda/exec/backend.h"
#include "cuda/device/device.h"
#include "lib/base/build.h"
#include "lib/base/console/command.h"
#include "lib/base/bug.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "reports/pictures/picture.h"
#include "reports/rows/tables.h"

#include <mpfr.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

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

static int
start(void)
{
	puts("halfulp says what a number format does to your numbers. Three places to start:\n\n"
	     "  deploying a model   halfulp compare --policies float32,mixed_float16,mixed_bfloat16\n"
	     "  guarding a change   halfulp train --policy mixed_float16 runs/ci; halfulp analyze runs/ci;\n"
	     "                      halfulp check runs/ci --baseline baseline.tsv --bless --reason 'first run'\n"
	     "  teaching            halfulp calc '1 + 0.0001' --format fp16,bf16,fp32\n\n"
	     "halfulp --help lists every command.");
	return HU_EXIT_OK;
}

static int
help(void)
{
	puts("usage: halfulp COMMAND [OPTION...] [ARGUMENT...]\n");
	for (int i = 0; i < NCOMMANDS; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nhalfulp help COMMAND, or halfulp COMMAND --help, says more; --version names this build.");
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

static int
run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	signal(SIGXFSZ, SIG_IGN); /* a file above the limit on sizes is a failed write, which is told and cleaned up */
	hu_threads_settle(argv);
	if (hu_simd_from_env() != HU_OK)
		return hu_complain(HU_EUNABLE);
	hu_command_register(commands);
	hu_command_add(&hu_pictures);
	hu_command_add(&hu_tables);
	hu_backend_register(&hu_backend_cuda);
	hu_backend_register(&hu_backend_shim);

	if (!word)
		return hu_stdout_end(start());
	if (!strcmp(word, "--version"))
		return hu_stdout_end(version());
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc < 3))
		return hu_stdout_end(help());

	int asked = !strcmp(word, "help");
	const hu_command *c = hu_command_find(asked ? argv[2] : word);
	if (!c)
		return unknown(asked ? argv[2] : word);
	if (!asked)
		return hu_command_main(c, argc - 1, argv + 1);
	hu_command_help(c);
	return hu_stdout_end(HU_EXIT_OK);
}

int
main(int argc, char **argv)
{
	hu_bug_watch_end();
	hu_allocators_set();
	return hu_bug_no_end(run(argc, argv));
}
