/* SPDX-License-Identifier: Apache-2.0
   Shows why mixed precision paid off, or did not: a row for each layer or call and each policy, with the least time
   that the device's roofline allows, the time it took, and which of arithmetic, memory and launches sets the limit. A
   unit is a combination of the listed options. */
#include "trainer/bench/sweep.h"
#include "trainer/device/ceiling.h"
#include "trainer/device/gpu.h"
#include "trainer/device/steptime.h"
#include "trainer/device/timing.h"
#include "trainer/run/idle.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct why {
	hu_bench_sweep sweep;
	hu_steptime_ask ask;
	hu_energy none;
	hu_peaks device; /* of which nothing is known before it has an id */
	const char *backend;
	int measures, by_call;
} why;

/* Finds the device of this machine: the processor's measured limits, or the data sheet of the GPU that the driver
   names. */
static hu_status
here(why *w)
{
	hu_gpu g;
	char reason[256];

	if (strcmp(w->backend, "cuda"))
		return hu_ceiling_measure(&w->device);
	if (!hu_gpu_find(&g, reason, sizeof reason))
		return hu_fail(HU_EDEVICE, "--device here: %s", reason);
	const hu_peaks *best = hu_peaks_of_name(g.name, g.bytes);
	if (!best)
		return hu_fail(
			HU_EUNABLE, "--device here: no data sheet of %s is known; name one that is like it", g.name);
	w->device = *best;
	return HU_OK;
}

static void
say(const why *w, const hu_bench_cell *c, const hu_config *config, const hu_program *p, const hu_steptime *t,
	json_t *to)
{
	json_t *rows = hu_timing_to_json(
		       &w->device, p, w->by_call, w->measures ? t->call : NULL, w->measures ? t->pass : NULL),
	       *r;
	size_t i, last = json_array_size(rows) - 1;

	json_array_foreach(rows, i, r)
	{
		double predicted = json_real_value(json_object_get(r, "predicted_ms"));
		if (w->measures && i == last) /* the whole step, including the time between calls */
			json_object_set_new(r, "measured_ms", json_real(t->ms));
		const json_t *m = json_object_get(r, "measured_ms");
		json_object_set_new(r, "policy", json_string(c->word[HU_SWEEP_POLICY]));
		json_object_set_new(r, "batch", json_integer((json_int_t)config->batch));
		json_object_set_new(
			r, "gemm", c->word[HU_SWEEP_GEMM] ? json_string(c->word[HU_SWEEP_GEMM]) : json_null());
		json_object_set_new(r, "device", json_string(w->device.id));
		if (m)
			json_object_set_new(r, "ratio", json_real(json_real_value(m) / predicted));
		if (!*json_string_value(json_object_get(r, "odd")))
			json_object_set_new(r, "odd", json_null());
		if (!w->measures)
			json_object_set_new(r, "machine", json_null());
		json_array_append(to, r);
	}
	json_decref(rows);
}

static hu_status
measure(hu_bench_work *work, int i, json_t *rows)
{
	why *w = work->of;
	hu_bench_cell c = hu_sweep_cell(&w->sweep, i);
	hu_steptime t = { .call = NULL };
	hu_config config;
	hu_dataset data;
	hu_programs p;

	if (!w->device.id)
		HU_TRY(here(w));
	HU_TRY(hu_sweep_config(&config, &w->sweep, &c, w->backend, w->ask.warm + w->ask.steps));
	w->ask.bar = work->bar;
	hu_status st = w->measures ? hu_steptime_measure(&t, &config, &w->ask) : HU_OK;
	if (st == HU_OK)
		st = hu_config_dataset(&config, 1, &data);
	if (st == HU_OK) {
		hu_model_sizes sizes = hu_config_sizes(&config, &data);
		st = hu_build(&p, &config, &sizes);
		hu_dataset_release(&data);
		if (st == HU_OK && (st = hu_idle_patterns(&config, p.train)) != HU_OK)
			hu_programs_release(&p);
	}
	if (st == HU_OK) {
		say(w, &c, &config, p.train, &t, rows);
		hu_programs_release(&p);
	}
	free(t.call);
	free(t.pass);
	hu_config_release(&config);
	return st;
}

