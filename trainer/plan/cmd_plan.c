/* SPDX-License-Identifier: Apache-2.0
   halfulp plan: computes from shapes alone what a training step costs and what its roundings may do. */
#include "lib/base/table/fields.h"
#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "trainer/run/build.h"
#include "trainer/device/ceiling.h"
#include "trainer/device/fits.h"
#include "trainer/device/steptime.h"
#include "trainer/device/timing.h"
#include "trainer/device/mixed.h"
#include "trainer/run/idle.h"
#include "trainer/run/memory.h"
#include "trainer/plan/plan_rows.h"
#include "trainer/plan/ranks_out.h"
#include "trainer/run/need.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
#include "trainer/run/options_model.def"
	{ "policy", "P", "float32", "a precision policy; give it several times to compare" },
	{ "list", NULL, NULL, "list the policies that have a name" },
	{ "by", "WHAT", "layer", "a row for each layer, or for each call of an operator" },
	{ "device", "NAME", NULL,
		"show what limits each layer on this device and the least time it takes: v100, a100, ..., or "
		"here or cpu, which measures this machine" },
	{ "device:measure", "N", NULL,
		"with --device here: run N steps on this machine and print the time that each layer took" },
	{ "memory", "SIZE", NULL,
		"print for each policy the largest batch whose training allocates at most SIZE (16GiB, 8e9) on a "
		"device" },
	{ "ranks", "N", NULL,
		"for data-parallel training over N ranks, a batch each: print what a rank holds and sends in a step, "
		"for each stage of ZeRO" },
	{ "ranks:wire", "FORMAT", NULL,
		"format in which gradients are sent [that of --all-reduce, else of each gradient]" },
	{ "ranks:measured", "RUN", NULL,
		"print what the ranks of this run took a step, beside the plan of its policy" },
	{ "ranks:network", "NAME", NULL,
		"print the least time that sending takes; GB/s that a rank sends at most, or one of"
#define NETWORK(id, gb_s, source) " " #id
#include "trainer/plan/networks.def"
#undef NETWORK
	},
	{ "program", NULL, NULL, "print the training step's program instead" }, { "json", NULL, NULL, "print JSON" },
	{ NULL, NULL, NULL, NULL }
};

typedef struct plan {
	hu_config config;
	hu_dataset data;
	hu_peaks device;         /* id is NULL where no device is asked for */
	size_t steps;            /* the value of --device measure= */
	double bytes;            /* the value of --memory; 0: not given */
	hu_rank_ask ranks;       /* what --ranks asks for; ranks.n is 0 where it is not given */
	hu_rank_sizes sizes[64]; /* by policy */
	hu_memory memory[64];
	double need[64]; /* bytes on a device, by policy, NAN where no device takes its program */
	char *refused[64]; /* why */
	hu_timing timing[64];
	size_t largest[64];
	const char *name[64];
	json_t *json;
} plan;

/* Measures the median times of a few steps, each call by itself; leaves *t untouched where nothing is to be
   measured. */
static hu_status
measure(const plan *x, hu_steptime *t)
{
	hu_config c = x->config;
	hu_energy none;

	if (!x->steps)
		return HU_OK;
	c.backend = (char *)(size_t) "cpu"; /* only read, never freed */
	c.epochs = c.epochs ? c.epochs : 1;
	c.seed = 1;
	HU_TRY(hu_energy_open(&none, "none", "cpu"));
	return hu_steptime_measure(
		t, &c, &(hu_steptime_ask){ .warm = 2, .steps = x->steps, .calls = 1, .energy = &none });
}

static json_t *
timing_json(const plan *x, const hu_program *p, int by_call, const double *measured)
{
	const hu_peaks *d = &x->device;

	return json_pack("{s:s s:s s:f s:f s:o}", "device", d->name, "source", d->source, "launch_us", d->launch_us,
		"fp32_tflops", d->fp32, "rows", hu_timing_to_json(d, p, by_call, measured, NULL));
}

