/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/page.h"

#include "lib/base/console/addition.h"
#include "lib/base/show.h"
#include "lib/base/console/spec.h"

#include <stdio.h>
#include <string.h>

void
hu_page_print(const hu_command *c)
{
	const hu_page *p = hu_pages;
	int n = 1; /* every command has --max-memory */

	while (p->command && strcmp(p->command, c->name))
		p++;
	if (!p->command) {
		hu_command_help(c);
		return;
	}
	for (const hu_opt *o = hu_command_opts(c); o->name; o++)
		n += !hu_spec_is_key(o);
	fputs(p->text, stdout);
	printf("All %d options, and what they mean: halfulp help %s --all.\n", n, c->name);
}

hu_status
hu_page_option(const hu_command *c, const char *option, int (*reads)(const char *row))
{
	const hu_opt *opts = hu_command_opts(c), *o = opts;

	while (o->name && (hu_spec_is_key(o) || strcmp(o->name, option)))
		o++;
	if (!o->name)
		return hu_fail(HU_EINVAL, "help %s %s: %s has no option --%s; halfulp help %s --all lists them",
			c->name, hu_shown(option), c->name, hu_shown(option), c->name);
	printf("--%s%s%s: %s", o->name, o->arg ? " " : "", o->arg ? o->arg : "", o->help);
	printf(o->def ? " [%s]\n" : "\n", o->def);
	hu_command_help_keys(opts, option, reads);
	return HU_OK;
}
