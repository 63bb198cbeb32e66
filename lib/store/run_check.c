/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/run_check.h"

#include "lib/base/file.h"
#include "lib/base/guard/guard.h"
#include "lib/base/guard/input.h"
#include "lib/base/guard/allocators.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/store/run_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Of a tensor, read at a time. */
static const size_t PIECE = (size_t)1 << 22;
static const char advice[] = "the file was changed; train again or restore it";

void
hu_run_check_free(const hu_run *r)
{
	for (int k = 0; r->check && r->check->tensor && k < r->nstep; k++)
		free(r->check->tensor[k]);
	if (r->check)
		free(r->check->tensor);
	free(r->check);
}

char *
hu_run_check_key(const char *name)
{
	return hu_xprintf("xxh3:%s", name);
}

static const char *
listed_sum(const hu_safetensors *s, const char *name)
{
	char *key = hu_run_check_key(name);
	const char *hex = hu_safetensors_metadata(s, key);

	free(key);
	return hex;
}

int
hu_run_check_possible(const hu_safetensors *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!listed_sum(s, s->tensor[i].name))
			return 0;
	return 1;
}

void
hu_run_check_sum(const void *bytes, size_t n, char hex[17])
{
	snprintf(hex, 17, "%016llx", (unsigned long long)XXH3_64bits(bytes, n));
}

/* Advises the kernel of a range of a mapped file, which begins at a page. */
static void
advise(const hu_safetensors *s, size_t from, size_t to, int how)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from = from / page * page;
	to = to < s->map_bytes ? to : s->map_bytes;
	if (from < to)
		madvise((char *)s->map + from, to - from, how);
}

/* The checksum of a tensor of a mapped file. The kernel is told what will be read, a piece ahead, since it does not
   look ahead in a file that is read here and there. Of a large file each piece's pages are given back, so that memory
   holds no more of it than two. */
static void
sum_mapped(const hu_safetensors *s, const hu_stensor *e, char hex[17])
{
	const char *data = e->data, *map = s->map;
	XXH3_state_t *x = hu_allocators_hash();
	size_t end = e->offset + e->bytes, n;
	int mapped = map && data >= map && data < map + s->map_bytes; /* and not a copy */

	XXH3_64bits_reset(x);
	for (size_t at = 0; at < e->bytes; at += n) {
		size_t here = e->offset + at;
		n = e->bytes - at < PIECE ? e->bytes - at : PIECE;
		if (mapped && !at)
			advise(s, here, here + n, MADV_WILLNEED);
		if (mapped)
			advise(s, here + n, end < here + 2 * n ? end : here + 2 * n, MADV_WILLNEED);
		XXH3_64bits_update(x, data + at, n);
		if (mapped && s->map_bytes > HU_RUN_TRACE_IN_MEMORY)
			advise(s, here, here + n, MADV_DONTNEED);
	}
	snprintf(hex, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(x));
	XXH3_freeState(x);
}

/* What was read of a large tensor and had to leave memory is read again in order, for which the kernel may look
   ahead. */
static void
advise_read(const hu_safetensors *s, const hu_stensor *e)
{
	if (s->map && e->bytes > PIECE)
		advise(s, e->offset, e->offset + e->bytes, MADV_NORMAL);
}

static hu_status
compare_tensor(const hu_safetensors *s, const hu_stensor *e)
{
	const char *want = listed_sum(s, e->name);
	char hex[17];

	sum_mapped(s, e, hex);
	if (want && !strcmp(want, hex))
		return HU_OK;
	return hu_fail(HU_EFILE, "%s: tensor %.200s, bytes %zu to %zu: its checksum is %s, the header says %.40s: %s",
		s->path, e->name, e->offset, e->offset + e->bytes, hex, want ? want : "nothing", advice);
}

static hu_status
compare_header(const char *path, const json_t *entry, double *bytes)
{
	const char *want = json_string_value(json_object_get(entry, "header"));
	char hex[17];

	HU_TRY(hu_run_checksum_header(path, bytes, hex));
	if (want && !strcmp(want, hex))
		return HU_OK;
	return hu_fail(HU_EFILE, "%s: the header, bytes 0 to %.0f: its checksum is %s, the manifest says %.40s: %s",
		path, *bytes, hex, want ? want : "nothing", advice);
}

static hu_status
compare_length(const char *path, const json_t *entry, double bytes)
{
	double length = json_number_value(json_object_get(entry, "bytes"));

	if (bytes == length)
		return HU_OK;
	return hu_fail(HU_EFILE,
		"%s: %.0f bytes, the manifest says %.0f: the file was cut short or changed; train again or restore it",
		path, bytes, length);
}

/* Of a file that is not as the manifest says: fails where its header or a tensor alone is known to differ. */
static hu_status
blame_part(const char *path, const json_t *entry)
{
	hu_safetensors s;
	double bytes;

	if (!json_object_get(entry, "header"))
		return HU_OK;
	HU_TRY(compare_header(path, entry, &bytes));
	HU_TRY(hu_safetensors_open(&s, path));
	hu_status st = HU_OK;
	for (size_t i = 0; i < s.n && st == HU_OK; i++)
		st = compare_tensor(&s, &s.tensor[i]);
	hu_safetensors_release(&s);
	return st;
}