static hu_status
parse(why *w, const hu_args *a)
{
	const char *device = hu_args_text(a, "device"), *by = hu_args_text(a, "by");
	long long steps, warm;

	w->backend = hu_args_text(a, "backend");
	HU_TRY(hu_args_int(a, "steps", 1, 1000000, &steps));
	HU_TRY(hu_args_int(a, "steps:warm", 0, 1000000, &warm));
	if (strcmp(by, "layer") && strcmp(by, "call"))
		return hu_fail(HU_EINVAL, "--by %s: layer or call is needed", by);
	w->by_call = !strcmp(by, "call");
	w->measures = hu_roofline_here(device);
	w->ask = (hu_steptime_ask){ .steps = (size_t)steps, .warm = (size_t)warm, .calls = 1, .energy = &w->none };
	HU_TRY(hu_energy_open(&w->none, "none", "cpu"));
	return w->measures ? HU_OK : hu_peaks_find(device, &w->device);
}

static hu_status
begin(hu_bench_work *work, const hu_args *a)
{
	why *w = work->of = hu_xcalloc(1, sizeof *w);

	HU_TRY(hu_sweep_init(&w->sweep, a));
	HU_TRY(parse(w, a));
	return hu_sweep_work(&w->sweep, work, w->backend, w->ask.warm + w->ask.steps, w->measures);
}

static char *
unit_name(const hu_bench_work *work, int i)
{
	return hu_sweep_name(&((const why *)work->of)->sweep, i);
}

static void
end(hu_bench_work *work)
{
	why *w = work->of;

	hu_sweep_release(&w->sweep);
	free(w);
}

static const hu_bench_column columns[] = { { "policy", 20, -1, 1, NULL }, { "batch", 5, 0, 6, NULL },
	{ "device", 8, -1, 5, NULL }, { "layer", 8, -1, 0, NULL }, { "call", 4, 0, 3, NULL }, { "op", 16, -1, 2, NULL },
	{ "phase", 8, -1, 4, NULL }, { "calls", 5, 0, 7, NULL }, { "covers", 8, -1, 12, NULL },
	{ "launches", 8, 0, 13, NULL }, { "macs", 14, 0, 14, NULL }, { "bytes", 12, 0, 9, NULL },
	{ "arithmetic_ms", 13, 4, 8, NULL }, { "memory_ms", 9, 4, 8, NULL }, { "launch_ms", 9, 4, 8, NULL },
	{ "predicted_ms", 12, 4, 0, NULL }, { "measured_ms", 11, 4, 10, NULL }, { "ratio", 7, 2, 11, NULL },
	{ "limit", 10, -1, 3, NULL }, { "odd", 1, -1, 15, NULL }, { NULL, 0, 0, 0, NULL } };

static const hu_bench_option takes[] = { { "policy", "float32,mixed_float16" }, { "batch", NULL },
	{ "model:width", NULL }, { "optimizer:lr", NULL }, { "seeds", NULL }, { "backend:gemm", NULL },
	{ "backend:simd", NULL }, { "backend", "cpu" }, { "backend:fuse", NULL }, { "backend:graph", NULL },
	{ "steps", "10" }, { "steps:warm", "2" }, { "device", "here" }, { "by", "layer" },
#define OPTION(kind, member, name, min, max, argument, def, help) { name, NULL },
#define OPTION_SWEPT(kind, member, name, min, max, argument, def, help)
#include "trainer/run/options_model.def"
	{ NULL, NULL } };

static int
runs_here(const void *of)
{
	return !hu_args_given(of, "device") || hu_roofline_here(hu_args_text(of, "device"));
}

static const hu_opt_need needs[] = {
	{ "seeds optimizer:lr backend backend:gemm backend:simd backend:fuse backend:graph steps steps:warm data:train "
	  "data:eval "
	  "data:seed data:split optimizer:weight_decay optimizer:beta1 optimizer:beta2 optimizer:eps loss-scale:init "
	  "loss-scale:growth loss-scale:backoff loss-scale:interval loss-scale:floor loss-scale:cap "
	  "loss-scale:hysteresis loss:weight",
		runs_here,
		"where the device is another than here: its times are predicted from shapes, and nothing runs" },
	{ NULL, NULL, NULL }
};

const hu_bench hu_bench_why = { .name = "why",
	.summary = "what limits each layer or call, predicted and measured",
	.columns = columns,
	.takes = takes,
	.needs = needs,
	.begin = begin,
	.unit = unit_name,
	.measure = measure,
	.end = end };
