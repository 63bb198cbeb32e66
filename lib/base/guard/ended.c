/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/guard/ended.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A signal may come while a line is written: it finds the other one whole. */
static char lines[2][1026];
static _Atomic(const char *) said;

/* Calls nothing but what POSIX allows in a signal's handler. */
static void
say(int number)
{
	const char *line = atomic_exchange(&said, NULL);

	if (line && write(2, line, strlen(line)) < 0)
		line = NULL;
	signal(number, SIG_DFL);
	raise(number);
}

static void
listen(int number)
{
	struct sigaction now, ours = { .sa_handler = say };

	if (!sigaction(number, NULL, &now) && now.sa_handler == SIG_DFL)
		sigaction(number, &ours, NULL);
}

void
hu_ended_says(const char *line)
{
	char *free_one = lines[atomic_load(&said) == lines[0]];

	if (!line) {
		atomic_store(&said, NULL);
		return;
	}
	/* A bar may stand in the line of a terminal. */
	snprintf(free_one, sizeof lines[0], "%s%.1023s\n", isatty(2) ? "\n" : "", line);
	atomic_store(&said, free_one);
	listen(SIGTERM);
	listen(SIGINT);
	listen(SIGXCPU);
}
