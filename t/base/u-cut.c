/* SPDX-License-Identifier: Apache-2.0
   A mapped file that is cut short while it is read ends the program with a line that names it, and exit 4; any other
   SIGBUS is left as it is.
   Promise: A mapped file that is cut short while it is read ends the program with a line that names it. */
#define _GNU_SOURCE
#include "lib/base/bug.h"
#include "lib/base/file.h"
#include "t/tool/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 1 << 16 };

/* Maps the file in a child, which cuts it and then reads it, after it was unmapped where `forget` is set and is mapped
   without the library. Returns how the child ended; its standard error is in said. */
static int
ending(const char *path, int forget, char *said, size_t room)
{
	int ends[2], status;
	char *bytes = calloc(1, PAGES);

	if (!bytes || hu_file_write(path, bytes, PAGES) != HU_OK || pipe(ends))
		bail_out("no file to map");
	free(bytes);
	pid_t pid = fork();
	if (!pid) {
		void *map;
		size_t n;
		dup2(ends[1], 2);
		if (hu_file_map(path, &map, &n) != HU_OK)
			_exit(100);
		if (forget) {
			int fd = open(path, O_RDONLY);
			hu_file_unmap(map, n);
			map = mmap(map, n, PROT_READ, MAP_PRIVATE, fd, 0);
		}
		volatile const char *p = map;
		if (truncate(path, 1))
			_exit(101);
		_exit(p[PAGES - 1]);
	}
	close(ends[1]);
	ssize_t got = read(ends[0], said, room - 1);
	said[got > 0 ? got : 0] = 0;
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bail_out("no child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int
main(void)
{
	char *path = hu_path(test_dir(), "f\n"), said[600];
	int code = ending(path, 0, said, sizeof said);

	ok(code == HU_EXIT_ENV, "a mapped file that is cut while it is read: exit %d", code);
	ok(strstr(said, "f\\n was cut short, or its disk failed") && strchr(said, '\n') == said + strlen(said) - 1,
		"one line that names it: %s", said);
#ifdef __SANITIZE_ADDRESS__
	skip(1, "the sanitizer answers signals by itself");
#else
	code = ending(path, 1, said, sizeof said);
	ok(code == -SIGBUS, "what the library has not mapped is not its own: %d", code);
#endif
	free(path);
	return done_testing();
}
