/* SPDX-License-Identifier: Apache-2.0
   The arrays of an npz file: headers now, elements later. */
#include "analyzers/drift/contents/contents_source.h"
#include "lib/base/mem.h"

#include "lib/store/npz.h"
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* A whole member, turned round as hu_npy_parse does. */
static hu_status
turn(hu_contents_source *s, zip_file_t *f, const char *where, const unsigned char *head, size_t got, size_t all,
	hu_item *t)
{
	unsigned char *bytes = hu_alloc(all + 1);

	if (!bytes)
		return hu_fail(HU_ENOMEM, "%s: no memory for its %zu bytes", where, all);
	memcpy(bytes, head, got);
	hu_status st = got == all || zip_fread(f, bytes + got, all - got) == (zip_int64_t)(all - got)
			       ? hu_npy_parse(&s->turned[s->nturned], where, bytes, all)
			       : hu_fail(hu_npz_status(zip_file_get_error(f)), "%s: not as long as the archive says",
					 where);
	free(bytes);
	if (st == HU_OK)
		t->data = s->turned[s->nturned++].data;
	return st;
}

static hu_status
add_member(hu_contents *c, hu_contents_source *s, zip_uint64_t i, unsigned char *head, const char *path)
{
	zip_stat_t z;
	hu_npy a;
	size_t start;
	int plain;

	if (zip_stat_index(s->zip, i, 0, &z) ||
		(z.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE))
		return hu_fail(hu_npz_status(zip_get_error(s->zip)), "%s: member %llu: %s", path, (unsigned long long)i,
			zip_strerror(s->zip));
	size_t length = strlen(z.name);
	if (length < 5 || strcmp(z.name + length - 4, ".npy"))
		return hu_fail(HU_EFILE, "%s: member %s is no .npy file; an .npz holds nothing else", path, z.name);
	zip_file_t *f = zip_fopen_index(s->zip, i, 0);
	if (!f)
		return hu_fail(
			hu_npz_status(zip_get_error(s->zip)), "%s: member %s: %s", path, z.name, zip_strerror(s->zip));
	char *where = hu_xprintf("%s: %s", path, z.name);
	zip_int64_t got = zip_fread(f, head, z.size < HU_NPY_HEAD ? z.size : HU_NPY_HEAD);
	hu_status st = got < 0 ? hu_fail(hu_npz_status(zip_file_get_error(f)), "%s: %s", where, zip_file_strerror(f))
			       : hu_npy_head(&a, where, head, (size_t)got, (size_t)z.size, &start, &plain);
	if (st == HU_OK) {
		hu_item *t = hu_contents_add(c, hu_xprintf("%.*s", (int)(length - 4), z.name));
		hu_contents_npy(t, &a);
		t->member = (size_t)i;
		t->start = start;
		if (!plain)
			st = turn(s, f, where, head, (size_t)got, (size_t)z.size, t);
	}
	zip_fclose(f);
	free(where);
	return st;
}

hu_status
hu_contents_add_npz(hu_contents *c, const char *path)
{
	hu_contents_source *s = hu_contents_source_add(c);
	hu_status st = HU_OK;

	s->path = hu_xstrdup(path);
	HU_TRY(hu_npz_archive(&s->zip, path, NULL, 0));
	zip_int64_t n = zip_get_num_entries(s->zip, 0);
	unsigned char *head = hu_xmalloc(HU_NPY_HEAD);
	s->turned = hu_xcalloc((size_t)n + 1, sizeof *s->turned);
	for (zip_int64_t i = 0; i < n && st == HU_OK; i++)
		st = add_member(c, s, (zip_uint64_t)i, head, path);
	free(head);
	return st == HU_OK && !n ? hu_fail(HU_EFILE, "%s: an archive without arrays", path) : st;
}
