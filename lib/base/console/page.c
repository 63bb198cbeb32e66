/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/page.h"

#include "lib/base/console/addition.h"

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
		n++;
	fputs(p->text, stdout);
	printf("All %d options, and what they mean: halfulp help %s --all.\n", n, c->name);
}
