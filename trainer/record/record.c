/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/record.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/store/run.h"
#include "trainer/ranked/ranked.h"
#include "trainer/record/census.h"
#include "trainer/record/manifest.h"
#include "trainer/record/passes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
ascending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Parses "0,100,last" into r->trace_step, sorted and each once. */
static hu_status
parse_steps(hu_record *r, const char *text, size_t steps)
{
	char *all = hu_xstrdup(text), *save = NULL, *end;
	int cap = 0, n = 0;
	hu_status st = HU_OK;

	for (char *w = strtok_r(all, ",", &save); w && st == HU_OK; w = strtok_r(NULL, ",", &save)) {
		size_t step;
		if (!strcmp(w, "none"))
			continue;
		step = !strcmp(w, "first") ? 0 : !strcmp(w, "last") ? steps - 1 : strtoull(w, &end, 10);
		if (strcmp(w, "first") && strcmp(w, "last") && (end == w || *end || step >= steps))
			st = hu_fail(HU_EINVAL,
				"--trace steps=%s: '%s' is no step of this run; steps are 0 to %zu, first, last, or "
				"none",
				text, w, steps - 1);
		HU_GROW(r->trace_step, r->ntrace, cap);
		r->trace_step[r->ntrace++] = step;
	}
	free(all);
	if (r->ntrace)
		qsort(r->trace_step, (size_t)r->ntrace, sizeof *r->trace_step, ascending);
	for (int i = 0; i < r->ntrace; i++)
		if (!n || r->trace_step[n - 1] != r->trace_step[i])
			r->trace_step[n++] = r->trace_step[i];
	r->ntrace = n;
	return st;
}

hu_status
hu_record_init(hu_record *r, const char *dir, const hu_session *s)
{
	const hu_program *p = s->programs.train;
	char need[16], cap[16];

	memset(r, 0, sizeof *r);
	r->dir = hu_xstrdup(dir);
	r->select = hu_xcalloc((size_t)p->nt + 1, 1);
	for (int i = 0; i < p->nt; i++)
		r->select[i] = (char)hu_match(s->config->trace, p->t[i].name);
	r->trace_bytes = hu_run_trace_bytes(p, r->select);
	hu_status st = parse_steps(r, s->config->trace_steps, s->steps);
	double all = r->trace_bytes * r->ntrace;
	if (st == HU_OK && !(all <= s->config->trace_cap))
		st = hu_fail(HU_EINVAL,
			"the trace would take %s in %d steps, --trace cap= is %s: raise it, or trace fewer steps or "
			"tensors (--trace PATTERN)",
			hu_bytes_text(all, need, sizeof need), r->ntrace,
			hu_bytes_text(s->config->trace_cap, cap, sizeof cap));
	if (st != HU_OK)
		hu_record_release(r);
	return st;
}

void
hu_record_release(hu_record *r)
{
	free(r->dir);
	free(r->select);
	free(r->trace_step);
	json_decref(r->manifest);
	memset(r, 0, sizeof *r);
}

static json_t *
files(const hu_record *r)
{
	return json_object_get(r->manifest, "files");
}

static hu_status
write_start(hu_record *r, const hu_session *s)
{
	HU_TRY(hu_run_create(r->dir, 0));
	HU_TRY(hu_run_write_program(r->dir, s->programs.train));
	HU_TRY(hu_run_write_program(r->dir, s->programs.eval));
	HU_TRY(hu_run_add_file(r->dir, "program-train.json", files(r)));
	HU_TRY(hu_run_add_file(r->dir, "program-eval.json", files(r)));
	return hu_run_write_json(r->dir, "manifest.json", r->manifest);
}

/* Removes a run that has no manifest yet, so that the same command can be given again. */
static void
unmake(const char *dir)
{
	static const char *const names[] = { "program-train.json", "program-eval.json" };

	for (int i = 0; i < 2; i++) {
		char *path = hu_path(dir, "%s", names[i]);
		unlink(path);
		free(path);
	}
	for (int i = 0; i < 3; i++) {
		char *path = hu_path(dir, "%s", i == 0 ? "trace" : i == 1 ? "checkpoint" : ".");
		rmdir(i < 2 ? path : dir);
		free(path);
	}
}

hu_status
hu_record_begin(hu_record *r, const hu_session *s, const json_t *command)
{
	HU_TRY(hu_run_may_create(r->dir));
	r->manifest = hu_manifest_new(s, r, command);
	hu_status st = write_start(r, s);
	if (st == HU_OK)
		return HU_OK;
	char *why = hu_xstrdup(hu_reason());
	unmake(r->dir);
	hu_fail(st, "%s", why);
	free(why);
	return st;
}

void
hu_record_continue(hu_record *r, const json_t *manifest, const hu_session *s)
{
	const char *now = s->backend->name, *before;

	json_t *ranks = hu_ranked_json(s);

	r->manifest = json_deep_copy(manifest);
	json_object_del(r->manifest, "ranks");
	if (ranks)
		json_object_set_new(r->manifest, "ranks", ranks);
	before = json_string_value(json_object_get(r->manifest, "backend"));
	if (before && strcmp(before, now)) {
		json_t *was = json_object_get(r->manifest, "backends_before");
		if (!was)
			json_object_set_new(r->manifest, "backends_before", was = json_array());
		json_array_append_new(was, json_string(before));
		json_object_set_new(r->manifest, "backend", json_string(now));
		json_object_set_new(json_object_get(r->manifest, "config"), "backend", json_string(now));
	}
}

