/* SPDX-License-Identifier: Apache-2.0
   Opens files and folders for reading (input.h). */
#define _XOPEN_SOURCE 700
#include "lib/base/guard/input.h"

#include "lib/base/guard/guard.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below a guarded folder: opens path, which must be of the kind that S_IFMT of a mode tells. */
static hu_status
open_below(const char *path, int flags, int *fd)
{
	const char *leaf;
	int dir = -1;
	hu_status st = hu_guard_parent(path, &dir, &leaf);

	*fd = -1;
	if (st == HU_OK) {
		*fd = openat(dir, leaf, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (*fd < 0 && (errno == ELOOP || errno == ENOTDIR))
			st = hu_guard_in_the_way(path, strlen(path));
		else if (*fd < 0)
			st = hu_fail(hu_guard_status(errno), "%s: %s", path, strerror(errno));
	}
	if (dir >= 0)
		close(dir);
	return st;
}

/* Pipes that were read, by the paths that named them: open files without a name that hold what they said. */
static struct {
	char *path[8];
	int fd[8], n;
} pipes;

enum { PIPES = sizeof pipes.fd / sizeof *pipes.fd };

/* Opens again what a pipe of that path said, from its start on; *fd is -1 where none was read. */
static hu_status
said(const char *path, int *fd)
{
	int i = 0;

	*fd = -1;
	while (i < pipes.n && strcmp(pipes.path[i], path))
		i++;
	if (i == pipes.n)
		return HU_OK;
	*fd = fcntl(pipes.fd[i], F_DUPFD_CLOEXEC, 0);
	if (*fd >= 0 && !lseek(*fd, 0, SEEK_SET))
		return HU_OK;
	hu_status st = hu_fail(HU_EIO, "%s: what this pipe said cannot be read again: %s", path, strerror(errno));
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return st;
}

enum { MOST_OF_A_PIPE = 1 << 30 }; /* bytes; a file may be larger */

/* Replaces *fd, which is open on a pipe, by a file that holds all that it says. */
static hu_status
keep_pipe(const char *path, int *fd)
{
	static char piece[1 << 16];
	FILE *f = pipes.n < PIPES ? tmpfile() : NULL;
	size_t all = 0, most = MOST_OF_A_PIPE;
	ssize_t got = 0;

	if (!f)
		return hu_fail(pipes.n < PIPES ? HU_EIO : HU_EINVAL, "%s: %s", path,
			pipes.n < PIPES ? strerror(errno) : "no more than 8 pipes are read");
	while (all <= most && ((got = read(*fd, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0) {
			all += (size_t)got;
			if (fwrite(piece, 1, (size_t)got, f) != (size_t)got)
				break;
		}
	int bad = got < 0 || ferror(f) | fflush(f);
	int kept = bad || all > most ? -1 : fcntl(fileno(f), F_DUPFD_CLOEXEC, 0), why = errno;
	fclose(f);
	if (kept < 0)
		return all > most
			       ? hu_fail(HU_EFILE, "%s: this pipe says more than %zu bytes: write a file", path, most)
			       : hu_fail(HU_EIO, "%s: %s", path, strerror(why));
	pipes.path[pipes.n] = hu_xstrdup(path);
	pipes.fd[pipes.n++] = kept;
	close(*fd);
	return said(path, fd);
}

hu_status
hu_input_open(const char *path, FILE **f)
{
	struct stat s;
	int fd, below = hu_guard_holds(path);

	*f = NULL;
	HU_TRY(below ? open_below(path, 0, &fd) : said(path, &fd));
	if (fd < 0 && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return hu_fail(hu_guard_status(errno), "%s: %s", path, strerror(errno));
	hu_status st = HU_OK;
	if (fstat(fd, &s))
		st = hu_fail(HU_EIO, "%s: %s", path, strerror(errno));
	else if (S_ISDIR(s.st_mode))
		st = hu_fail(HU_EFILE, "%s: this is a directory, and a file was expected", path);
	else if (below && !S_ISREG(s.st_mode))
		st = hu_fail(HU_EFILE, "%s is no regular file, and a run directory holds nothing else", path);
	else if (S_ISFIFO(s.st_mode))
		st = keep_pipe(path, &fd);
	if (st == HU_OK && !(*f = fdopen(fd, "rb")))
		st = hu_fail(HU_EIO, "%s: %s", path, strerror(errno));
	if (st != HU_OK && fd >= 0)
		close(fd);
	return st;
}

hu_status
hu_input_folder(const char *path, DIR **d)
{
	int fd = -1;

	*d = NULL;
	if (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return HU_OK;
	if (hu_guard_holds(path)) {
		HU_TRY(open_below(path, O_DIRECTORY, &fd));
		*d = fdopendir(fd);
	} else {
		*d = opendir(path);
	}
	if (*d)
		return HU_OK;
	if (fd >= 0)
		close(fd);
	return hu_fail(hu_guard_status(errno), "%s: %s", path, strerror(errno));
}

struct dirent *
hu_input_entry(DIR *d)
{
	errno = 0;
	struct dirent *e = readdir(d);

	if (!e)
		hu_guard_note("a folder cannot be read");
	return e;
}

int
hu_input_stat(const char *path, struct stat *s)
{
	int failed = stat(path, s);

	if (failed)
		hu_guard_note(path);
	return failed;
}
