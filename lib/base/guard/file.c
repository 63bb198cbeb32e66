/* SPDX-License-Identifier: Apache-2.0
   Reads and writes whole files (file.h). */
#define _XOPEN_SOURCE 700
#include "lib/base/file.h"

#include "lib/base/guard/cut.h"
#include "lib/base/failed.h"
#include "lib/base/guard/guard.h"
#include "lib/base/guard/input.h"
#include "lib/base/guard/temporary.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

hu_status
hu_file_read(const char *path, char **data, size_t *len)
{
	FILE *f;
	size_t cap = 1 << 16, n = 0;
	struct stat st = { .st_size = 0 };

	HU_TRY(hu_input_open(path, &f));
	if (!fstat(fileno(f), &st) && st.st_size > 0)
		cap = (size_t)st.st_size + 1;
	char *p = hu_xmalloc(cap);
	for (;;) {
		size_t got = fread(p + n, 1, cap - n - 1, f);
		n += got;
		if (!got)
			break;
		if (n + 1 == cap)
			p = hu_xrealloc(p, cap *= 2);
	}
	if (ferror(f)) {
		free(p);
		fclose(f);
		return hu_fail(HU_EIO, "%s: the file cannot be read", path);
	}
	fclose(f);
	p[n] = 0;
	*data = p;
	*len = n;
	return HU_OK;
}