static hu_status
compare_whole(const char *path, const json_t *entry, double *bytes)
{
	const char *want = json_string_value(json_object_get(entry, "xxh3"));
	char hex[17];

	HU_TRY(hu_run_checksum(path, bytes, hex));
	HU_TRY(compare_length(path, entry, *bytes));
	if (want && !strcmp(want, hex))
		return HU_OK;
	HU_TRY(blame_part(path, entry));
	return hu_fail(HU_EFILE, "%s: its checksum is %s, the manifest says %.40s: %s", path, hex,
		want ? want : "nothing", advice);
}

static const json_t *
entry_of(const hu_run *r, const char *name)
{
	return json_object_get(json_object_get(r->manifest, "files"), name);
}

hu_status
hu_run_check_file(const hu_run *r, const char *name)
{
	const json_t *entry = entry_of(r, name);
	double bytes = 0;

	if (!entry)
		return HU_OK;
	char *path = hu_path(r->dir, "%s", name);
	hu_status st = compare_whole(path, entry, &bytes);
	free(path);
	r->check->bytes += bytes;
	return st;
}

static hu_status
compare_start(const hu_run *r, const char *path, const json_t *entry)
{
	double bytes = 0;
	struct stat is;

	if (hu_input_stat(path, &is))
		return hu_fail(hu_guard_status(errno), "%s: %s", path, strerror(errno));
	HU_TRY(compare_length(path, entry, (double)is.st_size));
	hu_status st = compare_header(path, entry, &bytes);
	r->check->bytes += bytes;
	return st;
}

/* Where `wanted` stands among n ascending steps; -1 where it does not. */
static int
place_of(const size_t *step, int n, size_t wanted)
{
	int low = 0;

	for (int high = n; low < high;) {
		int k = low + (high - low) / 2;
		if (step[k] < wanted)
			low = k + 1;
		else
			high = k;
	}
	return low < n && step[low] == wanted ? low : -1;
}

/* Where the flags of a step's tensors are, or will be; NULL where nothing of the step is to be compared. */
static char **
flags_of(const hu_run *r, size_t step)
{
	hu_run_check *c = r->check;
	int k = c && c->shared ? place_of(r->step, r->nstep, step) : -1;

	if (k < 0)
		return NULL;
	if (!c->tensor)
		c->tensor = hu_xcalloc((size_t)r->nstep, sizeof *c->tensor);
	return &c->tensor[k];
}

static char *
name_of(size_t step)
{
	return hu_xprintf("trace/step-%06zu.safetensors", step);
}

hu_status
hu_run_check_step(const hu_run *r, size_t step)
{
	char **flags = flags_of(r, step), *name;
	size_t nt = (size_t)r->train->nt;

	if (!flags || *flags)
		return HU_OK;
	name = name_of(step);
	const json_t *entry = entry_of(r, name);
	int each = json_object_get(entry, "header") != NULL;
	hu_status st = HU_OK;
	if (each) {
		char *path = hu_path(r->dir, "%s", name);
		st = compare_start(r, path, entry);
		free(path);
	} else
		st = hu_run_check_file(r, name);
	free(name);
	if (st != HU_OK)
		return st;
	*flags = hu_xmalloc(nt + 1);
	memset(*flags, !each, nt + 1);
	return HU_OK;
}

hu_status
hu_run_check_tensor(const hu_run *r, size_t step, const hu_safetensors *s, const hu_stensor *e, int id)
{
	char **flags = flags_of(r, step);

	if (!flags || (*flags)[id])
		return HU_OK;
	HU_TRY(compare_tensor(s, e));
	advise_read(s, e);
	(*flags)[id] = 1;
	r->check->bytes += (double)e->bytes;
	return HU_OK;
}

static int
is_program(const char *name)
{
	return hu_match("program-*.json", name);
}

hu_status
hu_run_check_opened(const hu_run *r)
{
	const char *name;
	json_t *entry;

	json_object_foreach(json_object_get(r->manifest, "files"), name,
		entry) if (!r->check->shared || is_program(name)) HU_TRY(hu_run_check_file(r, name));
	return HU_OK;
}

/* Whether it is the file of one of n ascending steps. */
static int
is_trace_of(const char *name, const size_t *step, int n)
{
	size_t number;

	if (sscanf(name, "trace/step-%zu.safetensors", &number) != 1 || place_of(step, n, number) < 0)
		return 0;
	char *own = name_of(number);
	int is = !strcmp(own, name);
	free(own);
	return is;
}

hu_status
hu_run_check_rest(const hu_run *r, const size_t *step, int n, int share, int of)
{
	const char *name;
	json_t *entry;
	int k = 0;

	json_object_foreach(json_object_get(r->manifest, "files"), name, entry)
	{
		if (is_program(name) || is_trace_of(name, step, n))
			continue;
		if (share == (hu_match("*.safetensors", name) ? k++ % of : 0))
			HU_TRY(hu_run_check_file(r, name));
	}
	return HU_OK;
}

void
hu_run_check_mapped(const hu_run *r, const hu_safetensors *s)
{
	if (r->check && r->check->shared && s->map)
		madvise(s->map, s->map_bytes, MADV_RANDOM);
}

double
hu_run_check_bytes(const hu_run *r)
{
	return r->check ? r->check->bytes : 0;
}
