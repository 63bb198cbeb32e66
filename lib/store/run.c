/* SPDX-License-Identifier: Apache-2.0
   What writing and reading a run directory have in common: how a format is stored, checksums, and which steps have a
   file. */
#include "lib/store/run.h"

#include "lib/base/guard/input.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/store/safetensors.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const struct {
	const char *dtype;
	hu_format_id f;
	int stored;
} dtypes[] = {
#define DTYPE(name, bits, format, stored) { name, format, stored },
#include "lib/store/dtypes.def"
#undef DTYPE
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Returns 1 if every value of f, including its subnormals and infinities, is a value of s. */
static int
holds(hu_format s, hu_format f)
{
	return s.p >= f.p && s.emax >= f.emax && s.max >= f.max && s.emin - s.p <= f.emin - f.p &&
	       (hu_has_inf(s) || !hu_has_inf(f));
}

const char *
hu_run_dtype(hu_format_id f, hu_format_id *as)
{
	for (int i = 0; i < DTYPES; i++) {
		if (!dtypes[i].stored || !holds(hu_format_of(dtypes[i].f), hu_format_of(f)))
			continue;
		*as = dtypes[i].f;
		return dtypes[i].dtype;
	}
	hu_bug(__FILE__, __LINE__, "no dtype holds %s", hu_format_name(f));
}

char *
hu_run_trace_path(const hu_run *r, size_t step)
{
	return r->tensors ? hu_xstrdup(r->tensors) : hu_path(r->dir, "trace/step-%06zu.safetensors", step);
}

hu_status
hu_run_unpack(hu_tensor *t, const void *codes, size_t bytes)
{
	hu_format_id as;

	hu_run_dtype(t->format, &as);
	if (bytes != t->n * hu_bulk_element(as))
		return hu_fail(HU_EFILE, "%zu bytes where %zu elements of %s take %zu", bytes, t->n, hu_format_name(as),
			t->n * hu_bulk_element(as));
	if (as == HU_FP64)
		memcpy(t->data, codes, bytes);
	else
		hu_bulk_unpack(t->data, codes, t->n, as);
	return HU_OK;
}

/* How many bytes a safetensors file's header takes with the eight that say so, as these say; 8 where they say what is
   not possible. */
static double
header_bytes(FILE *f)
{
	uint64_t n = 0;
	int ok = fread(&n, 8, 1, f) == 1 && n <= HU_SAFETENSORS_HEADER;

	rewind(f);
	return ok ? 8 + (double)n : 8;
}

/* XXH3's hash of a file, or, where header is set, of what a safetensors file has before its tensors. */
static hu_status
checksum(const char *path, int header, double *bytes, char hex[17])
{
	enum { PIECE = 1 << 18 };
	FILE *f;
	size_t got;

	HU_TRY(hu_input_open(path, &f));
	XXH3_state_t *s = hu_allocators_hash();
	char *piece = hu_xmalloc(PIECE);
	double left = header ? header_bytes(f) : INFINITY;
	XXH3_64bits_reset(s);
	*bytes = 0;
	while ((got = fread(piece, 1, left < PIECE ? (size_t)left : PIECE, f)) > 0) {
		XXH3_64bits_update(s, piece, got);
		*bytes += (double)got;
		left -= (double)got;
	}
	int bad = ferror(f);
	snprintf(hex, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(s));
	XXH3_freeState(s);
	free(piece);
	fclose(f);
	return bad ? hu_fail(HU_EIO, "%s: cannot be read", path) : HU_OK;
}

hu_status
hu_run_checksum(const char *path, double *bytes, char hex[17])
{
	return checksum(path, 0, bytes, hex);
}

hu_status
hu_run_checksum_header(const char *path, double *bytes, char hex[17])
{
	return checksum(path, 1, bytes, hex);
}

static int
ascending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

hu_status
hu_run_list_steps(const char *dir, const char *folder, size_t **steps, int *count)
{
	char *path = hu_path(dir, "%s", folder);
	DIR *d;
	int n = 0, cap = 0;
	hu_status st = hu_input_folder(path, &d);

	*steps = NULL;
	*count = 0;
	free(path);
	for (struct dirent *e; d && (e = hu_input_entry(d));) {
		size_t step;
		int end = 0;
		if (sscanf(e->d_name, "step-%zu.safetensors%n", &step, &end) != 1 || !end || e->d_name[end])
			continue;
		HU_GROW(*steps, n, cap);
		(*steps)[n++] = step;
	}
	if (d)
		closedir(d);
	if (n)
		qsort(*steps, (size_t)n, sizeof **steps, ascending);
	*count = n;
	return st;
}
