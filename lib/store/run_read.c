/* SPDX-License-Identifier: Apache-2.0
   Reads a run directory. Nothing in it is trusted before it is checked. */
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/console/show_json.h"
#include "lib/store/run_check.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_run_check_version(const json_t *manifest, const char *path)
{
	const json_t *v = json_object_get(manifest, "run_version");

	if (!json_is_integer(v) || json_integer_value(v) < 1)
		return hu_fail(
			HU_EFILE, "%s: run_version is missing or no positive integer: is it a run's manifest?", path);
	if (json_integer_value(v) > HU_RUN_VERSION)
		return hu_fail(HU_EFILE, "%s: run_version is %lld, this program reads up to %d: use a newer halfulp",
			path, (long long)json_integer_value(v), HU_RUN_VERSION);
	return HU_OK;
}

static hu_status
load_manifest(hu_run *r)
{
	char *path = hu_path(r->dir, "manifest.json");
	hu_status st = HU_OK;

	if (!hu_exists(path))
		st = hu_run_absent(r->dir);
	else if ((st = hu_json_read(path, &r->manifest)) == HU_OK && (st = hu_json_plain(r->manifest, path)) == HU_OK)
		st = hu_run_check_version(r->manifest, path);
	double bytes;
	if (st == HU_OK)
		st = hu_run_checksum(path, &bytes, r->xxh3);
	free(path);
	return st;
}

hu_status
hu_run_read_program(const char *path, hu_program **out)
{
	json_t *j;

	HU_TRY(hu_json_read(path, &j));
	hu_status st = hu_json_plain(j, "its names") != HU_OK ? HU_EFILE : hu_program_from_json(j, out);
	if (st != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_fail(st, "%s: %s", path, why);
		free(why);
	}
	json_decref(j);
	return st;
}

static hu_status
load_program(const char *dir, const char *name, hu_program **out)
{
	char *path = hu_path(dir, "program-%s.json", name);
	hu_status st = hu_exists(path) ? hu_run_read_program(path, out) : hu_run_absent(dir);

	free(path);
	return st;
}

static hu_status
open_parts(hu_run *r)
{
	HU_TRY(load_manifest(r));
	HU_TRY(hu_run_check_opened(r));
	HU_TRY(load_program(r->dir, "train", &r->train));
	char *path = hu_path(r->dir, "program-eval.json");
	hu_status st = hu_exists(path) ? load_program(r->dir, "eval", &r->eval) : HU_OK;
	free(path);
	HU_TRY(st);
	return hu_run_list_steps(r->dir, "trace", &r->step, &r->nstep);
}

/* Opens the run, which takes over the lock. */
static hu_status
open_under(hu_run *r, const char *dir, int shared, hu_run_lock lock)
{
	memset(r, 0, sizeof *r);
	r->check = hu_xcalloc(1, sizeof *r->check);
	r->check->shared = shared;
	r->lock = lock;
	r->dir = hu_xstrdup(dir);
	for (size_t n = strlen(r->dir); n > 1 && r->dir[n - 1] == '/'; n--)
		r->dir[n - 1] = 0;
	hu_status st = open_parts(r);
	if (st != HU_OK)
		hu_run_release(r);
	return st;
}

hu_status
hu_run_open_own(hu_run *r, const char *dir, int shared)
{
	return open_under(r, dir, shared, (hu_run_lock){ .held = 0 });
}

static hu_status
open_locked(hu_run *r, const char *dir, int shared)
{
	hu_run_lock lock;

	HU_TRY(hu_run_lock_read(&lock, dir));
	return open_under(r, dir, shared, lock);
}

hu_status
hu_run_open(hu_run *r, const char *dir)
{
	return open_locked(r, dir, 0);
}

hu_status
hu_run_open_shared(hu_run *r, const char *dir)
{
	return open_locked(r, dir, 1);
}

