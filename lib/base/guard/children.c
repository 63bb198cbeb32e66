/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/guard/children.h"

#include "lib/base/bug.h"
#include "lib/base/terminal/progress.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

void
hu_end_with(pid_t parent)
{
#ifdef __linux__
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(HU_EXIT_ENV);
#endif
	if (getppid() != parent) /* it ended before it was said with whom this one ends */
		_exit(HU_EXIT_ENV);
}

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
