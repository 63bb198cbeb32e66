/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/inspect/inspect_files.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static hu_status
add(hu_inspect_files *s, const char *path)
{
	hu_foreign *f = hu_xcalloc(1, sizeof *f);
	hu_status st = hu_foreign_open(f, path);

	if (st != HU_OK) {
		free(f);
		return st;
	}
	HU_GROW(s->file, s->n, s->cap);
	s->file[s->n++] = (hu_inspect_file){ hu_xstrdup(path), f };
	return HU_OK;
}

static int
is_index(const char *path)
{
	static const char end[] = ".index.json";
	size_t n = strlen(path), m = sizeof end - 1;

	return n >= m && !strcmp(path + n - m, end);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Compares the tensors of a shard, which was added last, with those that the index has of it. */
static hu_status
compare(const hu_inspect_files *s, const char *index, const json_t *map, const char *shard)
{
	const hu_inspect_file *last = &s->file[s->n - 1];
	size_t n = 0;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(size_t)map, name, value)
	{
		if (strcmp(json_string_value(value), shard))
			continue;
		if (!hu_safetensors_find(&last->f->s, name))
			return hu_fail(HU_EFILE,
				"%s: the index has tensor %s in this file, which lacks it: %s is another "
				"checkpoint's, or the file is",
				last->path, hu_shown(name), index);
		n++;
	}
	if (n != last->f->n)
		return hu_fail(HU_EFILE,
			"%s: it has %zu tensors, of which the index has %zu: %s is another checkpoint's, "
			"or the file is",
			last->path, last->f->n, n, index);
	return HU_OK;
}

static hu_status
add_shard(hu_inspect_files *s, const char *index, const json_t *map, const char *shard)
{
	const char *slash = strrchr(index, '/');

	if (!*shard || strchr(shard, '/') || !strcmp(shard, ".."))
		return hu_fail(HU_EFILE,
			"%s: weight_map names '%s', and shards lie in the index's folder: write the file's "
			"name alone",
			index, hu_shown(shard));
	char *path = hu_xprintf("%.*s%s", slash ? (int)(slash - index) + 1 : 0, index, shard);
	hu_status st = add(s, path);
	free(path);
	return st == HU_OK ? compare(s, index, map, shard) : st;
}

static hu_status
add_index(hu_inspect_files *s, const char *index)
{
	json_error_t e;
	json_t *root = json_load_file(index, JSON_REJECT_DUPLICATES, &e), *map = json_object_get(root, "weight_map"),
	       *value;
	const char *name, **shard = NULL;
	size_t n = 0, cap = 0;
	hu_status st = HU_OK;

	if (!root)
		return hu_fail(HU_EFILE, "%s: line %d: %s: write the index as JSON", index, e.line, hu_shown(e.text));
	if (!json_object_size(map))
		st = hu_fail(HU_EFILE,
			"%s: it has no weight_map, which says in which file each tensor lies: inspect the "
			"shards by their own names",
			index);
	json_object_foreach(map, name, value)
	{
		if (st == HU_OK && !json_is_string(value))
			st = hu_fail(HU_EFILE, "%s: weight_map's %s is no file name", index, hu_shown(name));
		if (st != HU_OK)
			break;
		HU_GROW(shard, n, cap);
		shard[n++] = json_string_value(value);
	}
	if (n)
		qsort(shard, n, sizeof *shard, by_text);
	for (size_t i = 0; i < n && st == HU_OK; i++)
		if (!i || strcmp(shard[i - 1], shard[i]))
			st = add_shard(s, index, map, shard[i]);
	free(shard);
	json_decref(root);
	return st;
}

hu_status
hu_inspect_files_open(hu_inspect_files *s, char *const *path, int n)
{
	hu_status st = HU_OK;

	memset(s, 0, sizeof *s);
	for (int i = 0; i < n && st == HU_OK; i++)
		st = is_index(path[i]) ? add_index(s, path[i]) : add(s, path[i]);
	if (st != HU_OK)
		hu_inspect_files_release(s);
	return st;
}

/* The name of the i-th tensor of all files; NULL where it holds other things than floating-point numbers. */
static const char *
tensor_name(const void *of, size_t i)
{
	const hu_inspect_files *files = of;
	size_t f = 0;

	for (; i >= files->file[f].f->n; f++)
		i -= files->file[f].f->n;
	const hu_array *a = &files->file[f].f->array[i];
	return a->format != HU_NO_FORMAT ? a->name : NULL;
}

char *
hu_inspect_files_unmatched(const hu_inspect_files *s, const char *patterns)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->file[i].f->n;
	return hu_str_unmatched(patterns, tensor_name, s, n);
}

int
hu_inspect_files_rank(const hu_inspect_files *s, const char *patterns)
{
	int most = -1;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->file[i].f->n; k++) {
			const hu_array *a = &s->file[i].f->array[k];
			int counts = a->format != HU_NO_FORMAT && (!patterns || hu_match(patterns, a->name));
			most = counts && a->rank > most ? a->rank : most;
		}
	return most;
}

void
hu_inspect_files_release(hu_inspect_files *s)
{
	for (size_t i = 0; i < s->n; i++) {
		hu_foreign_release(s->file[i].f);
		free(s->file[i].f);
		free(s->file[i].path);
	}
	free(s->file);
	memset(s, 0, sizeof *s);
}
