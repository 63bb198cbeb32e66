/* SPDX-License-Identifier: Apache-2.0
   Guarded folders (guard.h): each part of a path below one is opened by itself, relative to the one before it. */
#define _XOPEN_SOURCE 700
#include "lib/base/guard/guard.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

static struct {
	char **dir;
	int n, cap;
} guarded;

void
hu_guard(const char *dir)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	for (int i = 0; i < guarded.n; i++)
		if (strlen(guarded.dir[i]) == n && !strncmp(guarded.dir[i], dir, n))
			return;
	HU_GROW(guarded.dir, guarded.n, guarded.cap);
	guarded.dir[guarded.n++] = hu_xprintf("%.*s", (int)n, dir);
}

/* Returns how much of path names the outermost guarded folder that it lies below, 0 where it lies below none. */
static size_t
root_of(const char *path)
{
	size_t least = 0;

	for (int i = 0; i < guarded.n; i++) {
		size_t n = strlen(guarded.dir[i]);
		if ((!least || n < least) && !strncmp(path, guarded.dir[i], n) && path[n] == '/' &&
			path[n + strspn(path + n, "/")])
			least = n;
	}
	return least;
}

int
hu_guard_holds(const char *path)
{
	return root_of(path) > 0;
}

hu_status
hu_guard_status(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EACCES:
	case EPERM:
	case ELOOP:
	case ENAMETOOLONG:
	case ENXIO:
	case ENODEV:
	case EINVAL:
	case EOVERFLOW:
	case EFBIG: return HU_EFILE;
	}
	return HU_EIO;
}

void
hu_guard_note(const char *what)
{
	if (errno && hu_guard_status(errno) == HU_EIO)
		hu_fail(HU_EIO, "%s: %s", what, strerror(errno));
}

hu_status
hu_guard_in_the_way(const char *path, size_t upto)
{
	return hu_fail(HU_EFILE,
		"%.*s is a symbolic link or no folder, and in a run directory nothing is read or written through one: "
		"put a folder there, or a copy of what it leads to",
		(int)upto, path);
}

/* Opens the folder `name` in the folder fd, which it closes, and makes it first if `make` is set. path is for the
   message, of which the first upto bytes name the folder. */
static hu_status
descend(int *fd, const char *name, int make, const char *path, size_t upto)
{
	int next = -1, why = 0;

	if (make && mkdirat(*fd, name, 0777) && errno != EEXIST)
		why = errno;
	else if ((next = openat(*fd, name, FOLDER | O_NOFOLLOW)) < 0)
		why = errno;
	close(*fd);
	*fd = next;
	if (next >= 0)
		return HU_OK;
	if (why == ELOOP || why == ENOTDIR)
		return hu_guard_in_the_way(path, upto);
	return hu_fail(make ? HU_EIO : hu_guard_status(why), "%.*s: %s", (int)upto, path, strerror(why));
}

/* Opens the folder that the last part of path lies in, or, if `whole` is set, path itself; `make` is as above. */
static hu_status
walk(const char *path, size_t root, int whole, int make, int *fd, const char **leaf)
{
	char *at = hu_xprintf("%.*s", (int)root, path);
	hu_status st = HU_OK;

	*fd = open(at, FOLDER);
	if (*fd < 0)
		st = hu_fail(hu_guard_status(errno), "%s: %s", at, strerror(errno));
	free(at);
	for (const char *s = path + root; st == HU_OK;) {
		s += strspn(s, "/");
		size_t n = strcspn(s, "/");
		*leaf = s;
		if (!n || (!whole && !s[n + strspn(s + n, "/")]))
			break;
		char *name = hu_xprintf("%.*s", (int)n, s);
		st = descend(fd, name, make, path, (size_t)(s - path) + n);
		free(name);
		s += n;
	}
	return st;
}

hu_status
hu_guard_parent(const char *path, int *fd, const char **leaf)
{
	size_t root = root_of(path);
	const char *stroke = strrchr(path, '/');

	if (root)
		return walk(path, root, 0, 0, fd, leaf);
	*leaf = stroke ? stroke + 1 : path;
	char *dir = !stroke          ? hu_xstrdup(".")
		    : stroke == path ? hu_xstrdup("/")
				     : hu_xprintf("%.*s", (int)(stroke - path), path);
	*fd = open(dir, FOLDER);
	hu_status st = *fd < 0 ? hu_fail(HU_EIO, "%s: cannot be written: %s", path, strerror(errno)) : HU_OK;
	free(dir);
	return st;
}

char *
hu_guard_root(const char *path)
{
	return hu_xprintf("%.*s", (int)root_of(path), path);
}

hu_status
hu_guard_make_dirs(const char *path)
{
	const char *leaf;
	int fd = -1;
	hu_status st = walk(path, root_of(path), 1, 1, &fd, &leaf);

	if (fd >= 0)
		close(fd);
	return st;
}
