/* SPDX-License-Identifier: Apache-2.0
   Any bytes as a file of tensors that is held to another, which is the first that was taken: refused in one line,
   or measures that can be, and a first line. Links libhalfulp.a. */
#define _GNU_SOURCE
#include "t/fuzz/fuzz.h"

#include "analyzers/drift/files/files.h"
#include "analyzers/drift/files/files_why.h"
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory, which PATH names until it is closed. */
static int
file_of(const uint8_t *data, size_t size, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	HU_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void
judged(const hu_files *g)
{
	HU_ASSERT(g->failed + g->same <= g->n);
	for (size_t i = 0; i < g->n; i++) {
		const hu_measures *m = &g->row[i].m;
		HU_ASSERT(g->row[i].said && m->nonfinite <= m->differ && m->differ <= m->count);
		HU_ASSERT(!(m->l2 < 0) && !(m->rel < 0) && !(m->cosine > 1) && !(m->cosine < -1));
		HU_ASSERT((g->row[i].state >= HU_FILES_BEYOND) == (i < g->failed));
	}
	if (g->failed) {
		char *why = hu_files_why(g);
		HU_ASSERT(*why && !strchr(why, '\n'));
		free(why);
	}
}

FUZZ_TARGET(pair)
{
	static char old[32];
	char new[32];
	hu_files g = { .n = 0 };
	int fd = file_of(data, size, new);

	if (!*old) { /* a file is its own counterpart until one was taken, and that one stays */
		int kept = file_of(data, size, old);
		hu_files first = { .n = 0 };
		int is = hu_files_open(&first, old, new, NULL) == HU_OK && hu_files_judge(&first) == HU_OK;
		hu_files_release(&first);
		if (!is) {
			close(kept);
			*old = 0;
		}
	}
	int taken = hu_files_open(&g, *old ? old : new, new, NULL) == HU_OK && hu_files_judge(&g) == HU_OK;
	if (taken)
		judged(&g);
	else
		HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
	hu_files_release(&g);
	close(fd);
	return taken;
}