static void
print_timing(const plan *x, const hu_program *p, int by_call, const hu_steptime *t)
{
	const hu_peaks *d = &x->device;

	printf("\non %s (%.4g TFLOP/s fp32, %.4g GB/s; %s), milliseconds at least:\n\n", d->name, d->fp32, d->gb_s,
		d->source);
	hu_timing_print(stdout, d, p, by_call, t->call);
	if (t->call)
		printf("\n%.3f ms a step, median of %zu, %.0f images a second\n", t->ms, x->steps, t->samples_per_s);
}

/* Prints the policies side by side; ratios are to the first. */
static void
print_timings(const plan *x, int k)
{
	putchar('\n');
	hu_plan_timings_print(x->name, x->timing, k);
	const hu_timing *last = &x->timing[k - 1];
	printf("\nOn this device %s.\n", hu_mixed_support(x->device.capability));
	if (last->by_limit[2] > 0.5 * last->total)
		printf("This step is too small to tell: %.0f %% of it are launches, whose number a format does not "
		       "lower; larger batches or layers would.\n",
			100 * last->by_limit[2] / last->total);
	printf("Each call takes at least the longest of its operations at the peak rate, its bytes at full bandwidth, "
	       "and one launch\n(%.3g us); nothing is fused. Data loading and the framework are not counted.\n",
		x->device.launch_us);
}

static hu_status
plan_policy(plan *x, const hu_args *a, int k, const char *policy)
{
	hu_model_sizes sizes = hu_config_sizes(&x->config, &x->data);
	int by_call = !strcmp(hu_args_text(a, "by"), "call"), n;
	char shape[96];
	hu_programs p;

	HU_TRY(hu_config_set_policy(&x->config, policy));
	HU_TRY(hu_build(&p, &x->config, &sizes));
	hu_status st = hu_idle_patterns(&x->config, p.train);
	if (st == HU_OK)
		st = hu_rank_ask_fits(&x->ranks, policy, hu_parameters(p.train));
	if (st != HU_OK) {
		hu_programs_release(&p);
		return st;
	}
	hu_plan_row *rows = hu_plan_rows(p.train, by_call, &n);
	x->memory[k] = hu_memory_of(p.train);
	x->sizes[k] = hu_rank_sizes_of(p.train, x->ranks.wire);
	/* A tensor may have more elements than kernels can address, or a sum a model that they do not have. */
	if (hu_need_device(&x->config, &x->data, &x->need[k]) != HU_OK) {
		x->need[k] = NAN;
		x->refused[k] = hu_xstrdup(hu_reason());
	}
	x->name[k] = policy;
	if (x->device.id)
		x->timing[k] = hu_timing_of(&x->device, p.train);
	hu_steptime t = { .call = NULL };
	if (x->device.id)
		HU_TRY(measure(x, &t));
	if (x->bytes > 0)
		HU_TRY(hu_largest_batch(&x->config, &x->data, x->bytes, &x->largest[k]));
	if (hu_args_given(a, "program")) {
		hu_program_print(p.train, stdout);
	} else if (x->json) {
		json_t *list = json_array();
		for (int i = 0; i < n; i++)
			json_array_append_new(list, hu_plan_row_json(p.train, &rows[i], by_call));
		json_array_append_new(x->json,
			json_pack("{s:s s:s s:s s:I s:o s:o s:b s:s? s:o}", "policy", policy, "compute",
				hu_dtype_name(x->config.policy.compute), "variable",
				hu_dtype_name(x->config.policy.variable), "parameters",
				(json_int_t)hu_parameters(p.train), "memory_bytes", hu_memory_to_json(&x->memory[k]),
				"device_bytes", hu_fields_measured(x->need[k]), "device_bytes_bound", !hu_need_counts(),
				"device_refused", x->refused[k], "rows", list));
		json_t *last = json_array_get(x->json, json_array_size(x->json) - 1);
		if (x->device.id)
			json_object_set_new(last, "timing", timing_json(x, p.train, by_call, t.call));
		if (x->ranks.n)
			json_object_set_new(last, "ranks",
				hu_rank_stages_json(
					&x->ranks, &x->sizes[k], policy, x->device.id ? x->timing[k].total : NAN));
		if (x->bytes > 0)
			json_object_set_new(last, "largest_batch", json_integer((json_int_t)x->largest[k]));
	} else {
		printf("%s%s, %s: compute %s, variables %s; %zu parameters; one training step of %zu samples "
		       "of %s\n\n",
			k ? "\n" : "", x->config.model, policy, hu_dtype_name(x->config.policy.compute),
			hu_dtype_name(x->config.policy.variable), hu_parameters(p.train), x->config.batch,
			hu_array_shape_text(&x->data.array[0], shape, sizeof shape));
		hu_plan_rows_print(p.train, rows, n, by_call);
		if (x->device.id)
			print_timing(x, p.train, by_call, &t);
	}
	free(t.call);
	free(rows);
	hu_programs_release(&p);
	return HU_OK;
}

