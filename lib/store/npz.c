/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/npz.h"

#include "lib/base/guard/guard.h"
#include "lib/base/guard/input.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* Deflate compresses best at one bit for 258 bytes, and not all of a block can be that. */
enum { MOST_PER_BYTE = 1032 };

/* Returns 1 if the member NAME.npy is one of wanted (NULL: all are). */
static int
is_wanted(const char *wanted, const char *name)
{
	size_t length = strlen(name);
	int ends = length > 4 && !strcmp(name + length - 4, ".npy");
	char *bare = hu_xprintf("%.*s", (int)(ends ? length - 4 : length), name);
	int is = !wanted || hu_word_in(wanted, bare);

	free(bare);
	return is;
}

/* Reads member i of an archive path of n bytes. libzip checks the CRC when more bytes are requested than there are. */
static hu_status
member(zip_t *zip, zip_uint64_t i, const char *path, size_t n, const char *wanted, hu_npy *a, char **name)
{
	zip_stat_t s;
	hu_str where;
	hu_status st = HU_OK;
	size_t length;
	int ends;
	char past;

	if (zip_stat_index(zip, i, 0, &s) ||
		(s.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE))
		return hu_fail(hu_npz_status(zip_get_error(zip)), "%s: member %llu: %s", path, (unsigned long long)i,
			zip_strerror(zip));
	length = strlen(s.name);
	ends = length > 4 && !strcmp(s.name + length - 4, ".npy");
	if (!is_wanted(wanted, s.name)) {
		*name = hu_xprintf("%.*s", (int)(ends ? length - 4 : length), s.name);
		return HU_OK;
	}
	if (!ends)
		return hu_fail(HU_EFILE, "%s: member %s is no .npy file; an .npz holds nothing else", path, s.name);
	if (s.size / MOST_PER_BYTE > n)
		return hu_fail(HU_EFILE, "%s: member %s announces %llu bytes, more than so short a file can hold", path,
			s.name, (unsigned long long)s.size);
	zip_file_t *f = zip_fopen_index(zip, i, 0);
	if (!f)
		return hu_fail(hu_npz_status(zip_get_error(zip)), "%s: member %s: %s", path, s.name, zip_strerror(zip));
	void *data = hu_alloc((size_t)s.size + 1);
	hu_str_init(&where);
	hu_str_addf(&where, "%s: %s", path, s.name);
	if (!data)
		st = hu_fail(HU_ENOMEM, "%s: no memory for %llu bytes", where.s, (unsigned long long)s.size);
	else if (zip_fread(f, data, s.size) != (zip_int64_t)s.size || zip_fread(f, &past, 1))
		st = hu_fail(hu_npz_status(zip_file_get_error(f)), "%s: %s", where.s,
			zip_error_code_zip(zip_file_get_error(f)) ? zip_file_strerror(f)
								  : "not as long as the archive says");
	else
		st = hu_npy_parse(a, where.s, data, (size_t)s.size);
	if (st == HU_OK)
		*name = hu_xprintf("%.*s", (int)(length - 4), s.name);
	zip_fclose(f);
	hu_str_release(&where);
	free(data);
	return st;
}

hu_status
hu_npz_status(const struct zip_error *e)
{
	if (zip_error_code_zip(e) == ZIP_ER_MEMORY)
		return HU_ENOMEM;
	return zip_error_system_type(e) == ZIP_ET_SYS ? hu_guard_status(zip_error_code_system(e)) : HU_EFILE;
}

static zip_t *
try_open(const char *path, const void *bytes, size_t n, zip_error_t *e)
{
	zip_error_init(e);
	errno = 0;
	zip_source_t *source =
		bytes ? zip_source_buffer_create(bytes, n, 0, e) : zip_source_file_create(path, 0, -1, e);
	zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, e) : NULL;

	if (!zip)
		zip_source_free(source);
	return zip;
}

/* Returns 1 where some memory is to be had. */
static int
has_memory(void)
{
	void *volatile some = malloc(1 << 16);

	free(some);
	return some != NULL;
}

/* Without memory libzip calls what it opens no archive, or nothing wrong. errno alone does not tell: an allocation that
   succeeds may leave ENOMEM there. So it is asked a second time, and then whether there is any memory. */
hu_status
hu_npz_archive(zip_t **zip, const char *path, const void *bytes, size_t n)
{
	zip_error_t e;

	if ((*zip = try_open(path, bytes, n, &e)))
		return HU_OK;
	if (errno == ENOMEM) {
		zip_error_fini(&e);
		if ((*zip = try_open(path, bytes, n, &e)))
			return HU_OK;
	}
	hu_status st = errno == ENOMEM && !has_memory()
			       ? hu_fail(HU_ENOMEM, "%s: there is no memory to open it", path)
			       : hu_fail(hu_npz_status(&e), "%s: %s", path, zip_error_strerror(&e));
	zip_error_fini(&e);
	return st;
}

