/* SPDX-License-Identifier: Apache-2.0
   Reading items in pieces: mapped files as they lie there, archives through libzip, which knows their checksums. */
#include "analyzers/drift/contents/contents_source.h"
#include "lib/base/mem.h"
#include "lib/store/npz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

/* E is what libzip says, which may be that nothing is wrong, where a member ends too early. */
static hu_status
broken(const hu_item_reader *r, zip_error_t *e)
{
	return hu_fail(hu_npz_status(e), "%s: array %s: %s: copy or make it again", r->c->path, r->t->name,
		zip_error_code_zip(e) ? zip_error_strerror(e) : "it is not as long as the archive says");
}

hu_status
hu_item_open(hu_item_reader *r, const hu_contents *c, const hu_item *t, size_t room)
{
	*r = (hu_item_reader){ .c = c, .t = t };
	if (t->data || !t->bytes)
		return HU_OK;
	hu_contents_source *s = &c->source[t->source];
	if (!(r->member = zip_fopen_index(s->zip, t->member, 0)))
		return broken(r, zip_get_error(s->zip));
	r->room = room > t->start ? room : t->start;
	r->piece = hu_alloc(r->room);
	if (!r->piece)
		return hu_fail(HU_ENOMEM, "%s: no memory for %zu bytes", c->path, r->room);
	return zip_fread(r->member, r->piece, t->start) == (zip_int64_t)t->start
		       ? HU_OK
		       : broken(r, zip_file_get_error(r->member));
}

/* Pages that were read need not stay in this process's memory; the kernel keeps them as it likes. */
static void
drop(const hu_item_reader *r)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)r->t->data + r->at - r->last,
		  to = (uintptr_t)r->t->data + r->at;

	from = from / page * page;
	to = to / page * page;
	if (r->t->mapped && to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

hu_status
hu_item_next(hu_item_reader *r, size_t bytes, const unsigned char **p)
{
	HU_ASSERT(bytes <= r->t->bytes - r->at);
	if (r->t->data) {
		drop(r);
		*p = r->t->data + r->at;
	} else {
		HU_ASSERT(bytes <= r->room);
		if (zip_fread(r->member, r->piece, bytes) != (zip_int64_t)bytes)
			return broken(r, zip_file_get_error(r->member));
		*p = r->piece;
	}
	r->at += bytes;
	r->last = bytes;
	return HU_OK;
}

hu_status
hu_item_close(hu_item_reader *r)
{
	hu_status st = HU_OK;
	char past;

	if (r->t && r->t->data)
		drop(r);
	/* libzip compares the checksum when it is asked for more than there is */
	if (r->member && r->at == r->t->bytes && zip_fread(r->member, &past, 1) != 0)
		st = broken(r, zip_file_get_error(r->member));
	if (r->member)
		zip_fclose(r->member);
	free(r->piece);
	memset(r, 0, sizeof *r);
	return st;
}