hu_status
hu_run_finished(const hu_run *r)
{
	const json_t *m = r->manifest;

	if (json_is_true(json_object_get(m, "finished")))
		return HU_OK;
	return hu_fail(HU_EFILE,
		"%s: its training was not finished (%lld of %lld steps are recorded): halfulp train --resume %s, then "
		"halfulp analyze %s",
		r->dir, (long long)json_integer_value(json_object_get(m, "steps_done")),
		(long long)json_integer_value(json_object_get(m, "steps")), r->dir, r->dir);
}

void
hu_run_release(hu_run *r)
{
	hu_run_check_free(r);
	free(r->dir);
	free(r->tensors);
	json_decref(r->manifest);
	hu_program_free(r->train);
	hu_program_free(r->eval);
	free(r->step);
	hu_run_unlock(&r->lock);
	memset(r, 0, sizeof *r);
}

/* Copies tensor i of p from the file into t, whose format, shape and n are set. */
static hu_status
take(const hu_safetensors *s, const hu_stensor *e, const hu_info *info, hu_tensor *t)
{
	hu_format_id as;
	const char *dtype = hu_run_dtype(t->format, &as);
	int same = e->rank == t->shape.rank;

	for (int k = 0; same && k < e->rank; k++)
		same = e->shape[k] == t->shape.d[k];
	if (!same || strcmp(e->dtype, dtype))
		return hu_fail(HU_EFILE, "%s: tensor %s at byte %zu is %s of %zu elements, the program says %s of %zu",
			s->path, info->name, e->offset, e->dtype, e->count, dtype, t->n);
	if (!t->data && !(t->data = hu_alloc(t->n * hu_element_size(t->format))))
		return hu_fail(HU_ENOMEM, "there is no memory for tensor %s (%zu elements)", info->name, t->n);
	return hu_run_unpack(t, e->data, e->bytes);
}

static hu_tensor *
empty_tensors(const hu_program *p)
{
	hu_tensor *t = hu_xcalloc((size_t)p->nt + 1, sizeof *t);

	for (int i = 0; i < p->nt; i++) {
		t[i].format = p->t[i].format;
		t[i].shape = p->t[i].shape;
		t[i].n = hu_count(t[i].shape);
	}
	return t;
}

hu_status
hu_run_load_trace(const hu_run *r, size_t step, hu_tensor **out)
{
	char *path = hu_run_trace_path(r, step);
	hu_safetensors s;
	hu_status st = hu_run_check_step(r, step);

	if (st == HU_OK)
		st = hu_safetensors_open(&s, path);
	free(path);
	HU_TRY(st);
	hu_tensor *t = empty_tensors(r->train);
	for (size_t k = 0; k < s.n && st == HU_OK; k++) {
		int i = hu_program_find(r->train, s.tensor[k].name);
		if (i < 0)
			st = hu_fail(HU_EFILE, "%s: tensor %s is not in the program", s.path, s.tensor[k].name);
		else if ((st = hu_run_check_tensor(r, step, &s, &s.tensor[k], i)) == HU_OK)
			st = take(&s, &s.tensor[k], &r->train->t[i], &t[i]);
	}
	hu_safetensors_release(&s);
	if (st == HU_OK)
		*out = t;
	else
		hu_run_free_trace(r, t);
	return st;
}

void
hu_run_free_trace(const hu_run *r, hu_tensor *t)
{
	for (int i = 0; t && i < r->train->nt; i++)
		free(t[i].data);
	free(t);
}

static hu_status
take_state(const hu_safetensors *s, const hu_program *p, hu_tensor *t)
{
	for (int i = 0; i < p->nt; i++) {
		const hu_stensor *e;
		if (!p->t[i].state)
			continue;
		if (!(e = hu_safetensors_find(s, p->t[i].name)))
			return hu_fail(HU_EFILE, "%s: there is no tensor %s", s->path, p->t[i].name);
		HU_TRY(take(s, e, &p->t[i], &t[i]));
	}
	return HU_OK;
}

