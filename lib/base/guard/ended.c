/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/guard/ended.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A signal may come while a line is written: it finds the other one whole. */
static struct words {
	char line[1026], where[4096];
} words[2];
static _Atomic(const struct words *) said;

/* Calls nothing but what POSIX allows in a signal's handler. */
static void
say(int number)
{
	const struct words *w = atomic_exchange(&said, NULL);
	int written = w && (!*w->where || !access(w->where, F_OK));

	if (written && write(2, w->line, strlen(w->line)) < 0)
		written = 0;
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
hu_ended_says(const char *line, const char *where)
{
	struct words *free_one = &words[atomic_load(&said) == &words[0]];

	if (!line) {
		atomic_store(&said, NULL);
		return;
	}
	/* A bar may stand in the line of a terminal. */
	snprintf(free_one->line, sizeof free_one->line, "%s%.1023s\n", isatty(2) ? "\n" : "", line);
	snprintf(free_one->where, sizeof free_one->where, "%s", where ? where : "");
	atomic_store(&said, free_one);
	listen(SIGTERM);
	listen(SIGINT);
	listen(SIGXCPU);
}
