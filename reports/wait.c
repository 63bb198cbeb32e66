/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/wait.h"

#include "lib/base/terminal/progress.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

int
hu_wait_for(pid_t pid, int seconds)
{
	const struct timespec pause = { 0, 5000000 };
	double begun = hu_now();
	int status, killed = 0;
	pid_t got;

	while ((got = waitpid(pid, &status, killed ? 0 : WNOHANG)) <= 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		if (!killed && hu_now() - begun > seconds)
			killed = !kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
	if (killed)
		return HU_WAIT_HANGS;
	return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? -WTERMSIG(status) : -1;
}