hu_status
hu_run_load_checkpoint(const char *dir, long step, const hu_program *p, hu_tensor *t, json_t **meta)
{
	hu_safetensors s;
	json_error_t e;

	if (step < 0) {
		size_t *steps;
		int n;
		HU_TRY(hu_run_list_steps(dir, "checkpoint", &steps, &n));
		step = n ? (long)steps[n - 1] : -1;
		free(steps);
		if (!n)
			return hu_fail(HU_EFILE, "%s: no checkpoint is there; train it anew under another name", dir);
	}
	char *path = hu_path(dir, "checkpoint/step-%06ld.safetensors", step);
	hu_status st = hu_safetensors_open(&s, path);
	free(path);
	HU_TRY(st);
	const char *text = hu_safetensors_metadata(&s, "meta");
	*meta = text ? json_loads(text, JSON_REJECT_DUPLICATES, &e) : NULL;
	if (!*meta)
		st = hu_fail(HU_EFILE, "%s: its __metadata__ has no JSON under \"meta\"", s.path);
	else
		st = take_state(&s, p, t);
	hu_safetensors_release(&s);
	if (st != HU_OK) {
		json_decref(*meta);
		*meta = NULL;
	}
	return st;
}

void
hu_run_free_state(const hu_program *p, hu_tensor *t)
{
	for (int i = 0; i < p->nt; i++)
		free(t[i].data);
	free(t);
}

hu_status
hu_run_read_state(const hu_run *r, const hu_program *p, long step, hu_tensor **t)
{
	hu_tensor *x = hu_xcalloc((size_t)p->nt + 1, sizeof *x);
	json_t *meta = NULL;

	for (int i = 0; i < p->nt; i++) {
		const hu_info *info = &p->t[i];
		if (!info->state)
			continue;
		x[i] = (hu_tensor){ .format = info->format, .shape = info->shape, .n = hu_count(info->shape) };
		x[i].data = hu_xcalloc(x[i].n + 1, hu_element_size(info->format));
	}
	hu_status st = hu_run_load_checkpoint(r->dir, step, p, x, &meta);
	json_decref(meta);
	if (st != HU_OK)
		hu_run_free_state(p, x);
	*t = st == HU_OK ? x : NULL;
	return st;
}

static const char *
text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "-";
}

const char *
hu_run_note(const hu_run *r)
{
	return r->tensors ? "program and tensors xxh3" : HU_RUN_MANIFEST_NOTE;
}

void
hu_run_provenance(const hu_run *r, hu_tsv *t, const char *table)
{
	const json_t *m = r->manifest;
	hu_str command;
	size_t i;
	json_t *word;

	hu_tsv_note(t, "table", "%s", table);
	hu_tsv_note(t, "halfulp", "%s (run by %s)", hu_build_version(), text_of(m, "halfulp_version"));
	hu_tsv_note(t, "run", "%s", r->dir);
	hu_tsv_note(t, hu_run_note(r), "%s", r->xxh3);
	if (r->tensors) /* what a manifest would say is unknown */
		return;
	hu_str_init(&command);
	json_array_foreach(json_object_get(m, "command"), i, word)
		hu_str_addf(&command, "%s%s", i ? " " : "", json_string_value(word) ? json_string_value(word) : "");
	hu_tsv_note(t, "command", "%s", command.s);
	hu_tsv_note(t, "seed", "%lld", (long long)json_integer_value(json_object_get(m, "seed")));
	hu_tsv_note(t, "model", "%s", text_of(m, "model"));
	hu_tsv_note(t, "policy", "%s", text_of(json_object_get(m, "policy"), "name"));
	hu_tsv_note(t, "backend", "%s on %s, SIMD %s, compiler %s", text_of(m, "backend"), text_of(m, "device"),
		text_of(m, "simd"), text_of(m, "compiler"));
	hu_tsv_note(t, "machine", "%s", text_of(m, "host"));
	hu_str_release(&command);
}
