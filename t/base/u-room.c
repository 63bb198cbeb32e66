/* SPDX-License-Identifier: Apache-2.0
   Large arrays in memory and in files: what is written is read, files are counted and given back, the
   folder is taken where TMPDIR does not serve, and a disk that has no room is said before anything is written. */
#include "lib/base/memory/room.h"
#include "t/tool/tap.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PIECES = 40 };

static size_t
files_of(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	if (d)
		closedir(d);
	return n;
}

static uint64_t
word(size_t piece, size_t i)
{
	return (piece + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ i * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Pieces of all sizes, written, read and given back in another order, with KEEP bytes in memory. */
static void
fill(size_t keep, const char *what)
{
	uint64_t *p[PIECES];
	size_t n[PIECES], wrong = 0, crooked = 0, most = 0, all = 0;

	hu_room_keep(keep);
	for (size_t k = 0; k < PIECES; k++) {
		void *room;
		n[k] = k * k * 137;
		if (hu_room_get(&room, n[k] * 8, "a test") != HU_OK)
			bail_out("%s", hu_reason());
		p[k] = room;
		crooked += (uintptr_t)room % 64 != 0;
		all += n[k] * 8;
		for (size_t i = 0; i < n[k]; i++)
			p[k][i] = word(k, i);
		most = hu_room_in_files() > most ? hu_room_in_files() : most;
	}
	for (size_t q = 0; q < PIECES; q++) {
		size_t k = q * 7 % PIECES;
		for (size_t i = 0; i < n[k]; i++)
			wrong += p[k][i] != word(k, i);
		hu_room_free(p[k]);
	}
	is_int((long long)(wrong + crooked), 0, "%s: %zu bytes, %zu of them in files, are what was written", what, all,
		most);
	ok(keep > all ? most == 0 : most + keep + (1 << 16) * PIECES >= all && most > all / 4,
		"%s: files take what memory is not to hold", what);
	is_int((long long)hu_room_in_files(), 0, "%s: nothing is left of them", what);
}

int
main(void)
{
	struct rlimit old, small = { 1 << 20, 1 << 20 };
	const char *dir = test_dir();
	void *p;

	ok(hu_memory_limit() > (size_t)1 << 24, "this process may have %zu bytes", hu_memory_limit());
	setenv("TMPDIR", dir, 1);
	fill((size_t)1 << 40, "in memory");
	fill(0, "in files");
	fill((size_t)1 << 20, "in both");
	is_int((long long)files_of(dir), 0, "the files have no names");

	hu_room_keep(0);
	setenv("TMPDIR", "/no/such/folder", 1);
	hu_room_in(dir);
	is_int(hu_room_get(&p, 1 << 20, "a test"), HU_OK, "where there is no TMPDIR, in the folder that was named");
	hu_room_free(p);
	hu_room_in(NULL);
	p = malloc(5);
	hu_room_free(p);
	hu_room_free(NULL);

	setenv("TMPDIR", dir, 1);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	hu_status st = hu_room_get(&p, 1 << 22, "a test");
	setrlimit(RLIMIT_FSIZE, &old);
	/* A folder in memory is the last that is tried, and the first that had no room is named. */
	const char *named = strncmp(dir, "/dev/shm/", 9) ? dir : "/tmp";
	ok(st == HU_EIO && hu_exit_code(st) == HU_EXIT_ENV && !p && strstr(hu_reason(), named) &&
			strstr(hu_reason(), "4194304 bytes of a test"),
		"no room in a file is said at once: %s", hu_reason());
	is_int((long long)hu_room_in_files(), 0, "and nothing counted");
	return done_testing();
}
