/* SPDX-License-Identifier: Apache-2.0
   Options of commands as they are typed, for fuzz-specs.c. */
#include "t/fuzz/specs.h"

#include "lib/base/console/command.h"
#include "lib/base/bug.h"
#include "trainer/run/config.h"

#include <string.h>

/* One option with its value, as it is typed: --model=mlp:width=0.5. What is taken is what the command then has. */
static hu_status
option_of(const hu_command *c, const char *text, int is_training)
{
	char *argv[] = { (char *)c->name, (char *)text };
	const char *value = strchr(text, '=');
	hu_args a;
	hu_config k;

	if (strncmp(text, "--", 2) || !value || strchr(value, '@') || strchr(value, '/'))
		return hu_fail(HU_EINVAL, "no option with a value that names no file");
	hu_status st = hu_args_parse(&a, c->opts, 2, argv);
	if (st == HU_OK && is_training) {
		st = hu_config_from_args(&k, &a, "float32");
		if (st == HU_OK) {
			HU_ASSERT(k.row && k.optim.row);
			hu_config_release(&k);
		}
	}
	hu_args_release(&a);
	return st;
}

hu_status
spec_train_option(const char *text)
{
	extern const hu_command hu_cmd_train;

	return option_of(&hu_cmd_train, text, 1);
}

hu_status
spec_analyze_option(const char *text)
{
	extern const hu_command hu_cmd_analyze;

	return option_of(&hu_cmd_analyze, text, 0);
}

hu_status
spec_validate_option(const char *text)
{
	extern const hu_command hu_cmd_validate;

	return option_of(&hu_cmd_validate, text, 0);
}
