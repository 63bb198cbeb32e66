/* SPDX-License-Identifier: Apache-2.0
   Benchmarks training steps by policy, batch, width, learning rate, seed and instruction set: a unit and a row for each
   combination, and below them the published rows of the same model and batch. The state after the steps must not depend
   on the instruction set. */
#include "trainer/bench/gemm.h"
#include "trainer/bench/published.h"
#include "trainer/bench/sweep.h"
#include "trainer/device/steptime.h"
#include "trainer/run/memory.h"

#include "lib/base/table/fields.h"
#include "lib/base/mem.h"
#include "lib/base/failed.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/console/opt_need.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the row of a combination says, once it has been merged: the time and the digest; no digest where it is blank. */
typedef struct cell {
	double ms;
	char digest[24];
} cell;

typedef struct table {
	hu_bench_sweep sweep;
	hu_steptime_ask ask;
	hu_energy energy;
	const char *backend;
	int published; /* the published rows alone are asked for */
	int available; /* the back end is known to run here */
	cell *done;    /* by index in the sweep */
	int measured;
} table;

static json_t *
available(double x)
{
	return x >= 0 ? json_real(x) : json_null();
}

static json_t *
text(const char *s)
{
	return s && *s ? json_string(s) : json_null();
}

/* Returns the cell that has entry `at` of list k and otherwise the same entries as cell i; -1 where it is the cell
   itself, or not merged yet, or blank. */
static int
other(const table *t, int i, int k, int at)
{
	int stride = 1;

	for (int j = k + 1; j < HU_SWEEPS; j++)
		stride *= t->sweep.n[j];
	int to = i + (at - i / stride % t->sweep.n[k]) * stride;
	return to != i && *t->done[to].digest ? to : -1;
}

/* Returns float32's time, which the cell is compared with; for float32 itself the cell's own. */
static double
single_ms(const table *t, int i, const hu_bench_cell *c)
{
	if (!strcmp(c->word[HU_SWEEP_POLICY], "float32"))
		return t->done[i].ms;
	if (strcmp(t->sweep.word[HU_SWEEP_POLICY][0], "float32"))
		return NAN;
	int k = other(t, i, HU_SWEEP_POLICY, 0);
	return k >= 0 ? t->done[k].ms : NAN;
}

/* Returns the part of a row that describes the combination, measured or not. */
static json_t *
head(const table *t, const hu_bench_cell *c, const hu_config *config, const char *image)
{
	char lr[32], width[32];

	snprintf(lr, sizeof lr, "%g", config->lr);
	snprintf(width, sizeof width, "%g", config->width);
	return json_pack("{s:s s:s s:s s:i s:s s:s s:o s:o s:s s:s s:i}", "policy", c->word[HU_SWEEP_POLICY], "model",
		config->model, "image", image, "batch", (int)config->batch, "width", width, "lr", lr, "seed",
		c->word[HU_SWEEP_SEED] ? json_integer((json_int_t)config->seed) : json_null(), "gemm",
		text(c->word[HU_SWEEP_GEMM]), "simd", strcmp(t->backend, "cuda") ? hu_simd_name() : "-", "on",
		t->backend, "ranks", hu_ranks_size());
}

static json_t *
row_of(const table *t, const hu_bench_cell *c, const hu_config *config, const hu_steptime *s, const char *image)
{
	double b = (double)config->batch;
	json_t *j = head(t, c, config, image);
	int seeded = c->word[HU_SWEEP_SEED] != NULL;

	json_t *more = json_pack("{s:f s:f s:f s:f s:f s:o s:o s:f s:o s:o s:o s:o s:n s:o}", "ms", s->ms, "ms_min",
		s->fastest_ms, "ms_spread", s->spread_ms, "wait_ms", s->wait_ms, "samples_per_s", s->samples_per_s,
		"utilisation", available(s->utilisation), "peak_mb", hu_fields_measured(1e-6 * s->peak_bytes),
		"computed_mb", 1e-6 * s->computed_bytes, "joules_step", available(s->joules), "joules_sample",
		available(s->joules / b), "loss", seeded ? hu_fields_number(s->loss) : json_null(), "accuracy",
		seeded ? hu_fields_measured(s->eval.accuracy) : json_null(), "ratio", "digest",
		json_sprintf("0x%016llx", (unsigned long long)s->digest));
	json_object_update(j, more);
	json_decref(more);
	return j;
}

