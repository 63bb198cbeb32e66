/* SPDX-License-Identifier: Apache-2.0
   How an array is cut into tasks, and how a task's elements are read. */
#include "analyzers/inspect/inspect_tasks.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"

#include <stdlib.h>
#include <string.h>

enum {
	TASK = 1 << 14,   /* elements of a task, as far as rows and blocks allow */
	WAVE = 256,       /* tasks between two merges */
	LONGEST = 1 << 20 /* the longest common multiple of block sizes that a row is cut by */
};

static size_t
common_multiple(size_t a, size_t b)
{
	size_t x = a, y = b;

	while (y) {
		size_t rest = x % y;
		x = y;
		y = rest;
	}
	return a / x * b;
}

void
hu_inspect_cut(hu_inspect_job *j)
{
	size_t blocks = 1;

	j->row = j->a->last ? j->a->last : 1;
	j->rows = j->a->n / j->row;
	for (int k = 0; k < j->n && blocks <= LONGEST; k++)
		if (hu_cast_has_blocks(&j->to[k]) && j->to[k].block.size)
			blocks = common_multiple(blocks, j->to[k].block.size);
	if (j->row <= TASK) {
		j->group = TASK / j->row;
		j->tasks = (j->rows + j->group - 1) / j->group;
		j->most = j->group * j->row;
		return;
	}
	j->cut = blocks <= LONGEST ? (TASK + blocks - 1) / blocks * blocks : j->row;
	j->cut = j->cut < j->row ? j->cut : j->row;
	j->cuts = (j->row + j->cut - 1) / j->cut;
	j->tasks = j->rows * j->cuts;
	j->most = j->cut;
}

size_t
hu_inspect_task(const hu_inspect_job *j, size_t k, size_t *at)
{
	if (j->group) {
		size_t rows = j->rows - k * j->group;
		*at = k * j->group * j->row;
		return (rows < j->group ? rows : j->group) * j->row;
	}
	size_t from = k % j->cuts * j->cut;
	*at = k / j->cuts * j->row + from;
	return j->row - from < j->cut ? j->row - from : j->cut;
}

size_t
hu_inspect_element(const hu_array *a, size_t place)
{
	size_t all = a->last * a->inner, in = place % (all ? all : 1);

	return a->inner > 1 ? place - in + in % a->last * a->inner + in / a->last : place;
}

void
hu_inspect_decode(const hu_inspect_job *j, const hu_inspect_desk *d, size_t at, size_t n)
{
	hu_format f = hu_format_of(j->a->format);
	size_t width = (size_t)f.bits / 8;
	const unsigned char *codes = j->a->data;

	if (f.bits < 8) {
		for (size_t i = 0; i < n; i++)
			d->x[i] = hu_array_get(j->a, hu_inspect_element(j->a, at + i));
	} else if (j->a->inner > 1) {
		for (size_t i = 0; i < n; i++)
			memcpy(d->codes + i * width, codes + hu_inspect_element(j->a, at + i) * width, width);
		hu_bulk_unpack_f64(d->x, d->codes, n, j->a->format);
	} else {
		hu_bulk_unpack_f64(d->x, codes + at * width, n, j->a->format);
	}
	memset(d->x + n, 0, HU_INSPECT_SLACK * sizeof *d->x);
}

void
hu_inspect_narrow(const hu_inspect_desk *d, size_t n)
{
	for (size_t i = 0; i < n + HU_INSPECT_SLACK; i++) {
		d->f[i] = (float)d->x[i];
		d->narrow[i] = (double)d->f[i];
	}
}

static void
desk_init(hu_inspect_desk *d, const hu_inspect_job *j)
{
	size_t room = j->most + HU_INSPECT_SLACK;

	d->x = hu_xcalloc(room, sizeof *d->x);
	d->got = hu_xcalloc(room, sizeof *d->got);
	d->narrow = hu_xcalloc(room, sizeof *d->narrow);
	d->f = hu_xcalloc(room, sizeof *d->f);
	d->codes = hu_xcalloc(room, 8);
}

static void
desk_release(hu_inspect_desk *d)
{
	free(d->x);
	free(d->got);
	free(d->narrow);
	free(d->f);
	free(d->codes);
}

size_t
hu_inspect_bytes(const hu_inspect_job *j, size_t task)
{
	size_t at = j->a->n;

	if (task < j->tasks)
		hu_inspect_task(j, task, &at);
	return at * (size_t)hu_format_of(j->a->format).bits / 8;
}

void
hu_inspect_each(void *all, const hu_inspect_job *j, const hu_inspect_work *w)
{
	char *part = hu_xcalloc(WAVE, w->size);

	for (size_t wave = 0; wave < j->tasks; wave += WAVE) {
		size_t end = j->tasks - wave < WAVE ? j->tasks : wave + WAVE;
#pragma omp parallel num_threads(hu_threads()) if (end - wave > 1)
		{
			hu_inspect_desk d;
			desk_init(&d, j);
#pragma omp for schedule(dynamic, 1)
			for (size_t k = wave; k < end; k++)
				w->do_task(part + (k - wave) * w->size, j, &d, k, w->of);
			desk_release(&d);
		}
		for (size_t k = 0; k < end - wave; k++)
			w->merge(all, part + k * w->size, j);
		if (j->a->inner == 1)
			hu_array_drop(j->a, hu_inspect_bytes(j, wave), hu_inspect_bytes(j, end));
	}
	free(part);
}
