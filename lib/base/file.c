/* SPDX-License-Identifier: Apache-2.0
   Reads and writes whole files (file.h). */
#define _XOPEN_SOURCE 700
#include "lib/base/file.h"

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
	FILE *f = fopen(path, "rb");
	size_t cap = 1 << 16, n = 0;
	struct stat st;

	if (!f)
		return hu_fail(HU_EFILE, "%s: %s", path, strerror(errno));
	if (!fstat(fileno(f), &st) && S_ISDIR(st.st_mode)) {
		fclose(f);
		return hu_fail(HU_EFILE, "%s: this is a directory, and a file was expected", path);
	}
	if (st.st_size > 0)
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
		return hu_fail(HU_EFILE, "%s: the file cannot be read", path);
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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), regular;

	*bytes = NULL;
	*n = 0;
	if (fd < 0)
		return hu_fail(HU_EFILE, "%s: cannot be opened: %s", path, strerror(errno));
	regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (regular && st.st_size > 0)
		*bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int failed = errno;
	close(fd);
	if (!regular)
		return hu_fail(HU_EFILE, "%s: it is not a regular file", path);
	if (*bytes == MAP_FAILED) {
		*bytes = NULL;
		return hu_fail(HU_EFILE, "%s: cannot be mapped: %s", path, strerror(failed));
	}
	*n = (size_t)st.st_size;
	return HU_OK;
}

void
hu_file_unmap(void *bytes, size_t n)
{
	if (bytes)
		munmap(bytes, n);
}

hu_status
hu_outfile_open(hu_outfile *o, const char *path)
{
	struct stat st;
	char real[PATH_MAX];
	int there = !stat(path, &st);

	/* A symbolic link's target is replaced, not the link. A pipe or a device is written to directly. */
	o->path = hu_xstrdup(there && realpath(path, real) ? real : path);
	o->temp = there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)
			  ? NULL
			  : hu_xprintf("%s.tmp.%ld", o->path, (long)getpid());
	errno = EISDIR;
	o->f = there && S_ISDIR(st.st_mode) ? NULL : fopen(o->temp ? o->temp : o->path, "wb");
	if (o->f)
		return HU_OK;
	hu_fail(HU_EIO, "%s: cannot be written: %s", path, strerror(errno));
	free(o->path);
	free(o->temp);
	return HU_EIO;
}

/* Releases o, and removes the temporary file where st is a failure. Returns st. */
static hu_status
end(hu_outfile *o, hu_status st)
{
	if (st != HU_OK && o->temp)
		unlink(o->temp);
	free(o->path);
	free(o->temp);
	memset(o, 0, sizeof *o);
	return st;
}

hu_status
hu_outfile_commit(hu_outfile *o)
{
	int bad = ferror(o->f) | fflush(o->f), why = errno;

	if (!bad && fsync(fileno(o->f)) && errno != EINVAL && errno != EROFS) {
		bad = 1;
		why = errno;
	}
	if (fclose(o->f) && !bad) {
		bad = 1;
		why = errno;
	}
	if (!bad && o->temp && rename(o->temp, o->path)) {
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

hu_status
hu_make_dirs(const char *path)
{
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

int
hu_exists(const char *path)
{
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
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
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
