/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/run_trace.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/run_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns 1 if the file's bytes are the values: aligned floats and doubles. */
static int
in_place(const hu_tensor *t)
{
	hu_format_id as;

	hu_run_dtype(t->format, &as);
	return as == HU_FP32 || as == HU_FP64;
}

static size_t
unpacked(const hu_tensor *t)
{
	return (t->n * hu_element_size(t->format) + 63) / 64 * 64;
}

/* Returns size bytes of memory, anonymous or mapped from an unlinked file. */
static void *
room(hu_run_trace *m, const hu_run *r, size_t size, size_t in_memory)
{
	void *p = MAP_FAILED;

	if (size > in_memory) {
		char *name = hu_path(r->dir, r->tensors ? ".unpacked-XXXXXX" : "trace/.unpacked-XXXXXX");
		int fd = mkstemp(name);
		if (fd >= 0) {
			unlink(name);
			if (posix_fallocate(fd, 0, (off_t)size) == 0)
				p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			close(fd);
		}
		free(name);
		m->in_file = p != MAP_FAILED;
	}
	if (p == MAP_FAILED) /* a read-only run or a full disk: memory may still suffice */
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static hu_status
check(const hu_run_trace *m, const hu_run *r, const hu_stensor *e, int *id)
{
	hu_format_id as;
	const hu_tensor *t;

	*id = hu_program_find(r->train, e->name);
	if (*id < 0)
		return hu_fail(HU_EFILE, "%s: tensor %s is not in the program", m->s.path, e->name);
	t = &m->t[*id];
	const char *dtype = hu_run_dtype(t->format, &as);
	int same = e->rank == t->shape.rank;
	for (int k = 0; same && k < e->rank; k++)
		same = e->shape[k] == t->shape.d[k];
	if (!same || strcmp(e->dtype, dtype))
		return hu_fail(HU_EFILE, "%s: tensor %s at byte %zu is %s of %zu elements, the program says %s of %zu",
			m->s.path, e->name, e->offset, e->dtype, e->count, dtype, t->n);
	return HU_OK;
}

static hu_status
fill(hu_run_trace *m, const hu_run *r, size_t in_memory)
{
	size_t at = 0;
	int id;

	for (size_t k = 0; k < m->s.n; k++) {
		HU_TRY(check(m, r, &m->s.tensor[k], &id));
		m->spill_bytes += in_place(&m->t[id]) ? 0 : unpacked(&m->t[id]);
	}
	if (m->spill_bytes && !(m->spill = room(m, r, m->spill_bytes, in_memory)))
		return hu_fail(HU_ENOMEM,
			"%s: there is no room for %zu bytes of unpacked tensors, neither in memory nor in a file "
			"beside it: %s",
			m->s.path, m->spill_bytes, strerror(errno));
	for (size_t k = 0; k < m->s.n; k++) {
		const hu_stensor *e = &m->s.tensor[k];
		hu_tensor *t = &m->t[hu_program_find(r->train, e->name)];
		m->unread[t - m->t] = e;
		if (in_place(t)) {
			/* the mapping is read only, whatever the pointer's type says */
			t->data = (void *)(size_t)e->data;
			continue;
		}
		t->data = (char *)m->spill + at;
		at += unpacked(t);
	}
	return HU_OK;
}

hu_status
hu_run_trace_need(hu_run_trace *m, int id)
{
	const hu_stensor *e = m->unread[id];

	if (!e)
		return HU_OK;
	HU_TRY(hu_run_check_tensor(m->r, m->step, &m->s, e, id));
	m->unread[id] = NULL;
	if (in_place(&m->t[id]))
		return HU_OK;
	hu_status st = hu_run_unpack(&m->t[id], e->data, e->bytes);
	if (m->in_file)
		hu_run_trace_cool(m);
	return st;
}

hu_status
hu_run_map_trace(const hu_run *r, size_t step, size_t in_memory, hu_run_trace *m)
{
	HU_TRY(hu_run_check_step(r, step));
	char *path = hu_run_trace_path(r, step);
	memset(m, 0, sizeof *m);
	hu_status st = hu_safetensors_open(&m->s, path);
	free(path);
	HU_TRY(st);
	hu_run_check_mapped(r, &m->s);
	m->r = r;
	m->step = step;
	m->t = hu_xcalloc((size_t)r->train->nt + 1, sizeof *m->t);
	m->unread = hu_xcalloc((size_t)r->train->nt + 1, sizeof *m->unread);
	for (int i = 0; i < r->train->nt; i++) {
		m->t[i].format = r->train->t[i].format;
		m->t[i].shape = r->train->t[i].shape;
		m->t[i].n = hu_count(m->t[i].shape);
	}
	st = fill(m, r, in_memory);
	if (st != HU_OK)
		hu_run_unmap_trace(m);
	return st;
}

void
hu_run_unmap_trace(hu_run_trace *m)
{
	if (m->spill)
		munmap(m->spill, m->spill_bytes);
	hu_safetensors_release(&m->s);
	free(m->t);
	free(m->unread);
	memset(m, 0, sizeof *m);
}

void
hu_run_trace_cool(const hu_run_trace *m)
{
	/* For a file's mapping this drops the pages from the process, not from the file. */
	if (m->s.map)
		madvise(m->s.map, m->s.map_bytes, MADV_DONTNEED);
	if (m->in_file)
		madvise(m->spill, m->spill_bytes, MADV_DONTNEED);
}