static hu_status
parse(hu_npz *z, const char *name, const void *bytes, size_t n, const char *wanted)
{
	zip_t *zip;
	hu_status st = HU_OK;

	memset(z, 0, sizeof *z);
	HU_TRY(hu_npz_archive(&zip, name, bytes, n));
	zip_int64_t members = zip_get_num_entries(zip, 0);
	z->name = hu_xcalloc((size_t)members + 1, sizeof *z->name);
	z->array = hu_xcalloc((size_t)members + 1, sizeof *z->array);
	for (zip_int64_t i = 0; i < members && st == HU_OK; i++) {
		st = member(zip, (zip_uint64_t)i, name, n, wanted, &z->array[i], &z->name[i]);
		z->n += st == HU_OK;
	}
	zip_discard(zip);
	if (st == HU_OK && !z->n)
		st = hu_fail(HU_EFILE, "%s: an archive without arrays", name);
	if (st != HU_OK)
		hu_npz_release(z);
	return st;
}

hu_status
hu_npz_parse(hu_npz *z, const char *name, const void *bytes, size_t n)
{
	return parse(z, name, bytes, n, NULL);
}

hu_status
hu_npz_read_some(hu_npz *z, const char *path, const char *wanted)
{
	char *data;
	size_t n;

	HU_TRY(hu_file_read(path, &data, &n));
	hu_status st = parse(z, path, data, n, wanted);
	free(data);
	return st;
}

hu_status
hu_npz_read(hu_npz *z, const char *path)
{
	return hu_npz_read_some(z, path, NULL);
}

void
hu_npz_release(hu_npz *z)
{
	for (size_t i = 0; i < z->n; i++) {
		free(z->name[i]);
		hu_npy_release(&z->array[i]);
	}
	free(z->name);
	free(z->array);
	memset(z, 0, sizeof *z);
}

int
hu_npz_is(const char *path)
{
	char head[4] = "";
	FILE *f;

	if (hu_input_open(path, &f) != HU_OK)
		return 0; /* whoever reads it whole says why */
	size_t got = fread(head, 1, sizeof head, f);
	fclose(f);
	return got == sizeof head && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4));
}

/* Returns 1 if path is a file, so that what follows it in a spec is not part of its name. */
static int
there(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		hu_guard_note(path);
	if (f)
		fclose(f);
	return f != NULL;
}

hu_npy *
hu_npz_find(const hu_npz *z, const char *name)
{
	for (size_t i = 0; i < z->n; i++)
		if (!strcmp(z->name[i], name))
			return &z->array[i];
	return NULL;
}

void
hu_npz_names(hu_str *s, const hu_npz *z, const char *between)
{
	for (size_t i = 0; i < z->n; i++)
		hu_str_addf(s, "%s%s", i ? between : "", hu_shown(z->name[i]));
}

hu_status
hu_npz_absent(const hu_npz *z, const char *path, const char *name)
{
	hu_str known;

	hu_str_init(&known);
	hu_npz_names(&known, z, " ");
	hu_fail(HU_EFILE, "%s: no array %s; there are %s", path, name, known.s);
	hu_str_release(&known);
	return HU_EFILE;
}

/* Moves the array of that name, or the only one, out of the archive. */
static hu_status
take(hu_npy *a, hu_npz *z, const char *path, const char *name)
{
	hu_npy *found = name ? hu_npz_find(z, name) : z->n == 1 ? z->array : NULL;
	hu_str known;

	if (found) {
		*a = *found;
		memset(found, 0, sizeof *found);
		return HU_OK;
	}
	if (name)
		return hu_npz_absent(z, path, name);
	hu_str_init(&known);
	hu_npz_names(&known, z, " ");
	hu_fail(HU_EFILE, "%s: several arrays; %s:NAME takes one of %s", path, path, known.s);
	hu_str_release(&known);
	return HU_EFILE;
}

hu_status
hu_npz_pick(hu_npy *a, const char *spec)
{
	const char *colon = strrchr(spec, ':');
	char *path = colon && !hu_npz_is(spec) ? hu_xprintf("%.*s", (int)(colon - spec), spec) : hu_xstrdup(spec);
	const char *name = strlen(path) < strlen(spec) ? colon + 1 : NULL;
	hu_status st;
	hu_npz z;

	if (!hu_npz_is(path)) {
		if (name && there(path) && !there(spec)) {
			st = hu_fail(HU_EFILE, "%s: no .npz (zip archive), so there is no array %s in it", path, name);
			free(path);
			return st;
		}
		free(path);
		return hu_npy_read(a, spec);
	}
	st = hu_npz_read(&z, path);
	if (st == HU_OK) {
		st = take(a, &z, path, name);
		hu_npz_release(&z);
	}
	free(path);
	return st;
}
