/* SPDX-License-Identifier: Apache-2.0
   Opening: which kind of file it is, and its items by name. */
#include "analyzers/drift/contents/contents.h"

#include "analyzers/drift/contents/contents_source.h"
#include "lib/base/guard/guard.h"
#include "lib/base/guard/input.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/store/npz.h"
#include "lib/store/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Columns of a run's metrics.tsv that tell of the machine, and the digest, which its tensors are held in place of. */
static const char *const measured[] = { "ms", "wait_ms", "samples_per_s", "joules", "joules_per_sample", "watts",
	"utilisation" };

static hu_status
add_safetensors(hu_contents *c, const char *path, const char *before)
{
	hu_contents_source *s = hu_contents_source_add(c);

	HU_TRY(hu_safetensors_open(&s->s, path));
	for (size_t i = 0; i < s->s.n; i++) {
		const hu_stensor *from = &s->s.tensor[i];
		hu_item *t = hu_contents_add(c, hu_xprintf("%s%s", before, from->name));
		t->rank = from->rank;
		memcpy(t->shape, from->shape, sizeof t->shape);
		t->bytes = from->bytes;
		t->data = from->data;
		const unsigned char *map = s->s.map;
		t->mapped = map && t->data >= map && t->data < map + s->s.map_bytes;
		hu_item_set_dtype(t, from->dtype);
	}
	return HU_OK;
}

static hu_status
add_npy(hu_contents *c, const char *path)
{
	hu_contents_source *s = hu_contents_source_add(c);
	int plain;
	size_t start;
	hu_npy head;

	HU_TRY(hu_file_map(path, &s->map, &s->map_bytes));
	HU_TRY(hu_npy_head(&head, path, s->map, s->map_bytes, s->map_bytes, &start, &plain));
	hu_item *t = hu_contents_add(c, hu_xstrdup("array"));
	hu_contents_npy(t, &head);
	t->data = (const unsigned char *)s->map + start;
	t->mapped = plain;
	if (plain)
		return HU_OK;
	HU_TRY(hu_npy_parse(&s->npy, path, s->map, s->map_bytes));
	t->data = s->npy.data;
	return HU_OK;
}

static int
is_measured(const char *name)
{
	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
		if (!strcmp(measured[i], name))
			return 1;
	return 0;
}

static hu_status
add_series(hu_contents *c, const char *path, const char *before, const char *step)
{
	hu_contents_source *s = hu_contents_source_add(c);

	HU_TRY(hu_series_read(&s->f, path, step));
	for (size_t i = 0; i < s->f.n; i++) {
		hu_metric_series *from = &s->f.series[i];
		if (*before && is_measured(from->name))
			continue;
		hu_item *t = hu_contents_add(c, hu_xprintf("%s%s", before, from->name));
		t->kind = HU_ITEM_SERIES;
		t->dtype = from->numbers ? "numbers" : "texts";
		t->format = from->numbers ? HU_FP64 : HU_NO_FORMAT;
		t->bits = 64;
		t->rank = 1;
		t->shape[0] = t->count = from->n;
		t->series = from;
	}
	return HU_OK;
}

/* Safetensors of FOLDER, whose names get folder and step in front. */
static hu_status
add_steps(hu_contents *c, const char *dir, const char *folder)
{
	size_t *step;
	int n;
	hu_status st = hu_run_list_steps(dir, folder, &step, &n);

	for (int i = 0; i < n && st == HU_OK; i++) {
		char *path = hu_path(dir, "%s/step-%06zu.safetensors", folder, step[i]),
		     *before = hu_xprintf("%s/step-%06zu/", folder, step[i]);
		st = add_safetensors(c, path, before);
		free(path);
		free(before);
	}
	free(step);
	return st;
}

static hu_status
add_run(hu_contents *c, const char *dir)
{
	hu_run r;

	HU_TRY(hu_run_open(&r, dir));
	hu_status st = hu_run_finished(&r);
	hu_run_release(&r);
	HU_TRY(st);
	HU_TRY(add_steps(c, dir, "checkpoint"));
	HU_TRY(add_steps(c, dir, "trace"));
	char *path = hu_path(dir, "metrics.tsv");
	st = add_series(c, path, "metrics/", "step");
	free(path);
	return st;
}

static hu_status
add_file(hu_contents *c, const char *path, const char *step)
{
	unsigned char head[9] = "";
	struct stat st;
	FILE *f;

	if (hu_input_stat(path, &st))
		return hu_fail(hu_guard_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return add_run(c, path);
	if (!S_ISREG(st.st_mode))
		return hu_fail(HU_EFILE, "%s: neither a file nor a run directory", path);
	HU_TRY(hu_input_open(path, &f));
	size_t got = fread(head, 1, sizeof head, f);
	fclose(f);
	if (hu_onnx_is(path))
		return hu_contents_add_onnx(c, path);
	if (hu_npz_is(path))
		return hu_contents_add_npz(c, path);
	if (got >= 6 && !memcmp(head, "\x93NUMPY", 6))
		return add_npy(c, path);
	/* A header's length, whose upper bytes are zeros, and then the header */
	if (got == sizeof head && !head[5] && !head[6] && !head[7] && head[8] == '{')
		return add_safetensors(c, path, "");
	size_t n = strlen(path);
	if (n > 12 && !strcmp(path + n - 12, ".safetensors"))
		return add_safetensors(c, path, ""); /* which says what is wrong with it */
	return add_series(c, path, "", step);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const hu_item *)a)->name, ((const hu_item *)b)->name);
}

hu_status
hu_contents_open(hu_contents *c, const char *path, const char *step)
{
	memset(c, 0, sizeof *c);
	c->path = hu_xstrdup(path);
	hu_status st = add_file(c, path, step);
	if (c->n)
		qsort(c->item, c->n, sizeof *c->item, by_name);
	for (size_t i = 1; st == HU_OK && i < c->n; i++)
		if (!strcmp(c->item[i - 1].name, c->item[i].name))
			st = hu_fail(HU_EFILE, "%s: it has two arrays of the name %s", path, c->item[i].name);
	if (st != HU_OK)
		hu_contents_release(c);
	return st;
}

const hu_item *
hu_contents_find(const hu_contents *c, const char *name)
{
	hu_item key = { .name = (char *)(size_t)name };

	return c->n ? bsearch(&key, c->item, c->n, sizeof *c->item, by_name) : NULL;
}
