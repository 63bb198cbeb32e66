/* SPDX-License-Identifier: Apache-2.0
   Whether a piece of a test ends the program, as a broken promise must. */
#ifndef HU_T_ABORTS_H
#define HU_T_ABORTS_H

#include "lib/base/thread.h"
#include "t/tool/tap.h"

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[65536];
static int ended; /* the exit status of the last such process; -1 where a signal ended it */

/* Runs f(with) in a process of its own, on one thread because the parent's others do not live there. said gets its
   standard error. Returns 1 if it aborted. */
static int
aborts(void (*f)(void *), void *with)
{
	int fd[2], status;
	size_t n = 0;
	ssize_t got;

	if (pipe(fd))
		bail_out("pipe");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		dup2(fd[1], 2);
		close(fd[0]);
		close(fd[1]);
		omp_set_num_threads(1);
		hu_threads_set(1);
		f(with);
		_exit(0);
	}
	close(fd[1]);
	while ((got = read(fd[0], said + n, sizeof said - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(fd[0]);
	waitpid(child, &status, 0);
	ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
#endif
