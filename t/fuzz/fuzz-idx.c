/* SPDX-License-Identifier: Apache-2.0
   Any bytes as an IDX file of one, two or three dimensions, gzip or not. zlib
   reads files, so the bytes go through one in memory. */
#define _GNU_SOURCE
#include "t/fuzz/fuzz.h"

#include "lib/base/status.h"
#include "lib/store/idx.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Keeps the reads from being optimised away. */
static volatile unsigned char sink;

FUZZ_TARGET(idx)
{
	static int fd = -1;
	char path[32];
	int good = 0;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	HU_ASSERT(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	for (int rank = 1; rank <= 3; rank++) {
		hu_idx x;
		if (hu_idx_read(&x, path, rank) != HU_OK) {
			HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
			continue;
		}
		for (size_t i = 0; i < x.count; i++)
			sink ^= x.data[i];
		hu_idx_release(&x);
		good = 1;
	}
	return good;
}
