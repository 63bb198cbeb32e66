/* SPDX-License-Identifier: Apache-2.0
   Writes a run directory, each file completely or not at all. */
#include "lib/base/guard/input.h"
#include "lib/base/guard/temporary.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/bulk/bulk.h"
#include "lib/store/run_check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const folders[] = { "trace", "checkpoint" };

/* Returns 1 if dir contains only what a run writes before its manifest: it is empty, or a run's start was cut off. */
static int
never_began(const char *dir)
{
	DIR *d;
	int ours = hu_input_folder(dir, &d) == HU_OK && d;

	for (struct dirent *e; d && (e = hu_input_entry(d));)
		ours &= !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strcmp(e->d_name, folders[0]) ||
			!strcmp(e->d_name, folders[1]) || !strcmp(e->d_name, HU_RUN_LOCK) ||
			hu_match("program-*.json,*.json.tmp.*", e->d_name);
	if (d)
		closedir(d);
	return ours;
}

hu_status
hu_run_may_create(const char *dir)
{
	if (hu_exists(dir) && !never_began(dir))
		return hu_fail(HU_EINVAL, "%s exists already; choose another name, or continue it with --resume", dir);
	return HU_OK;
}

hu_status
hu_run_create(const char *dir, int resume)
{
	if (!resume)
		HU_TRY(hu_run_may_create(dir));
	HU_TRY(hu_temporary_sweep(dir));
	for (int i = 0; i < 2; i++) {
		char *path = hu_path(dir, "%s", folders[i]);
		hu_status st = hu_make_dirs(path);
		if (st == HU_OK)
			st = hu_temporary_sweep(path);
		free(path);
		HU_TRY(st);
	}
	return HU_OK;
}

hu_status
hu_run_write_json(const char *dir, const char *name, const json_t *j)
{
	char *path = hu_path(dir, "%s", name),
	     *text = json_dumps(j, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));

	HU_ASSERT(text);
	text = hu_xrealloc(text, strlen(text) + 2);
	strcat(text, "\n");
	hu_status st = hu_file_write(path, text, strlen(text));
	free(text);
	free(path);
	return st;
}

hu_status
hu_run_write_program(const char *dir, const hu_program *p)
{
	json_t *j = hu_program_to_json(p);
	char name[64];

	snprintf(name, sizeof name, "program-%s.json", p->name);
	hu_status st = hu_run_write_json(dir, name, j);
	json_decref(j);
	return st;
}

/* Writes down the checksum of a tensor's bytes, of which a process compares those that it reads. */
static hu_status
add_sum(hu_safetensors_writer *w, const hu_info *info, const void *bytes, size_t n)
{
	char *key = hu_run_check_key(info->name), hex[17];

	hu_run_check_sum(bytes, n, hex);
	hu_status st = hu_safetensors_set(w, key, hex);
	free(key);
	return st;
}

/* Adds tensor t; *copy gets the packed copy, if packing was necessary. */
static hu_status
add(hu_safetensors_writer *w, const hu_info *info, const hu_tensor *t, void **copy)
{
	hu_format_id as;
	const char *dtype = hu_run_dtype(t->format, &as);

	if (as != HU_FP32 && as != HU_FP64) {
		if (!(*copy = hu_alloc(t->n * hu_bulk_element(as))))
			return hu_fail(HU_ENOMEM, "there is no memory to pack %s (%zu elements)", info->name, t->n);
		hu_bulk_pack(*copy, t->data, t->n, as);
	}
	if (as != t->format) {
		char *key = hu_xprintf("format:%s", info->name);
		hu_status st = hu_safetensors_set(w, key, hu_format_name(t->format));
		free(key);
		HU_TRY(st);
	}
	HU_TRY(add_sum(w, info, *copy ? *copy : t->data, t->n * hu_bulk_element(as)));
	return hu_safetensors_add(w, info->name, dtype, t->shape.rank, t->shape.d, *copy ? *copy : t->data);
}

static hu_status
write_tensors(const char *path, size_t step, const char *kind, const hu_program *p, const hu_tensor *t,
	const char *select, int state, const char *meta)
{
	hu_safetensors_writer w;
	void **copy = hu_xcalloc((size_t)p->nt + 1, sizeof *copy);
	char number[32];
	hu_status st;

	hu_safetensors_begin(&w);
	snprintf(number, sizeof number, "%zu", step);
	st = hu_safetensors_set(&w, "halfulp", kind);
	if (st == HU_OK)
		st = hu_safetensors_set(&w, "step", number);
	if (st == HU_OK && meta)
		st = hu_safetensors_set(&w, "meta", meta);
	for (int i = 0; i < p->nt && st == HU_OK; i++)
		if (t[i].data && (state ? p->t[i].state : !select || select[i]))
			st = add(&w, &p->t[i], &t[i], &copy[i]);
	if (st == HU_OK)
		st = hu_safetensors_commit(&w, path);
	else
		hu_safetensors_abandon(&w);
	for (int i = 0; i < p->nt; i++)
		free(copy[i]);
	free(copy);
	return st;
}

hu_status
hu_run_write_trace(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const char *select)
{
	char *path = hu_path(dir, "trace/step-%06zu.safetensors", step);
	hu_status st = write_tensors(path, step, "trace", p, t, select, 0, NULL);

	free(path);
	return st;
}

hu_status
hu_run_write_checkpoint(const char *dir, size_t step, const hu_program *p, const hu_tensor *t, const json_t *meta)
{
	char *path = hu_path(dir, "checkpoint/step-%06zu.safetensors", step),
	     *text = json_dumps(meta, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
	hu_status st = write_tensors(path, step, "checkpoint", p, t, NULL, 1, text);

	free(text);
	free(path);
	return st;
}

double
hu_run_trace_bytes(const hu_program *p, const char *select)
{
	double bytes = 0;

	for (int i = 0; i < p->nt; i++) {
		hu_format_id as;
		if (select && !select[i])
			continue;
		hu_run_dtype(p->t[i].format, &as);
		bytes += (double)hu_count(p->t[i].shape) * (double)hu_bulk_element(as);
	}
	return bytes;
}

/* Adds the header's checksum to the entry of a file whose header has one of every tensor. */
static hu_status
add_header(const char *path, json_t *entry)
{
	hu_safetensors s;
	double bytes;
	char hex[17];

	if (!hu_match("*.safetensors", path))
		return HU_OK;
	HU_TRY(hu_safetensors_open(&s, path));
	int possible = hu_run_check_possible(&s);
	hu_safetensors_release(&s);
	if (!possible)
		return HU_OK;
	HU_TRY(hu_run_checksum_header(path, &bytes, hex));
	json_object_set_new(entry, "header", json_string(hex));
	return HU_OK;
}

hu_status
hu_run_add_file(const char *dir, const char *name, json_t *files)
{
	char *path = hu_path(dir, "%s", name), hex[17];
	double bytes;
	hu_status st = hu_run_checksum(path, &bytes, hex);

	if (st == HU_OK) {
		json_t *entry = json_pack("{s:I s:s}", "bytes", (json_int_t)bytes, "xxh3", hex);
		st = add_header(path, entry);
		if (st == HU_OK)
			json_object_set(files, name, entry);
		json_decref(entry);
	}
	free(path);
	return st;
}