/* Returns a blank row, with the reason: the cell does not fit, or asks for something that this machine lacks. */
static json_t *
blank(const table *t, const hu_bench_cell *c, const hu_config *config, const char *image)
{
	json_t *j = head(t, c, config, image);

	if (c->word[HU_SWEEP_SIMD])
		json_object_set_new(j, "simd", json_string(c->word[HU_SWEEP_SIMD])); /* which may not be in use */
	hu_failed_forget();
	json_object_set_new(j, "note", json_string(hu_reason()));
	json_object_set_new(
		j, "why", json_sprintf("%s, batch %zu: %s", c->word[HU_SWEEP_POLICY], config->batch, hu_reason()));
	return j;
}

static hu_status
image_of(const hu_config *c, char *out, size_t size)
{
	hu_dataset data;

	HU_TRY(hu_config_dataset(c, 1, &data));
	hu_array_shape_text(&data.array[0], out, size);
	hu_dataset_release(&data);
	return HU_OK;
}

static int
ordered(const char *way)
{
	hu_gemm_way w;

	return hu_gemm_find(way, &w) == HU_OK && w != HU_GEMM_CUBLAS;
}

/* Checks that the same steps under another instruction set, or with products computed another way whose order is known,
   left the same state. */
static void
check(const table *t, int i, const hu_bench_cell *c, json_t *row)
{
	static const int same[] = { HU_SWEEP_SIMD, HU_SWEEP_GEMM };

	for (size_t l = 0; l < sizeof same / sizeof *same; l++)
		for (int k = 0; k < t->sweep.n[same[l]]; k++) {
			const char *word = t->sweep.word[same[l]][k];
			int o = other(t, i, same[l], k);
			if (o < 0 || !strcmp(t->done[o].digest, t->done[i].digest) ||
				(same[l] == HU_SWEEP_GEMM && !(ordered(word) && ordered(c->word[HU_SWEEP_GEMM]))))
				continue;
			json_object_set_new(row, "wrong", json_integer(1));
			json_object_set_new(row, "why",
				json_sprintf("%s, %s: digest %s after these steps, but %s with %s",
					c->word[HU_SWEEP_POLICY], c->word[same[l]], t->done[i].digest,
					t->done[o].digest, word));
			return;
		}
}

static void
merge(hu_bench_work *w, int i, json_t *rows)
{
	table *t = w->of;
	json_t *row = json_array_get(rows, 0);
	hu_bench_cell c = hu_sweep_cell(&t->sweep, i);
	const char *digest = json_string_value(json_object_get(row, "digest"));

	if (!digest)
		return;
	t->measured++;
	t->done[i].ms = json_real_value(json_object_get(row, "ms"));
	snprintf(t->done[i].digest, sizeof t->done[i].digest, "%s", digest);
	json_object_set_new(row, "ratio", hu_fields_measured(t->done[i].ms / single_ms(t, i, &c)));
	check(t, i, &c, row);
}

/* Appends the row of a cell whose instruction set this processor lacks. */
static hu_status
lacking(const table *t, const hu_bench_cell *c, json_t *rows)
{
	hu_bench_cell plain = *c;
	hu_config config;
	char image[64], *why = hu_xstrdup(hu_reason());

	plain.word[HU_SWEEP_SIMD] = NULL;
	hu_status st = hu_sweep_config(&config, &t->sweep, &plain, t->backend, 1);
	if (st == HU_OK) {
		st = image_of(&config, image, sizeof image);
		hu_fail(HU_EUNABLE, "%s", why);
		if (st == HU_OK)
			json_array_append_new(rows, blank(t, c, &config, image));
		hu_config_release(&config);
	}
	free(why);
	return st;
}

