/* SPDX-License-Identifier: Apache-2.0
   Opens files and folders for reading (input.h). */
#define _XOPEN_SOURCE 700
#include "lib/base/guard/input.h"

#include "lib/base/guard/guard.h"

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

hu_status
hu_input_open(const char *path, FILE **f)
{
	struct stat s;
	int fd, below = hu_guard_holds(path);

	*f = NULL;
	if (below)
		HU_TRY(open_below(path, 0, &fd));
	else if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return hu_fail(hu_guard_status(errno), "%s: %s", path, strerror(errno));
	hu_status st = HU_OK;
	if (fstat(fd, &s))
		st = hu_fail(HU_EIO, "%s: %s", path, strerror(errno));
	else if (S_ISDIR(s.st_mode))
		st = hu_fail(HU_EFILE, "%s: this is a directory, and a file was expected", path);
	else if (below && !S_ISREG(s.st_mode))
		st = hu_fail(HU_EFILE, "%s is no regular file, and a run directory holds nothing else", path);
	else if (!(*f = fdopen(fd, "rb")))
		st = hu_fail(HU_EIO, "%s: %s", path, strerror(errno));
	if (st != HU_OK)
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
