/* SPDX-License-Identifier: Apache-2.0
   halfulp-check: the commands check and diff alone, linked statically, for images where nothing may be installed. It
   trains nothing and needs neither BLAS nor CUDA nor gnuplot; what it prints is what halfulp prints. */
#include "lib/base/build.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/guard/limit.h"
#include "lib/base/console/command.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"

#include <stdio.h>
#include <string.h>

extern const hu_command hu_cmd_check, hu_cmd_diff;

static const hu_command *const commands[] = { &hu_cmd_check, &hu_cmd_diff, NULL };

static int
help(void)
{
	puts("usage: halfulp-check check|diff [OPTION...] ARGUMENT...\n");
	for (int i = 0; commands[i]; i++)
		printf("  %-6s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nhalfulp-check COMMAND --help says more; --version names this build. Everything else is halfulp's.");
	return HU_EXIT_OK;
}

int
main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";

	hu_allocators_set();
	hu_threads_settle(argv);
	if (hu_simd_from_env() != HU_OK || hu_limit_stack() != HU_OK)
		return hu_complain(HU_EUNABLE);
	hu_command_register(commands);
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return hu_stdout_end(help());
	if (!strcmp(word, "--version")) {
		printf("halfulp-check %s\n", hu_build_version());
		return hu_stdout_end(HU_EXIT_OK);
	}
	const hu_command *c = hu_command_find(word);
	return c ? hu_command_main(c, argc - 1, argv + 1)
		 : hu_complain(hu_fail(HU_EINVAL,
			   "'%s' is no command of halfulp-check, which has check and diff; halfulp has the others",
			   word));
}
