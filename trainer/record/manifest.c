/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/manifest.h"

#include "cuda/cublas/cublas.h"
#include "lib/base/build.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/failed.h"
#include "lib/base/guard/guard.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/store/run.h"
#include "trainer/ranked/ranked.h"

#include <string.h>
#include <sys/utsname.h>

const char *
hu_machine_processor(void)
{
	static char name[128];
	char line[512];
	FILE *f = *name ? NULL : fopen("/proc/cpuinfo", "r");

	if (!f && !*name)
		hu_guard_note("/proc/cpuinfo");
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	if (f && ferror(f))
		hu_guard_note("/proc/cpuinfo");
	if (f)
		fclose(f);
	if (!*name)
		strcpy(name, "unknown processor");
	return name;
}

const char *
hu_machine_system(void)
{
	static char name[256];
	struct utsname u;

	if (!uname(&u))
		snprintf(name, sizeof name, "%.60s %.100s %.60s", u.sysname, u.release, u.machine);
	else
		hu_failed_note(HU_EXIT_ENV, "the system does not say its name");
	return name;
}

static json_t *
hex(uint64_t x)
{
	char b[24];

	snprintf(b, sizeof b, "0x%016llx", (unsigned long long)x);
	return json_string(b);
}

static json_t *
arrays(const hu_dataset *d)
{
	json_t *all = json_object();

	for (int i = 0; i < d->narray; i++) {
		json_t *shape = json_array();
		for (int k = 0; k < d->array[i].shape.rank; k++)
			json_array_append_new(shape, json_integer((json_int_t)d->array[i].shape.d[k]));
		json_object_set_new(all, d->array[i].name, shape);
	}
	return all;
}

/* The manifest's "dataset". Sizes of an image array "x" have keys of their own, as in the first version; those of every
   array are under "arrays", except where there are only images and their labels. */
static json_t *
dataset(const hu_dataset *d)
{
	const hu_data_array *x = hu_dataset_find(d, "x"), *labels = hu_dataset_find(d, "labels");
	json_t *j = json_pack("{s:s s:o s:I s:I}", "name", d->name, "digest", hex(hu_dataset_digest(d)), "train",
		(json_int_t)d->n_train, "eval", (json_int_t)d->n_eval);
	int images = x && x->shape.rank == 3;

	for (int k = 0; images && k < 3; k++)
		json_object_set_new(j, (const char *[]){ "height", "width", "channels" }[k],
			json_integer((json_int_t)x->shape.d[k]));
	if (labels)
		json_object_set_new(j, "classes", json_integer((json_int_t)labels->classes));
	if (!images || !labels || d->narray > 2)
		json_object_set_new(j, "arrays", arrays(d));
	return j;
}

/* The step since which rows are counted: the one that the manifest has already, else `from`. */
static size_t
read_since(const json_t *manifest, size_t from)
{
	const json_t *read = json_object_get(json_object_get(manifest, "dataset"), "read"),
		     *step = json_object_get(read, "from_step");

	return step ? (size_t)json_integer_value(step) : from;
}

static void
put_read(json_t *manifest, size_t from, size_t rows, uint64_t digest)
{
	if (rows)
		json_object_set_new(json_object_get(manifest, "dataset"), "read",
			json_pack("{s:I s:I s:o}", "from_step", (json_int_t)from, "rows", (json_int_t)rows, "digest",
				hex(digest)));
}

hu_status
hu_manifest_read(json_t *manifest, hu_session *s, size_t from, size_t to, int evaluated)
{
	uint64_t digest;
	size_t rows;

	from = read_since(manifest, from);
	HU_TRY(hu_ranked_read_rows(s, from, to, evaluated, &rows, &digest));
	put_read(manifest, from, rows, digest);
	return HU_OK;
}

static json_t *
optimizer(const hu_optim_options *o)
{
	const struct {
		const char *option;
		double value;
	} read[] = { { "momentum", o->momentum }, { "beta1", o->beta1 }, { "beta2", o->beta2 }, { "eps", o->eps } };
	json_t *j = json_pack("{s:s s:f}", "name", o->row->name, "lr", o->lr);

	for (size_t i = 0; i < sizeof read / sizeof *read; i++)
		if (hu_word_in(o->row->reads, read[i].option))
			json_object_set_new(j, read[i].option, json_real(read[i].value));
	json_object_set_new(j, "weight_decay", json_real(o->weight_decay));
	if (o->state)
		json_object_set_new(j, "state", json_string(hu_format_name((hu_format_id)(o->state - 1))));
	if (o->update != HU_RNE || o->kahan)
		json_object_set_new(j, "update", json_string(o->kahan ? "kahan" : "sr"));
	return j;
}

