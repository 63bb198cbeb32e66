/* SPDX-License-Identifier: Apache-2.0
   Reads IDX files, whose layout https://yann.lecun.com/exdb/mnist describes. */
#include "lib/store/idx.h"

#include "lib/base/guard/guard.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct source { gzFile f; const char *path; size_t at; } source;

/* Reports in one line what zlib found at the current position. */
static hu_status
broken(const source *s)
{
	int code;
	const char *text = gzerror(s->f, &code);

	if (code == Z_BUF_ERROR)
		return hu_fail(HU_EFILE,
			"%s: cut short: the gzip stream ends after %zu bytes of data; copy or download it again",
			s->path, s->at);
	if (code == Z_ERRNO)
		return hu_fail(hu_guard_status(errno), "%s: it cannot be read after %zu bytes: %s", s->path, s->at,
			strerror(errno));
	if (code == Z_MEM_ERROR)
		return hu_fail(HU_ENOMEM, "%s: there is no memory to decompress it", s->path);
	if (code != Z_OK && code != Z_STREAM_END)
		return hu_fail(HU_EFILE,
			"%s: it is damaged after %zu bytes of data: %s; copy or download it again", s->path,
			s->at, text);
	return HU_OK;
}

/* Reads n bytes, or returns HU_EFILE saying that what ended early. */
static hu_status
take(source *s, void *out, size_t n, const char *what)
{
	size_t done = 0;

	while (done < n) {
		unsigned ask = n - done > 1u << 24 ? 1u << 24 : (unsigned)(n - done);
		int got = gzread(s->f, (char *)out + done, ask);
		if (got > 0) {
			done += (size_t)got;
			s->at += (size_t)got;
		}
		if (got < 0 || (unsigned)got < ask) {
			HU_TRY(broken(s));
			if (done < n)
				return hu_fail(HU_EFILE,
					"%s: cut short: ends at byte %zu, inside its %s; copy or download it again",
					s->path, s->at, what);
		}
	}
	return HU_OK;
}

static hu_status
read_header(source *s, hu_idx *x, int rank)
{
	unsigned char h[4], d[4];

	HU_TRY(take(s, h, 4, "magic number"));
	if (h[0] || h[1] || h[3] < 1 || h[3] > 4)
		return hu_fail(HU_EFILE, "%s: byte 0: magic number 0x%02x%02x%02x%02x is not that of an IDX file",
			s->path, h[0], h[1], h[2], h[3]);
	if (h[2] != 8)
		return hu_fail(
			HU_EFILE,
			"%s: byte 2: data type 0x%02x; unsigned bytes (0x08) can be read", s->path, h[2]);
	if (h[3] != rank)
		return hu_fail(HU_EFILE,
			"%s: byte 3: %d dimension%s where %s has %d; are the image and the label file swapped?",
			s->path, h[3], h[3] == 1 ? "" : "s", rank == 1 ? "a label file" : "an image file", rank);
	x->rank = rank;
	x->count = 1;
	for (int i = 0; i < rank; i++) {
		HU_TRY(take(s, d, 4, "dimensions"));
		x->shape[i] = (size_t)d[0] << 24 | (size_t)d[1] << 16 | (size_t)d[2] << 8 | d[3];
		if (__builtin_mul_overflow(x->count, x->shape[i], &x->count))
			return hu_fail(HU_EFILE,
				"%s: byte %zu: the dimensions make more bytes than an address can count", s->path,
				s->at - 4);
	}
	return HU_OK;
}

/* The buffer grows with the bytes that are really there, so that a false dimension costs no memory. */
static hu_status
read_data(source *s, hu_idx *x)
{
	size_t room = 0, done = 0;

	x->data = hu_xmalloc(1);
	while (done < x->count) {
		room = room ? 2 * room : 1 << 16;
		if (room > x->count)
			room = x->count;
		unsigned char *p = realloc(x->data, room);
		if (!p)
			return hu_fail(HU_ENOMEM, "%s: there is no memory for %zu bytes", s->path, room);
		x->data = p;
		HU_TRY(take(s, p + done, room - done, "data"));
		done = room;
	}
	unsigned char extra;
	int got = gzread(s->f, &extra, 1);
	if (got)
		HU_TRY(broken(s));
	if (got > 0)
		return hu_fail(HU_EFILE,
			"%s: there are bytes too many: by the dimensions the data ends at byte %zu, but the file goes "
			"on", s->path,
			s->at);
	return broken(s);
}

hu_status
hu_idx_read(hu_idx *x, const char *path, int rank)
{
	source s = { NULL, path, 0 };

	HU_ASSERT(rank >= 1 && rank <= 4);
	memset(x, 0, sizeof *x);
	errno = 0; /* zlib leaves it where it has no memory for itself */
	s.f = gzopen(path, "rb");
	if (!s.f)
		return hu_fail(errno ? hu_guard_status(errno) : HU_ENOMEM, "%s: cannot be opened: %s", path,
			strerror(errno ? errno : ENOMEM));
	hu_status st = read_header(&s, x, rank);
	if (st == HU_OK)
		st = read_data(&s, x);
	/* Only closing reveals a stream that ended before its checksum. */
	int end = gzclose_r(s.f);
	if (st == HU_OK && end != Z_OK)
		st = hu_fail(HU_EFILE, "%s: cut short: the gzip stream has no end; copy or download it again", path);
	if (st != HU_OK)
		hu_idx_release(x);
	return st;
}

void
hu_idx_release(hu_idx *x)
{
	free(x->data);
	memset(x, 0, sizeof *x);
}

static hu_status
check_pair(const hu_idx *images, const hu_idx *labels, const char *image_path, const char *label_path, int classes)
{
	if (images->shape[0] != labels->shape[0])
		return hu_fail(HU_EFILE, "%s has %zu images, %s has %zu labels; they do not belong together",
			image_path, images->shape[0], label_path, labels->shape[0]);
	if (!images->count)
		return hu_fail(HU_EFILE,
			"%s: there are no images, or they have no pixels (%zu x %zu x %zu)", image_path,
			images->shape[0], images->shape[1], images->shape[2]);
	for (size_t i = 0; i < labels->count; i++)
		if (labels->data[i] >= classes)
			return hu_fail(HU_EFILE, "%s: byte %zu: label %d of image %zu; labels from 0 to %d are needed",
				label_path, 8 + i, labels->data[i], i, classes - 1);
	return HU_OK;
}

hu_status
hu_idx_read_pair(hu_idx *images, hu_idx *labels, const char *image_path, const char *label_path, int classes)
{
	HU_TRY(hu_idx_read(images, image_path, 3));
	hu_status st = hu_idx_read(labels, label_path, 1);
	if (st != HU_OK) {
		hu_idx_release(images);
		return st;
	}
	st = check_pair(images, labels, image_path, label_path, classes);
	if (st != HU_OK) {
		hu_idx_release(images);
		hu_idx_release(labels);
	}
	return st;
}
