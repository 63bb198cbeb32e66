/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/guard/inherited.h"

#include "lib/base/bug.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

void
hu_inherited_settle(void)
{
	/* A stream is opened for what nobody does with it, except that standard error may be written to. */
	static const int how[] = { O_WRONLY, O_RDONLY, O_WRONLY };
	static const char line[] =
		"halfulp: a standard stream is closed, and /dev/null cannot be opened in its place\n";

	signal(SIGCHLD, SIG_DFL);
	/* open() takes the lowest number that is free, which is this one: those below are open. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", how[fd]) != fd)
			hu_bug_end(HU_EXIT_ENV, line, sizeof line - 1);
}
