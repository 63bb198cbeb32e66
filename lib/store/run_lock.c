/* SPDX-License-Identifier: Apache-2.0
   Only the process that holds the kernel's lock on RUN/halfulp.lock may write a run directory. The kernel releases the
   lock when that process ends, however it ends, so a file that a killed process left behind blocks nobody. */
#include "lib/store/run_lock.h"

#include "lib/base/file.h"
#include "lib/base/guard/guard.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file system without locks (ENOLCK, ENOTSUP, ...) blocks nobody either: only EWOULDBLOCK means that another process
   holds the lock. */
static int
taken(int fd, int how)
{
	int r;

	while ((r = flock(fd, how | LOCK_NB)) && errno == EINTR)
		;
	return r && errno == EWOULDBLOCK;
}

/* The holder writes its process number and machine into the file. */
static hu_status
busy(int fd, const char *dir)
{
	char who[160] = "";
	ssize_t n = pread(fd, who, sizeof who - 1, 0);

	who[n > 0 ? n : 0] = 0;
	who[strcspn(who, "\n")] = 0;
	if (!taken(fd, LOCK_SH)) /* readers share the lock, so if this succeeds the holder is a reader */
		return hu_fail(HU_EIO, "%s is being read by another halfulp: try again when that one has ended", dir);
	return hu_fail(HU_EIO, "%s is being trained by %s: wait for its end, or choose another directory", dir,
		*who ? who : "another halfulp");
}

/* Returns 1 if the name still refers to the open file, that is if its last holder did not remove it meanwhile; -1 with
   errno set where the system does not say: asking it once more could go on for ever. */
static int
still_there(int fd, const char *path)
{
	struct stat a, b;

	if (fstat(fd, &a))
		return -1;
	if (stat(path, &b))
		return errno == ENOENT ? 0 : -1;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void
sign(int fd)
{
	char host[100] = "", line[160];

	if (gethostname(host, sizeof host - 1))
		strcpy(host, "this machine");
	int n = snprintf(line, sizeof line, "process %ld on %s\n", (long)getpid(), host);
	if (ftruncate(fd, 0) || pwrite(fd, line, (size_t)n, 0) != n)
		return; /* a full disk loses the holder's name but not the lock */
}

/* Opens the lock file. One that is a link, a FIFO or a device is nobody's lock: it could lead to a file of someone's,
   or block for ever. */
static hu_status
open_lock(const char *path, int flags, int *fd)
{
	struct stat s = { 0 };

	*fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (*fd < 0 && errno != ELOOP)
		return hu_fail(errno == ENXIO ? HU_EFILE : HU_EIO, "%s: cannot be %s: %s", path,
			flags & O_CREAT ? "made" : "opened", strerror(errno));
	int bad = *fd >= 0 ? fstat(*fd, &s) : 0, why = errno;
	if (*fd >= 0 && !bad && S_ISREG(s.st_mode))
		return HU_OK;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (bad)
		return hu_fail(HU_EIO, "%s: %s", path, strerror(why));
	return hu_fail(HU_EFILE, "%s is no regular file, so that it locks nothing: remove it", path);
}

hu_status
hu_run_lock_write(hu_run_lock *l, const char *dir)
{
	char *path = hu_path(dir, HU_RUN_LOCK);
	int made = !hu_exists(dir), fd, there;

	memset(l, 0, sizeof *l);
	hu_guard(dir);
	hu_status st = hu_make_dirs(dir);
	while (st == HU_OK) {
		if ((st = open_lock(path, O_RDWR | O_CREAT, &fd)) != HU_OK)
			break;
		if (taken(fd, LOCK_EX)) {
			st = busy(fd, dir);
			close(fd);
		} else if ((there = still_there(fd, path)) < 0) {
			st = hu_fail(HU_EIO, "%s: %s", path, strerror(errno));
			close(fd);
		} else if (there) {
			sign(fd);
			*l = (hu_run_lock){
				.held = 1, .writes = 1, .made = made, .fd = fd, .dir = hu_xstrdup(dir), .path = path
			};
			return HU_OK;
		} else {
			close(fd);
		}
	}
	if (made)
		rmdir(dir);
	free(path);
	return st;
}

hu_status
hu_run_lock_read(hu_run_lock *l, const char *dir)
{
	char *path = hu_path(dir, HU_RUN_LOCK);
	int fd = -1;
	struct stat s;

	memset(l, 0, sizeof *l);
	hu_guard(dir);
	/* a lock that this user may not read is one of another's, who lets others read the run all the same */
	hu_status st = lstat(path, &s) ? HU_OK : open_lock(path, O_RDONLY, &fd);
	free(path);
	if (st == HU_EFILE)
		return st;
	if (fd < 0)
		return HU_OK;
	if (taken(fd, LOCK_SH)) {
		st = busy(fd, dir);
		close(fd);
		return st;
	}
	*l = (hu_run_lock){ .held = 1, .fd = fd };
	return HU_OK;
}

void
hu_run_unlock(hu_run_lock *l)
{
	if (l->held && l->writes) {
		/* while the lock is held, so that whoever waits on the old file sees that its name is gone */
		unlink(l->path);
		if (l->made)
			rmdir(l->dir); /* a run with anything in it is not removed */
	}
	if (l->held)
		close(l->fd);
	free(l->path);
	free(l->dir);
	memset(l, 0, sizeof *l);
}