static hu_status
measure(hu_bench_work *w, int i, json_t *rows)
{
	table *t = w->of;
	hu_bench_cell c = hu_sweep_cell(&t->sweep, i);
	hu_config config;
	hu_steptime s;
	char image[64];

	if (!t->available)
		HU_TRY(hu_gemm_available(t->backend));
	t->available = 1;
	hu_status st = hu_sweep_config(&config, &t->sweep, &c, t->backend, t->ask.warm + t->ask.steps);
	if (st == HU_EUNABLE && c.word[HU_SWEEP_SIMD])
		return lacking(t, &c, rows);
	HU_TRY(st);
	t->ask.bar = w->bar;
	t->ask.evaluate = c.word[HU_SWEEP_SEED] != NULL;
	hu_progress_note(w->bar, "%s, batch %zu", c.word[HU_SWEEP_POLICY], config.batch);
	st = image_of(&config, image, sizeof image);
	if (st == HU_OK)
		st = hu_steptime_measure(&s, &config, &t->ask);
	if (st == HU_OK) {
		json_array_append_new(rows, row_of(t, &c, &config, &s, image));
	} else if (st == HU_ENOMEM || (st == HU_EUNABLE && hu_sweep_cells(&t->sweep) > 1)) {
		json_array_append_new(rows, blank(t, &c, &config, image));
		st = HU_OK;
	}
	hu_config_release(&config);
	return st;
}

static json_t *
published_row(const hu_published *p)
{
	json_t *j = json_pack("{s:o s:s s:s s:i s:s s:o s:o s:o s:o s:s s:o}", "policy", text(p->policy), "model",
		*p->model ? p->model : "another", "image", p->image, "batch", (int)p->batch, "on", p->device, "ms",
		hu_fields_measured(p->ms), "peak_mb", hu_fields_measured(p->memory_mb), "watts",
		hu_fields_measured(p->watts), "ratio", hu_fields_measured(hu_published_ratio(p)), "source", p->source,
		"note", text(p->note));

	json_object_set_new(j, "samples_per_s", hu_fields_measured(1e3 * (double)p->batch / p->ms));
	return j;
}

/* Appends the published rows of the model and of a batch and policy measured here, or every one. */
static hu_status
after(hu_bench_work *w, json_t *rows)
{
	const table *t = w->of;

	for (size_t i = 0; hu_published_at(i); i++) {
		const hu_published *p = hu_published_at(i);
		int fits = t->published;
		for (int k = 0; k < hu_sweep_cells(&t->sweep) && t->measured && !fits; k++) {
			hu_bench_cell c = hu_sweep_cell(&t->sweep, k);
			hu_config config;
			c.word[HU_SWEEP_SIMD] = NULL;
			HU_TRY(hu_sweep_config(&config, &t->sweep, &c, t->backend, 1));
			fits = !strcmp(p->model, config.model) && p->batch == config.batch;
			hu_config_release(&config);
		}
		if (fits)
			json_array_append_new(rows, published_row(p));
	}
	return HU_OK;
}

static hu_status
parse(table *t, const hu_args *a)
{
	long long steps, warm;

	HU_TRY(hu_args_int(a, "steps", 1, 1000000, &steps));
	HU_TRY(hu_args_int(a, "steps:warm", 0, 1000000, &warm));
	t->ask.steps = (size_t)steps;
	t->ask.warm = (size_t)warm;
	t->backend = hu_args_text(a, "backend");
	if (hu_args_text(a, "memory"))
		HU_TRY(hu_parse_bytes(hu_args_text(a, "memory"), &t->ask.memory));
	return hu_energy_open(&t->energy, hu_args_text(a, "meter"), t->backend);
}