/* Returns the tensors of the present step: borrowed from the machine where it has them on the host, otherwise
   copied. */
static hu_status
tensors(hu_session *s, const char *select, hu_tensor **t, int *owned)
{
	const hu_program *p = s->programs.train;

	*owned = !s->backend->peek;
	if (*owned)
		return hu_session_copy(s, select, t);
	*t = hu_xcalloc((size_t)p->nt + 1, sizeof **t);
	for (int i = 0; i < p->nt; i++)
		(*t)[i] = *s->backend->peek(s->train, i);
	return HU_OK;
}

static void
release_tensors(hu_session *s, hu_tensor *t, int owned)
{
	if (owned)
		hu_session_free_tensors(s, t);
	else
		free(t);
}

int
hu_record_traces(const hu_record *r, size_t step)
{
	for (int i = 0; i < r->ntrace; i++)
		if (r->trace_step[i] == step)
			return 1;
	return 0;
}

hu_status
hu_record_trace(hu_record *r, hu_session *s, size_t step)
{
	hu_tensor *t;
	char name[64];
	int owned;

	if (!hu_record_traces(r, step))
		return HU_OK;
	HU_TRY(tensors(s, r->select, &t, &owned));
	hu_status st = hu_run_write_trace(r->dir, step, s->programs.train, t, r->select);
	release_tensors(s, t, owned);
	HU_TRY(st);
	snprintf(name, sizeof name, "trace/step-%06zu.safetensors", step);
	return hu_run_add_file(r->dir, name, files(r));
}

/* Marks the tensors that a checkpoint has: the state. */
static char *
select_state(const hu_program *p)
{
	char *select = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nt; i++)
		select[i] = (char)p->t[i].state;
	return select;
}

/* Has "files" name the newest two checkpoints and no other, and sets *steps (the caller frees it) and *n to all. */
static hu_status
name_checkpoints(hu_record *r, size_t **steps, int *n)
{
	char name[64];
	hu_status st = hu_run_list_steps(r->dir, "checkpoint", steps, n);

	for (int i = 0; i < *n; i++) {
		snprintf(name, sizeof name, "checkpoint/step-%06zu.safetensors", (*steps)[i]);
		json_object_del(files(r), name);
		if (i >= *n - 2 && st == HU_OK)
			st = hu_run_add_file(r->dir, name, files(r));
	}
	return st;
}

/* Writes the manifest, then removes the checkpoints that it does not name. */
static hu_status
settle(hu_record *r, const size_t *steps, int n)
{
	HU_TRY(hu_run_write_json(r->dir, "manifest.json", r->manifest));
	for (int i = 0; i < n - 2; i++) {
		char *path = hu_path(r->dir, "checkpoint/step-%06zu.safetensors", steps[i]);
		unlink(path);
		free(path);
	}
	return HU_OK;
}

hu_status
hu_record_checkpoint(hu_record *r, hu_session *s, const hu_metrics *m, size_t step)
{
	char *select = select_state(s->programs.train);
	size_t *steps;
	hu_tensor *t;
	int owned, n;

	hu_status st = hu_metrics_write(m, r->dir);
	if (st == HU_OK)
		st = hu_passes_write(s, r->dir);
	if (st == HU_OK && (st = tensors(s, select, &t, &owned)) == HU_OK) {
		json_t *meta = json_pack("{s:I s:i}", "step", (json_int_t)step, "run_version", HU_RUN_VERSION);
		st = hu_run_write_checkpoint(r->dir, step, s->programs.train, t, meta);
		json_decref(meta);
		release_tensors(s, t, owned);
	}
	free(select);
	HU_TRY(st);
	st = name_checkpoints(r, &steps, &n);
	json_object_set_new(r->manifest, "steps_done", json_integer((json_int_t)step));
	if (st == HU_OK)
		st = hu_manifest_read(r->manifest, s, r->from, step, 0);
	if (st == HU_OK)
		st = settle(r, steps, n);
	free(steps);
	return st;
}

hu_status
hu_record_recover(hu_record *r, size_t from)
{
	size_t *steps;
	char name[64];
	int n;
	hu_status st = hu_run_list_steps(r->dir, "trace", &steps, &n);

	for (int i = 0; i < n && st == HU_OK; i++) {
		snprintf(name, sizeof name, "trace/step-%06zu.safetensors", steps[i]);
		if (steps[i] < from && !json_object_get(files(r), name))
			st = hu_run_add_file(r->dir, name, files(r));
	}
	free(steps);
	HU_TRY(st);
	st = name_checkpoints(r, &steps, &n);
	if (st == HU_OK && n > 2)
		st = settle(r, steps, n);
	free(steps);
	return st;
}

hu_status
hu_record_finish(hu_record *r, size_t steps)
{
	static const char *const tables[] = { "metrics.tsv", "grads.tsv", "updates.tsv", "exponents.tsv", "casts.tsv",
		"kernels.tsv", "ranks.tsv" };

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char *path = hu_path(r->dir, "%s", tables[i]);
		int there = i < 3 || hu_exists(path); /* the first three always exist */
		free(path);
		if (there)
			HU_TRY(hu_run_add_file(r->dir, tables[i], files(r)));
	}
	json_object_set_new(r->manifest, "finished", json_true());
	json_object_set_new(r->manifest, "steps_done", json_integer((json_int_t)steps));
	return hu_run_write_json(r->dir, "manifest.json", r->manifest);
}