/* Returns the k-th policy on the line. */
static const char *
policy_of(const hu_args *a, int k)
{
	return hu_args_given(a, "policy") ? hu_args_nth(a, "policy", k) : k ? NULL : hu_args_text(a, "policy");
}

/* Refuses a measured run of a policy that is not asked for. */
static hu_status
is_planned(const plan *x, const hu_args *a)
{
	const char *s;
	int found = !x->ranks.measured.run;

	for (int k = 0; (s = policy_of(a, k)); k++)
		found |= hu_rank_ask_measured(&x->ranks, s);
	return found ? HU_OK
		     : hu_fail(HU_EINVAL, "--ranks measured=%s: it was trained under %s: give --policy %s",
			       x->ranks.measured.run, x->ranks.measured.policy, x->ranks.measured.policy);
}

/* Refuses options of a training that none of the policies reads. */
static hu_status
refuse_idle(plan *x, const hu_args *a)
{
	hu_status st = HU_OK;
	hu_idle idle;

	hu_idle_init(&idle, a);
	for (int k = 0; k < 64 && policy_of(a, k) && st == HU_OK; k++)
		if ((st = hu_config_set_policy(&x->config, policy_of(a, k))) == HU_OK)
			hu_idle_add(&idle, &x->config);
	hu_status idled = hu_idle_end(&idle);
	return st != HU_OK ? st : idled;
}

static hu_status
make_plan(plan *x, const hu_args *a)
{
	const char *by = hu_args_text(a, "by");
	int k = 0;

	if (strcmp(by, "layer") && strcmp(by, "call"))
		return hu_fail(HU_EINVAL, "--by %s: layer or call is needed", by);
	if (hu_args_given(a, "device"))
		HU_TRY(hu_roofline_here(hu_args_text(a, "device"))
				? hu_ceiling_measure(&x->device)
				: hu_peaks_find(hu_args_text(a, "device"), &x->device));
	if (hu_args_given(a, "device:measure")) {
		long long n;
		if (!hu_args_given(a, "device") || !hu_roofline_here(hu_args_text(a, "device")))
			return hu_fail(
				HU_EINVAL, "--device measure= needs the device here, because it measures this machine");
		HU_TRY(hu_args_int(a, "device:measure", 1, 1000000, &n));
		x->steps = (size_t)n;
	}
	if (hu_args_given(a, "memory"))
		HU_TRY(hu_parse_bytes(hu_args_text(a, "memory"), &x->bytes));
	HU_TRY(hu_rank_ask_parse(&x->ranks, a));
	HU_TRY(hu_config_from_args(&x->config, a, NULL));
	HU_TRY(refuse_idle(x, a));
	HU_TRY(is_planned(x, a));
	HU_TRY(hu_config_dataset(&x->config, 1, &x->data));
	if (hu_args_given(a, "json") && !hu_args_given(a, "program"))
		x->json = json_array();
	for (const char *s; k < 64 && (s = policy_of(a, k)); k++)
		HU_TRY(plan_policy(x, a, k, s));
	if (x->json) {
		hu_json_write(x->json, stdout, JSON_INDENT(1));
		putchar('\n');
	} else if (!hu_args_given(a, "program")) {
		printf("\nbound: the largest error of an output over the sum of the magnitudes it was made from, "
		       "before any run.\n");
		putchar('\n');
		hu_plan_memory_print(x->name, x->memory, x->need, k);
		printf("\nallocated: by a device, for both programs: these tensors and all others, the state's next "
		       "values, the next batch, scratch room, and what is read back.\n");
		if (!hu_need_counts())
			puts("It is a bound here: the kernels' own code counts it, and this build has none, because "
			     "configure found no C++ compiler.");
		for (int i = 0; i < k; i++)
			if (x->refused[i])
				printf("No device takes %s: %s.\n", x->name[i], x->refused[i]);
		for (int i = 0; x->bytes > 0 && i < k; i++)
			printf("%s%-24s %zu images%s\n", i ? "" : "\nlargest batch that fits\n", x->name[i],
				x->largest[i], x->largest[i] ? "" : ": not even one fits");
		if (x->device.id)
			print_timings(x, k);
		for (int i = 0; x->ranks.n && i < k; i++)
			hu_rank_stages_print(
				&x->ranks, &x->sizes[i], x->name[i], x->device.id ? x->timing[i].total : NAN);
	}
	return HU_OK;
}

