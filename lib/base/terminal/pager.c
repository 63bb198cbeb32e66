/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/terminal/pager.h"

#include "lib/base/terminal/fitted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *pager;
static int terminal = -1;

void
hu_pager_begin(void)
{
	const char *asked = getenv("PAGER");
	char columns[24];

	if (pager || !isatty(STDOUT_FILENO) || (asked && (!*asked || !strcmp(asked, "cat"))))
		return;
	/* lines are as wide as the terminal, which a pipe to the pager does not know */
	snprintf(columns, sizeof columns, "%zu", hu_fitted_width());
	setenv("COLUMNS", columns, 1);
	fflush(stdout);
	pager = popen(asked ? asked : "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi", "w");
	if (!pager)
		return;
	terminal = dup(STDOUT_FILENO);
	if (terminal >= 0 && dup2(fileno(pager), STDOUT_FILENO) >= 0)
		return;
	if (terminal >= 0)
		close(terminal);
	pclose(pager);
	pager = NULL;
}

void
hu_pager_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	dup2(terminal, STDOUT_FILENO);
	close(terminal);
	pclose(pager);
	pager = NULL;
}
