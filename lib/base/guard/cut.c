/* SPDX-License-Identifier: Apache-2.0
   Keeps a list of mapped files, and answers SIGBUS (cut.h). */
#define _GNU_SOURCE
#include "lib/base/guard/cut.h"

#include "lib/base/bug.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mapped file, with the line that is said of it. What was entered is never freed: the handler may be reading it. */
typedef struct mapped {
	struct mapped *next;
	const char *volatile p;
	size_t n;
	char line[];
} mapped;

static mapped *volatile all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
cut(int sig, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;

	(void)context;
	for (const mapped *m = all; m; m = m->next)
		if (m->p && at >= m->p && at < m->p + m->n)
			hu_bug_end(HU_EXIT_ENV, m->line, strlen(m->line));
	signal(sig, SIG_DFL); /* none of ours: the instruction runs again, and the signal ends the program */
}

void
hu_cut_watch(const void *p, size_t n, const char *path)
{
	static int watching;
	struct sigaction act = { .sa_sigaction = cut, .sa_flags = SA_SIGINFO };
	char *line = hu_xprintf("halfulp: %s was cut short, or its disk failed, while it was read: run this again when "
				"nothing writes the file\n",
		hu_shown(path));
	mapped *m = hu_xmalloc(sizeof *m + strlen(line) + 1);

	strcpy(m->line, line);
	free(line);
	m->p = p;
	m->n = n;
	pthread_mutex_lock(&lock);
	if (!watching)
		watching = !sigaction(SIGBUS, &act, NULL);
	m->next = all;
	all = m;
	pthread_mutex_unlock(&lock);
}

void
hu_cut_forget(const void *p)
{
	pthread_mutex_lock(&lock);
	for (mapped *m = all; m; m = m->next)
		if (m->p == p)
			m->p = NULL;
	pthread_mutex_unlock(&lock);
}
