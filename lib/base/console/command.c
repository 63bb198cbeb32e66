/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/console/command.h"

#include "lib/base/bug.h"
#include "lib/base/guard/children.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const hu_command *const *commands;

void
hu_command_register(const hu_command *const *all)
{
	commands = all;
}

const hu_command *
hu_command_find(const char *name)
{
	for (const hu_command *const *c = commands; c && *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

/* In the child. Does not return. */
static void
become(const hu_command *c, int argc, char **argv, int out, int err)
{
	int nowhere = out < 0 ? open("/dev/null", O_WRONLY) : out;

	if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(err, 2) < 0) {
		dprintf(err, "halfulp %s: its standard output cannot be directed: %s\n", c->name, strerror(errno));
		_exit(HU_EXIT_ENV);
	}
	close(err);
	exit(hu_bug_no_end(hu_command_main(c, argc, argv)));
}

/* Reads what the child says until it ends, keeps its last line that is not empty. */
static char *
listen(FILE *f, int say)
{
	char *line = NULL, *last = NULL;
	size_t room = 0;

	while (getline(&line, &room, f) > 0) {
		if (say)
			fputs(line, stderr);
		line[strcspn(line, "\n")] = 0;
		if (!*line)
			continue;
		free(last);
		last = hu_xstrdup(line);
	}
	free(line);
	return last ? last : hu_xstrdup("");
}

/* "halfulp train: x is wrong" says "x is wrong". */
static void
shorten(char *reason, const char *name)
{
	char *head = hu_xprintf("halfulp %s: ", name);

	if (!strncmp(reason, head, strlen(head)))
		memmove(reason, reason + strlen(head), strlen(reason + strlen(head)) + 1);
	free(head);
}

hu_status
hu_command_run(hu_command_end *end, int argc, char **argv, int out, int say)
{
	const hu_command *c = hu_command_find(argv[0]);
	int ends[2], status;

	HU_ASSERT(c);
	*end = (hu_command_end){ .code = HU_EXIT_ENV };
	if (pipe(ends))
		return hu_fail(HU_EUNABLE, "halfulp %s could not be started: %s", argv[0], strerror(errno));
	fflush(NULL);
	FILE *from = fdopen(ends[0], "r");
	pid_t self = getpid(), pid = from ? fork() : -1;
	if (pid < 0) {
		hu_fail(HU_EUNABLE, "halfulp %s could not be started: %s", argv[0], strerror(errno));
		if (from)
			fclose(from);
		else
			close(ends[0]);
		close(ends[1]);
		return HU_EUNABLE;
	}
	if (!pid) {
		hu_end_with(self);
		close(ends[0]);
		become(c, argc, argv, out, ends[1]);
	}
	close(ends[1]);
	end->reason = listen(from, say);
	int unread = ferror(from) || !feof(from);
	fclose(from);
	shorten(end->reason, argv[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return hu_fail(HU_EUNABLE, "halfulp %s cannot be waited for: %s", argv[0], strerror(errno));
	if (unread)
		return hu_fail(HU_EUNABLE, "what halfulp %s says could not be read", argv[0]);
	if (WIFEXITED(status)) {
		end->code = WEXITSTATUS(status);
		return HU_OK;
	}
	free(end->reason);
	end->reason = hu_xprintf(
		"halfulp %s was ended by signal %d (%s)", argv[0], WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (say)
		fprintf(stderr, "%s\n", end->reason);
	return HU_OK;
}
