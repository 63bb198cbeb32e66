/* SPDX-License-Identifier: Apache-2.0
   Gives out large arrays, in memory or in mapped files, and keeps a list of them, so that hu_room_free knows which
   is which. */
#include "lib/base/memory/room.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

enum { LEAST = 1 << 16 }; /* smaller arrays, in bytes, are not worth a file */

/* All arrays that were handed out and not yet freed. */
typedef struct piece {
	void *p;
	size_t bytes;
	int in_file;
} piece;
static piece *pieces;
static size_t count, room, in_memory, in_files, keep = (size_t)-1;
static const char *folder;

/* Returns the number in a file where it is less than most; else, and where there is no file or it says "max", most. */
static size_t
least_of(const char *path, size_t most)
{
	FILE *f = fopen(path, "r");
	unsigned long long n;

	if (!f)
		return most;
	if (fscanf(f, "%llu", &n) == 1 && n < most)
		most = (size_t)n;
	fclose(f);
	return most;
}

/* The least of most and the memory limits of the process's control group and of all groups above it. */
static size_t
group_limit(size_t most)
{
	FILE *f = fopen("/proc/self/cgroup", "r");
	char line[1024];

	while (f && fgets(line, sizeof line, f)) {
		char *group = strrchr(line, ':'), *end;
		int old = strstr(line, ":memory:") != NULL;
		if (!group || (!old && strncmp(line, "0::", 3)))
			continue;
		group[strcspn(group, "\n")] = 0;
		for (group++;; *end = 0) {
			char *path = hu_xprintf("/sys/fs/cgroup%s%s/%s", old ? "/memory" : "", group,
				old ? "memory.limit_in_bytes" : "memory.max");
			most = least_of(path, most);
			free(path);
			if (!(end = strrchr(group, '/')))
				break;
		}
	}
	if (f)
		fclose(f);
	return most;
}

static size_t limit; /* 0: not read yet */

void
hu_room_limit_changed(void)
{
	limit = 0;
}

size_t
hu_memory_limit(void)
{
	struct rlimit r;

	if (limit)
		return limit;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	size_t most = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
	most = group_limit(most);
	if (getrlimit(RLIMIT_DATA, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < most)
		most = (size_t)r.rlim_cur;
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < most)
		most = (size_t)r.rlim_cur;
	return limit = most ? most : 1;
}

void
hu_room_in(const char *dir)
{
	folder = dir;
}

void
hu_room_keep(size_t bytes)
{
	keep = bytes;
}

size_t
hu_room_in_files(void)
{
	return in_files;
}

/* Returns 1 where the folder's file system keeps its files in memory. */
static int
is_memory(const char *dir)
{
#ifdef __linux__
	struct statfs s;
	return statfs(dir, &s) == 0 &&
	       ((unsigned long)s.f_type == 0x01021994 || (unsigned long)s.f_type == 0x858458f6); /* tmpfs, ramfs */
#else
	(void)dir;
	return 0;
#endif
}

/* Returns `bytes` of a new file in dir, mapped and already without a name, or NULL with errno set. */
static void *
file_in(const char *dir, size_t bytes)
{
	char *name = hu_path(dir, ".halfulp-XXXXXX");
	int fd = mkstemp(name), failed = fd < 0 ? errno : 0;
	void *p = MAP_FAILED;

	if (fd >= 0) {
		unlink(name);
		failed = posix_fallocate(fd, 0, (off_t)bytes);
		if (!failed && (p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
			failed = errno;
		close(fd);
	}
	free(name);
	errno = failed;
	return p == MAP_FAILED ? NULL : p;
}

static hu_status
in_file(void **p, size_t bytes, const char *what)
{
	const char *dirs[] = { getenv("TMPDIR"), folder, "/tmp" }, *where = NULL;
	int why = 0;

	for (int memory = 0; memory < 2; memory++)
		for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
			if (!dirs[i] || !*dirs[i] || is_memory(dirs[i]) != memory)
				continue;
			if ((*p = file_in(dirs[i], bytes)) != NULL)
				return HU_OK;
			if (!where || errno == ENOSPC) {
				where = dirs[i];
				why = errno;
			}
		}
	return hu_fail(HU_EIO,
		"there is no room for %zu bytes of %s in a file in %s: %s; set TMPDIR to a folder with more", bytes,
		what, where ? where : "/tmp", strerror(why));
}

hu_status
hu_room_get(void **p, size_t bytes, const char *what)
{
	size_t most = keep == (size_t)-1 ? hu_memory_limit() / 2 : keep;
	int file = bytes >= LEAST && bytes > most - (in_memory < most ? in_memory : most);

	*p = NULL;
	if (file)
		HU_TRY(in_file(p, bytes, what));
	else if (posix_memalign(p, 64, bytes ? bytes : 64))
		return hu_fail(HU_ENOMEM, "there is no memory for %zu bytes of %s", bytes, what);
	HU_GROW(pieces, count, room);
	pieces[count++] = (piece){ *p, bytes, file };
	*(file ? &in_files : &in_memory) += bytes;
	return HU_OK;
}

void
hu_room_free(void *p)
{
	for (size_t i = count; p && i--;)
		if (pieces[i].p == p) {
			piece was = pieces[i];
			pieces[i] = pieces[--count];
			*(was.in_file ? &in_files : &in_memory) -= was.bytes;
			if (was.in_file) {
				munmap(p, was.bytes);
				return;
			}
			break;
		}
	free(p);
}