/* The manifest's loss scaling; a floor or cap of 0 means none. */
static json_t *
scaling(const hu_scaler *r)
{
	if (!strcmp(r->name, "none") || !strcmp(r->name, "static"))
		return json_pack("{s:s s:f}", "rule", r->name, "init", r->init);
	return json_pack("{s:s s:f s:f s:f s:i s:f s:f s:i}", "rule", r->name, "init", r->init, "growth", r->growth,
		"backoff", r->backoff, "interval", r->interval, "floor", r->floor, "cap", r->cap, "hysteresis",
		r->hysteresis);
}

static json_t *
steps(const hu_record *r)
{
	json_t *a = json_array();

	for (int i = 0; i < r->ntrace; i++)
		json_array_append_new(a, json_integer((json_int_t)r->trace_step[i]));
	return a;
}

/* Records what computes each product of a step. */
static json_t *
products(const hu_session *s)
{
	const hu_program *p = s->programs.train;
	json_t *a = json_array();
	char line[512];

	for (int i = 0; i < p->nc; i++) {
		const char *ran = s->backend->ran(s->train, i);
		if (ran)
			json_array_append_new(a, json_pack("{s:i s:s s:s s:s}", "call", i, "op", p->c[i].op->name,
							 "layer", p->c[i].layer, "ran", ran));
	}
	json_t *lines = json_array(),
	       *j = json_pack("{s:s s:o}", "asked", s->config->gemm ? s->config->gemm : "auto", "calls", a);
	for (size_t i = 0; hu_cublas_line(i, line, sizeof line); i++)
		json_array_append_new(lines, json_string(line));
	if (json_array_size(lines))
		json_object_set(j, "algorithms", lines);
	json_decref(lines);
	return j;
}

hu_status
hu_manifest_recall(const json_t *manifest)
{
	json_t *lines = json_object_get(json_object_get(manifest, "gemm"), "algorithms");

	for (size_t i = 0; i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i));
		if (!line || hu_cublas_recall(line) != HU_OK)
			return hu_fail(HU_EFILE,
				"manifest.json: gemm: algorithms: line %zu names no algorithm of cuBLASLt: say gemm=",
				i + 1);
	}
	return HU_OK;
}

json_t *
hu_manifest_new(const hu_session *s, const hu_record *r, const json_t *command)
{
	const hu_config *c = s->config;
	hu_memory m = hu_memory_of(s->programs.train);
	const char *sum = c->accumulate ? c->accumulate : *c->policy.accumulate ? c->policy.accumulate : "fma,acc=fp32";
	json_t *j = json_pack("{s:i s:s s:O s:I s:s s:o s:o}", "run_version", HU_RUN_VERSION, "halfulp_version",
		hu_build_version(), "command", command, "seed", (json_int_t)c->seed, "model", c->model, "policy",
		hu_policy_to_json(&c->policy), "dataset", dataset(&s->data));

	HU_ASSERT(j);
	json_object_set_new(j, "config", hu_config_to_json(c));
	json_object_set_new(j, "backend", json_string(s->backend->name));
	if (s->backend->ran)
		json_object_set_new(j, "gemm", products(s));
	json_object_set_new(j, "device", json_string(hu_machine_processor()));
	json_object_set_new(j, "host", json_string(hu_machine_system()));
	json_object_set_new(j, "compiler", json_string(hu_build_compiler()));
	json_object_set_new(j, "simd", json_string(hu_simd_name()));
	json_object_set_new(j, "threads", json_integer(hu_threads()));
	json_t *ranks = hu_ranked_json(s);
	if (ranks)
		json_object_set_new(j, "ranks", ranks);
	json_object_set_new(j, "steps", json_integer((json_int_t)s->steps));
	json_object_set_new(j, "steps_per_epoch", json_integer((json_int_t)s->steps_per_epoch));
	json_object_set_new(
		j, "epochs", json_integer((json_int_t)((s->steps + s->steps_per_epoch - 1) / s->steps_per_epoch)));
	json_object_set_new(j, "batch", json_integer((json_int_t)c->batch));
	json_object_set_new(j, "loss_scaling", scaling(&c->scaling.rule));
	json_object_set_new(j, "loss_weight", json_real(c->loss_weight));
	json_object_set_new(j, "accumulate", json_string(sum));
	json_object_set_new(j, "optimizer", optimizer(&c->optim));
	json_object_set_new(j, "parameters", json_integer((json_int_t)hu_parameters(s->programs.train)));
	json_object_set_new(j, "memory_bytes", hu_memory_to_json(&m));
	json_object_set_new(j, "trace_steps", steps(r));
	json_object_set_new(j, "trace_bytes", json_real(r->trace_bytes));
	json_object_set_new(j, "finished", json_false());
	json_object_set_new(j, "steps_done", json_integer(0));
	json_object_set_new(j, "files", json_object());
	return j;
}