static int
list_policies(int json)
{
	json_t *j = json_array();

	for (int i = 0; hu_policy_name(i); i++) {
		if (json)
			json_array_append_new(j,
				json_pack("{s:s s:s}", "policy", hu_policy_name(i), "summary", hu_policy_summary(i)));
		else
			printf("%-20s %s\n", hu_policy_name(i), hu_policy_summary(i));
	}
	if (json) {
		hu_json_write(j, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(j);
	return HU_EXIT_OK;
}

static int
run(const hu_args *a)
{
	plan x = { .json = NULL };

	if (hu_args_given(a, "list"))
		return list_policies(hu_args_given(a, "json"));
	if (a->nrest)
		return hu_complain(hu_fail(
			HU_EINVAL, "'%s': plan takes no run; options such as --model say what is planned", a->rest[0]));
	hu_status st = make_plan(&x, a);
	json_decref(x.json);
	for (int k = 0; k < 64; k++)
		free(x.refused[k]);
	hu_dataset_release(&x.data);
	hu_config_release(&x.config);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
plans(const void *of)
{
	return !hu_args_given(of, "list");
}
static int
tabulates(const void *of)
{
	return !hu_args_given(of, "program");
}
static int
trains(const void *of)
{
	return hu_args_given(of, "device:measure");
}
static int
shows_values(const void *of)
{
	return trains(of) || !tabulates(of);
}

#define TRAINING "data:seed data:train data:eval data:split loss-scale:init"
#define VALUES                                                                                                         \
	"optimizer:lr optimizer:weight_decay optimizer:beta1 optimizer:beta2 optimizer:eps loss-scale:growth "         \
	"loss-scale:backoff "                                                                                          \
	"loss-scale:interval loss-scale:floor loss-scale:cap loss-scale:hysteresis loss:weight"

#define LISTS "beside --list, which lists what there is"

static int
distributes(const void *of)
{
	return hu_args_given(of, "ranks");
}

static const hu_opt_need needs[] = { { hu_options_model_names, plans, LISTS },
	{ "policy by device device:measure memory ranks ranks:wire ranks:network ranks:measured program", plans,
		LISTS },
	{ "by device device:measure memory ranks ranks:wire ranks:network ranks:measured json", tabulates,
		"beside --program, which prints the program alone" },
	{ "ranks:wire ranks:network ranks:measured", distributes, "without --ranks N, which says how many ranks send" },
	{ TRAINING, trains, "on a plan, which follows from shapes alone; --device measure= trains" },
	{ VALUES, shows_values,
		"on a plan, which follows from shapes alone; --program prints it, --device measure= trains" },
	{ NULL, NULL, NULL } };

static void
say_columns(void)
{
	hu_plan_rows_help();
}

const hu_command hu_cmd_plan = { "plan", "[OPTION...]",
	"say what a training step will cost before any run: multiply-adds, bytes, casts, memory, error bounds",
	"Prints for each --policy a row for each layer or call, and memory by category. `ops a byte` is the\n"
	"arithmetic intensity, which decides in the roofline model whether arithmetic or memory limits a layer.\n"
	"Under memory, `all` adds up the tensors by category in their own formats; `allocated` is what a device\n"
	"allocates for training and evaluation, and what --memory compares with SIZE. --program prints the calls\n"
	"themselves, as every back end executes them. Under --ranks, stage 0 holds everything on every rank; ZeRO's\n"
	"stage 1 cuts the optimizer's state and master weights into N parts, 2 also gradients, 3 also weights.",
	opts, run, needs, say_columns };
