/* SPDX-License-Identifier: Apache-2.0
   peak COMMAND …: runs it and says on standard error what it took: seconds of wall clock, of the
   processors, and the largest resident set in kilobytes, separated by tabs. Exits as the command does. */
#include "lib/base/terminal/progress.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage u;
	int status = 0;
	double start = hu_now();

	if (argc < 2) {
		fprintf(stderr, "peak: a command is needed\n");
		return 2;
	}
	pid_t p = fork();
	if (p == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(4);
	}
	if (p < 0 || wait4(p, &status, 0, &u) != p) {
		perror("peak");
		return 4;
	}
	fprintf(stderr, "%.3f\t%.3f\t%ld\n", hu_now() - start,
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec),
		u.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
