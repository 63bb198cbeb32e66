/* SPDX-License-Identifier: Apache-2.0
   A checksum of a folder of images (folder.h) that needs no image decoded. */
#include "lib/base/guard/guard.h"
#include "lib/base/hash.h"
#include "lib/base/thread.h"
#include "trainer/data/images/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* How much of each file the digest covers. Ranks, shards and those who go on with a run must notice other images of the
   same names and lengths before they train on them, and no training can wait until all of a large folder is read. This
   way 10 000 files take 0.1 s once they are in memory. It is the middle because the beginning of a photograph is what
   its camera writes into each, and the end of a file may be padding. */
enum { MIDDLE = 4096 };

static hu_status
middle(const hu_image_file *x, uint64_t *hash)
{
	unsigned char bytes[MIDDLE];
	off_t first = x->bytes > MIDDLE ? (off_t)((x->bytes - MIDDLE) / 2) : 0;
	int file = open(x->path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = file < 0 ? -1 : 1;

	while (n < MIDDLE && got > 0)
		if ((got = pread(file, bytes + n, MIDDLE - n, first + (off_t)n)) > 0)
			n += (size_t)got;
	int why = errno;
	if (file >= 0)
		close(file);
	*hash = hu_fnv1a64_bytes(bytes, n);
	return got >= 0
		       ? HU_OK
		       : hu_fail(hu_guard_status(why), "%s: this image cannot be read: %s", x->path, strerror(why));
}

/* Adds the middles of all files. Threads share them, since a disk or a server answers many requests at once. The first
   file that fails is read once more, so that the caller's thread has the reason. */
static hu_status
add_middles(const hu_image_folder *f, uint64_t *digest)
{
	size_t n = f->n_train + f->n_eval, failed = n;
	uint64_t name = hu_fnv1a64("contents"), sum = 0, hash;

#pragma omp parallel for schedule(dynamic, 64) num_threads(hu_threads()) private(hash) reduction(+ : sum) \
	reduction(min : failed) if (n > 64)
	for (size_t i = 0; i < n; i++)
		if (middle(&f->file[i], &hash) == HU_OK)
			sum += hu_digest_term(name, i, hash);
		else if (i < failed)
			failed = i;
	*digest += sum;
	if (failed == n)
		return HU_OK;
	HU_TRY(middle(&f->file[failed], &hash));
	return hu_fail(HU_EFILE, "%s: this image could not be read at first, and now it can: try again",
		f->file[failed].path);
}

hu_status
hu_image_folder_digest(const hu_image_folder *f, const char *dir, uint64_t *digest)
{
	uint64_t sum = 0, name = hu_fnv1a64("files"), class = hu_fnv1a64("classes");
	size_t behind = strlen(dir);

	for (size_t i = 0; i < f->nclass; i++)
		sum += hu_digest_term(class, i, (uint32_t)hu_fnv1a64(f->class[i]));
	for (size_t i = 0; i < f->n_train + f->n_eval; i++) {
		const hu_image_file *x = &f->file[i];
		sum += hu_digest_term(name, 2 * i, hu_fnv1a32(x->path + behind));
		sum += hu_digest_term(name, 2 * i + 1, (uint32_t)(x->bytes ^ x->bytes >> 32));
	}
	*digest = sum;
	return add_middles(f, digest);
}
