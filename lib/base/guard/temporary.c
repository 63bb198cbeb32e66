/* SPDX-License-Identifier: Apache-2.0
   Makes and sweeps temporary files (temporary.h), and keeps a list of those that this process is writing. */
#define _GNU_SOURCE
#include "lib/base/guard/temporary.h"

#include "lib/base/guard/input.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_TRIES = 1000 };

typedef struct temporary {
	struct temporary *next;
	int folder;    /* it is a folder, which dir and fd are open on */
	int dir, fd;   /* fd holds the lock until the file has its final name, though its writer has closed it */
	pid_t process; /* a child inherits the list, but not the files */
	char name[];
} temporary;

/* Removes all that is in the folder that fd is open on, and what is in its folders. It asks for no memory. */
static void
empty(int fd, int depth)
{
#ifdef __linux__
	struct entry {
		uint64_t ino;
		int64_t off;
		uint16_t length;
		uint8_t type;
		char name[];
	} * e;
	char room[4096] __attribute__((aligned(8)));
	long n;

	lseek(fd, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, fd, room, sizeof room)) > 0)
		for (long at = 0; at < n; at += e->length) {
			e = (struct entry *)(room + at);
			if (!strcmp(e->name, ".") || !strcmp(e->name, "..") || !unlinkat(fd, e->name, 0))
				continue;
			int inner = depth ? openat(fd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
			if (inner < 0)
				continue;
			empty(inner, depth - 1);
			close(inner);
			unlinkat(fd, e->name, AT_REMOVEDIR);
		}
#else
	(void)fd, (void)depth; /* the folder stays until someone removes it */
#endif
}

enum { DEPTH = 3 }; /* of folders in a folder that is made for a while */

static temporary *being_written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The end of the program, on whichever thread: where another one holds the list, its files wait for the next sweep. */
static void
remove_all(void)
{
	if (pthread_mutex_trylock(&lock))
		return;
	for (temporary *t = being_written; t; t = t->next)
		if (t->process == getpid() && t->folder) {
			empty(t->fd, DEPTH);
			rmdir(t->name);
		} else if (t->process == getpid()) {
			unlinkat(t->dir, t->name, 0);
		}
}

static void
remember(temporary *t)
{
	pthread_mutex_lock(&lock);
	t->next = being_written;
	being_written = t;
	hu_bug_at_end(remove_all);
	pthread_mutex_unlock(&lock);
}

/* Removes what is remembered of one. */
static void
forget(int folder, int dir, const char *name)
{
	temporary *found = NULL;

	pthread_mutex_lock(&lock);
	for (temporary **t = &being_written; *t && !found; t = &(*t)->next)
		if ((*t)->folder == folder && (folder || (*t)->dir == dir) && !strcmp((*t)->name, name)) {
			found = *t;
			*t = found->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (found)
		close(found->fd);
	free(found);
}

/* Whether the open file is still what the name refers to; -1 with errno set where the system does not say. */
static int
still_named(int fd, int dir, const char *name)
{
	struct stat a, b;

	if (fstat(fd, &a))
		return -1;
	if (fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -1;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Returns 0 where another process holds the lock. A file system without locks says nothing against it. */
static int
may_lock(int fd)
{
	int r;

	while ((r = flock(fd, LOCK_EX | LOCK_NB)) && errno == EINTR)
		;
	return !r || errno != EWOULDBLOCK;
}

/* Removes what a writer that has ended left behind. Only a file that the kernel locks for us is known to be such.
   Returns 0 where there is no such file. */
static int
remove_abandoned(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat s;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &s) && S_ISREG(s.st_mode) && !flock(fd, LOCK_EX | LOCK_NB) && still_named(fd, dir, name) > 0)
		unlinkat(dir, name, 0);
	close(fd);
	return 1;
}

/* Several processes that were writing the same file may have been killed: those behind name number n as well. */
static void
remove_behind(int dir, const char *leaf, int n)
{
	char name[NAME_MAX + 1];

	do
		n++;
	while (n < MOST_TRIES && snprintf(name, sizeof name, "%s.tmp.%d", leaf, n) <= NAME_MAX &&
		remove_abandoned(dir, name));
}

int
hu_temporary_make(int dir, const char *leaf, char **name)
{
	size_t room = strlen(leaf) + sizeof ".tmp.1000";
	temporary *t = hu_xmalloc(sizeof *t + room);
	int fd = -1, why = EEXIST;

	*t = (temporary){ .dir = dir, .process = getpid() };
	for (int n = 0; n < MOST_TRIES && fd < 0; n++) {
		snprintf(t->name, room, "%s.tmp.%d", leaf, n);
		remove_abandoned(dir, t->name);
		fd = openat(dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST) {
			why = errno;
			break;
		}
		/* between the two, another process may have found it unlocked and removed it */
		int named = fd < 0 ? 0 : may_lock(fd) ? still_named(fd, dir, t->name) : 0;
		why = errno;
		if (named > 0 && (t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0) {
			remove_behind(dir, leaf, n);
			break;
		}
		if (fd < 0)
			continue;
		if (named) {
			why = errno;
			unlinkat(dir, t->name, 0);
		}
		close(fd);
		fd = -1;
		if (named)
			break;
	}
	if (fd < 0) {
		free(t);
		errno = why;
		return -1;
	}
	remember(t);
	*name = hu_xstrdup(t->name);
	return fd;
}

void
hu_temporary_done(int dir, const char *name)
{
	forget(0, dir, name);
}

/* Removes the folder if no one holds its lock. Returns 0 where someone does. */
static int
remove_abandoned_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int gone = fd < 0;

	if (!gone && !flock(fd, LOCK_EX | LOCK_NB)) {
		empty(fd, DEPTH);
		gone = !rmdir(path);
	}
	if (fd >= 0)
		close(fd);
	return gone;
}

hu_status
hu_temporary_folder(char **path, const char *in)
{
	size_t room = strlen(in) + sizeof "/.new.1000";
	temporary *t = hu_xmalloc(sizeof *t + room);

	*t = (temporary){ .folder = 1, .dir = -1, .fd = -1, .process = getpid() };
	for (int n = 0; n < MOST_TRIES; n++) {
		snprintf(t->name, room, "%s/.new.%d", in, n);
		if (!remove_abandoned_folder(t->name))
			continue;
		if (mkdir(t->name, 0777)) {
			if (errno == EEXIST)
				continue;
			break;
		}
		t->fd = open(t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (t->fd >= 0 && may_lock(t->fd) && still_named(t->fd, AT_FDCWD, t->name) > 0) {
			remember(t);
			*path = hu_xstrdup(t->name);
			return HU_OK;
		}
		if (t->fd < 0)
			break;
		close(t->fd);
		t->fd = -1;
	}
	hu_status st = hu_fail(HU_EIO, "%s: cannot be made: %s", t->name, strerror(errno));
	if (t->fd < 0)
		rmdir(t->name);
	free(t);
	return st;
}

void
hu_temporary_folder_done(const char *path)
{
	forget(1, -1, path);
}

hu_status
hu_temporary_sweep(const char *folder)
{
	const struct dirent *e;
	DIR *d;

	HU_TRY(hu_input_folder(folder, &d));
	while (d && (e = hu_input_entry(d))) {
		const char *end = strstr(e->d_name, ".tmp.");
		if (end && end > e->d_name && end[5] && strspn(end + 5, "0123456789") == strlen(end + 5))
			remove_abandoned(dirfd(d), e->d_name);
	}
	if (d)
		closedir(d);
	return HU_OK;
}