static hu_status
begin(hu_bench_work *w, const hu_args *a)
{
	table *t = w->of = hu_xcalloc(1, sizeof *t);

	HU_TRY(hu_sweep_init(&t->sweep, a));
	t->done = hu_xcalloc((size_t)hu_sweep_cells(&t->sweep), sizeof *t->done);
	HU_TRY(parse(t, a));
	t->ask.energy = &t->energy;
	t->published = hu_args_given(a, "published");
	HU_TRY(hu_sweep_work(&t->sweep, w, t->backend, t->ask.warm + t->ask.steps, 1));
	w->n = t->published ? 0 : w->n;
	return HU_OK;
}

static char *
unit_name(const hu_bench_work *w, int i)
{
	return hu_sweep_name(&((const table *)w->of)->sweep, i);
}

static void
end(hu_bench_work *w)
{
	table *t = w->of;

	hu_energy_close(&t->energy);
	free(t->done);
	hu_sweep_release(&t->sweep);
	free(t);
}

static const hu_bench_column columns[] = { { "policy", 20, -1, 0, NULL }, { "model", 8, -1, 1, NULL },
	{ "image", 10, -1, 9, NULL }, { "batch", 5, 0, 1, NULL }, { "width", 5, -1, 10, NULL },
	{ "lr", 7, -1, 12, NULL }, { "seed", 4, 0, 13, NULL }, { "on", 12, -1, 2, NULL }, { "gemm", 6, -1, 8, NULL },
	{ "simd", 7, -1, 14, NULL }, { "ms", 10, 3, 0, "ms/step" }, { "ms_min", 10, 3, 15, NULL },
	{ "ms_spread", 9, 3, 7, NULL }, { "wait_ms", 8, 3, 16, NULL }, { "samples_per_s", 13, 1, 1, "samples/s" },
	{ "utilisation", 11, 2, 4, NULL }, { "peak_mb", 9, 2, 5, NULL }, { "computed_mb", 11, 2, 17, NULL },
	{ "joules_step", 11, 3, 6, "J/step" }, { "joules_sample", 13, 5, 18, "J/sample" }, { "loss", 8, 4, 11, NULL },
	{ "accuracy", 8, 4, 3, NULL }, { "ratio", 6, 3, 0, NULL }, { "watts", 6, 1, 19, "W" },
	{ "digest", 18, -1, 20, NULL }, { "ranks", 5, 0, 8, NULL }, { "note", 1, -1, 21, NULL },
	{ "source", 1, -1, 22, NULL }, { NULL, 0, 0, 0, NULL } };

static const hu_bench_option takes[] = { { "policy", "float32,mixed_float16" }, { "batch", NULL },
	{ "model:width", "1" }, { "optimizer:lr", NULL }, { "seeds", NULL }, { "backend:gemm", NULL },
	{ "backend:simd", NULL }, { "backend", "cpu" }, { "backend:fuse", NULL }, { "backend:graph", NULL },
	{ "steps", "20" }, { "steps:warm", "2" }, { "memory", NULL }, { "meter", "auto" }, { "published", NULL },
#define OPTION(kind, member, name, min, max, argument, def, help) { name, NULL },
#define OPTION_SWEPT(kind, member, name, min, max, argument, def, help)
#include "trainer/run/options_model.def"
	{ NULL, NULL } };

static int
measures(const void *of)
{
	return !hu_args_given(of, "published");
}

#define PUBLISHED "beside --published, which prints published rows alone, all of them"

static const hu_opt_need needs[] = { { "policy seeds backend:gemm backend:simd backend backend:fuse backend:graph "
				       "steps steps:warm memory meter shard "
				       "shard:part resume",
					     measures, PUBLISHED },
	{ hu_options_model_names, measures, PUBLISHED }, { NULL, NULL, NULL } };

const hu_bench hu_bench_train = { .name = "train",
	.summary = "training steps by policy, batch and instruction set, beside published ones",
	.columns = columns,
	.takes = takes,
	.needs = needs,
	.together = 1,
	.begin = begin,
	.unit = unit_name,
	.measure = measure,
	.merge = merge,
	.after = after,
	.end = end };