hu_status
hu_file_map(const char *path, void **bytes, size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*bytes = NULL;
	*n = 0;
	if (fd < 0)
		return hu_fail(hu_guard_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
	int known = !fstat(fd, &st), regular = known && S_ISREG(st.st_mode);
	if (regular && st.st_size > 0)
		*bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int failed = errno;
	close(fd);
	if (!known)
		return hu_fail(hu_guard_status(failed), "%s: %s", path, strerror(failed));
	if (!regular)
		return hu_fail(HU_EFILE, "%s: it is not a regular file", path);
	if (*bytes == MAP_FAILED) {
		*bytes = NULL;
		return hu_fail(failed == ENOMEM ? HU_ENOMEM : HU_EIO, "%s: cannot be mapped: %s", path,
			strerror(failed)); /* the file may be as good as any */
	}
	*n = (size_t)st.st_size;
	if (*bytes)
		hu_cut_watch(*bytes, *n, path);
	return HU_OK;
}

void
hu_file_unmap(void *bytes, size_t n)
{
	if (!bytes)
		return;
	hu_cut_forget(bytes);
	munmap(bytes, n);
}

static void
release(hu_outfile *o)
{
	if (o->temp)
		hu_temporary_done(o->folder, o->temp);
	if (o->folder >= 0)
		close(o->folder);
	free(o->path);
	free(o->temp);
	*o = (hu_outfile){ .folder = -1 };
}

hu_status
hu_outfile_open(hu_outfile *o, const char *path)
{
	struct stat st;
	char real[PATH_MAX];
	int below = hu_guard_holds(path), there = !(below ? lstat(path, &st) : stat(path, &st)), fd;

	/* A symbolic link's target is replaced, not the link. A pipe or a device is written to directly. Below a
	   guarded folder only a file is replaced. */
	*o = (hu_outfile){ .folder = -1 };
	if (there && (S_ISDIR(st.st_mode) || (below && !S_ISREG(st.st_mode))))
		return hu_fail(HU_EIO, "%s: cannot be written: %s", path,
			S_ISDIR(st.st_mode) ? strerror(EISDIR)
					    : "no regular file is there, and a run directory holds nothing else");
	o->path = hu_xstrdup(there && !below && realpath(path, real) ? real : path);
	if (there && !S_ISREG(st.st_mode)) {
		o->f = fopen(o->path, "wbe");
		if (o->f)
			return HU_OK;
	} else {
		hu_status found = hu_guard_parent(o->path, &o->folder, &o->leaf);
		if (found != HU_OK) {
			free(o->path);
			return found;
		}
		fd = hu_temporary_make(o->folder, o->leaf, &o->temp);
		o->f = fd < 0 ? NULL : fdopen(fd, "wb");
		if (o->f)
			return HU_OK;
		int why = errno;
		if (fd >= 0) {
			close(fd);
			unlinkat(o->folder, o->temp, 0);
		}
		errno = why;
	}
	hu_fail(HU_EIO, "%s: cannot be written: %s", path, strerror(errno));
	release(o);
	return HU_EIO;
}

/* Releases o, and removes the temporary file where st is a failure. Returns st. */
static hu_status
end(hu_outfile *o, hu_status st)
{
	if (st != HU_OK && o->temp)
		unlinkat(o->folder, o->temp, 0);
	release(o);
	return st;
}

hu_status
hu_outfile_commit(hu_outfile *o)
{
	const char *earlier;
	int bad = ferror(o->f) | fflush(o->f), why = errno;

	/* what failed in passing may be missing in the file */
	if (o->temp && hu_failed(&earlier)) {
		fclose(o->f);
		return end(o, hu_fail(HU_EIO, "%s", earlier));
	}

	if (!bad && fsync(fileno(o->f)) && errno != EINVAL && errno != EROFS) {
		bad = 1;
		why = errno;
	}
	if (fclose(o->f) && !bad) {
		bad = 1;
		why = errno;
	}
	if (!bad && o->temp && renameat(o->folder, o->temp, o->folder, o->leaf)) {
		bad = 1;
		why = errno;
	}
	/* the new name is on the disk too; not every file system can say so */
	if (!bad && o->temp && fsync(o->folder) && errno == EIO) {
		bad = 1;
		why = errno;
	}
	if (bad)
		return end(o, hu_fail(HU_EIO, "%s: cannot be written: %s", o->path, strerror(why)));
	return end(o, HU_OK);
}

void
hu_outfile_abandon(hu_outfile *o)
{
	fclose(o->f);
	end(o, HU_EIO);
}

hu_status
hu_file_write(const char *path, const void *data, size_t n)
{
	hu_outfile o;

	HU_TRY(hu_outfile_open(&o, path));
	fwrite(data, 1, n, o.f);
	return hu_outfile_commit(&o);
}

static hu_status
make_dirs(const char *path)
{
	if (strlen(path) >= PATH_MAX) /* else thousands of its folders would be made before one cannot be */
		return hu_fail(HU_EIO, "%s: cannot be made: %s", path, strerror(ENAMETOOLONG));
	char *p = hu_xstrdup(path);

	for (char *s = p + 1;; s++) {
		if (*s != '/' && *s)
			continue;
		char c = *s;
		*s = 0;
		if (mkdir(p, 0777) && errno != EEXIST) {
			hu_fail(HU_EIO, "%s: cannot be made: %s", p, strerror(errno));
			free(p);
			return HU_EIO;
		}
		*s = c;
		if (!c)
			break;
	}
	free(p);
	return HU_OK;
}

hu_status
hu_make_dirs(const char *path)
{
	if (!hu_guard_holds(path))
		return make_dirs(path);
	char *root = hu_guard_root(path);
	hu_status st = make_dirs(root);
	free(root);
	return st == HU_OK ? hu_guard_make_dirs(path) : st;
}

int
hu_exists_in(const char *folder, const char *name)
{
	char *path = hu_path(folder, "%s", name);
	int is = hu_exists(path);

	free(path);
	return is;
}

int
hu_exists(const char *path)
{
	if (access(path, F_OK) == 0)
		return 1;
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	hu_guard_note(path);
	return 1;
}

const char *
hu_file_leaf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6) ? slash + 1 : path;
}

char *
hu_path(const char *dir, const char *name, ...)
{
	va_list ap;
	char rest[1024];

	va_start(ap, name);
	vsnprintf(rest, sizeof rest, name, ap);
	va_end(ap);
	return hu_xprintf("%s/%s", dir, rest);
}

static int
remove_one(const char *path, const struct stat *s, int what, struct FTW *f)
{
	(void)s, (void)what, (void)f;
	return remove(path);
}

void
hu_remove_all(const char *folder)
{
	errno = 0;
	if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		hu_guard_note(folder);
}
