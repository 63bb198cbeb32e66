/* SPDX-License-Identifier: Apache-2.0
   halfulp bench NAME: runs a benchmark of trainer/bench/ and prints its rows. */
#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/progress.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"
#include "lib/base/tsv.h"
#include "lib/number/simd.h"
#include "trainer/bench/bench.h"
#include "trainer/run/config.h"
#include "trainer/device/gpu.h"
#include "trainer/record/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH(name) extern const hu_bench hu_bench_##name;
#include "trainer/bench/benches.def"
#undef BENCH

static const hu_bench *const benches[] = {
#define BENCH(name) &hu_bench_##name,
#include "trainer/bench/benches.def"
#undef BENCH
};

enum { BENCHES = sizeof benches / sizeof *benches };

static const hu_opt opts[] = { { "formats", "LIST", NULL,
				       "cast, gemm: formats, or all [cast fp16,bf16,e4m3,e5m2; gemm fp32,fp16,bf16]" },
	{ "modes", "LIST", "RNE,SR", "cast: rounding modes, or all" },
	{ "ops", "LIST", "round,pack,unpack,encode,pieces",
		"cast: operations to time; also round64, which rounds doubles; pieces: random bits alone" },
	{ "sizes", "LIST", "128,512,512x64x1024", "gemm: sizes of products, N for square ones or MxNxK" },
	{ "sum", "MODEL", "fma,acc=fp32", "gemm: summation model; repeatable" },
	{ "mb", "MB", "64", "cast: size of the array of floats" },
	{ "threads", "N", "1", "cast, gemm: threads of each call; 0: one a core" },
	{ "trials", "N", "7", "cast, gemm: trials of each, of which the fastest counts" },
	{ "no-python", NULL, NULL, "cast: leave out numpy and ml_dtypes" },
	{ "simd", "LIST", NULL,
		"instruction sets by name, or all that this processor has [cast: all; others: the widest]" },
	{ "policy", "LIST", NULL, "train, why: policies; float32's row comes first [float32,mixed_float16]" },
	{ "seeds", "LIST", NULL, "train: a row for each seed, with the loss and accuracy that the steps reach" },
	{ "backend", "NAME", "cpu", "train, gemm, why: back end that runs it" },
	{ "gemm", "LIST", NULL, "train, gemm: how a device computes products [auto; gemm: every way but bulk]" },
	{ "fuse", "on|off", "on", "train, why: on a device: execute several operators in one pass over memory" },
	{ "graph", "on|off", "on",
		"train, why: on a device: record a step once as a graph and launch it whole, except where calls "
		"are timed" },
	{ "steps", "N", NULL, "train, why: timed steps of each combination [20]" },
	{ "warm", "N", NULL, "train, why: untimed steps before them [2]" },
	{ "memory", "SIZE", NULL,
		"train: memory that training may take (16GiB); a combination that is computed to need more stays "
		"blank" },
	{ "meter", "NAME", NULL, "train: what measures energy: auto, rapl, nvml or none [auto]" },
	{ "by", "WHAT", NULL, "why: a row for each layer, or for each call of an operator [layer]" },
	{ "device", "NAME", NULL,
		"why: here, which measures this machine; or v100, a100, ..., predicted from the data sheet alone "
		"[here]" },
	{ "published", NULL, NULL, "train: print the published rows alone, of all models and batches" },
#include "trainer/run/options_model.def"
	{ "tsv", "FILE", NULL, "write the rows to FILE too" },
	{ "json", NULL, NULL, "print an array with an object for each measurement" }, { NULL, NULL, NULL, NULL } };

double
hu_bench_clock(int all)
{
	struct timespec t;

	if (all)
		return hu_now();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where rows go. tsv has columns where a file is asked for; the file is rewritten after each row. headed is 1 once the
   table's head has been printed, which the first row does. */
typedef struct sink {
	const hu_bench *bench;
	json_t *all;
	hu_tsv tsv;
	const char *file;
	int headed;
	hu_status wrote;
} sink;

static void
print_cell(const hu_bench_column *c, const json_t *v)
{
	if (!v || json_is_null(v))
		printf(c->decimals < 0 ? "%-*s " : "%*s ", c->width, "-");
	else if (json_is_string(v))
		printf(c->decimals < 0 ? "%-*s " : "%*s ", c->width, json_string_value(v));
	else
		printf("%*.*f ", c->width, c->decimals < 0 ? 0 : c->decimals, json_number_value(v));
}

static void
write_cell(hu_tsv *t, const json_t *v)
{
	if (json_is_string(v))
		hu_tsv_text(t, *json_string_value(v) ? json_string_value(v) : "-");
	else if (json_is_integer(v))
		hu_tsv_int(t, json_integer_value(v));
	else if (json_is_number(v))
		hu_tsv_real(t, json_number_value(v));
	else
		hu_tsv_none(t);
}

static void
take(void *to, json_t *row)
{
	sink *s = to;

	for (const hu_bench_column *c = s->bench->columns; s->tsv.columns && c->name; c++)
		write_cell(&s->tsv, json_object_get(row, c->name));
	if (s->tsv.columns && s->wrote == HU_OK)
		s->wrote = hu_tsv_save(&s->tsv, s->file);
	if (s->all) {
		json_array_append_new(s->all, row);
		return;
	}
	if (!s->headed) {
		for (const hu_bench_column *c = s->bench->columns; c->name; c++)
			printf(c->decimals < 0 ? "%-*s " : "%*s ", c->width, c->name);
		putchar('\n');
		s->headed = 1;
	}
	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		print_cell(c, json_object_get(row, c->name));
	putchar('\n');
	fflush(stdout);
	json_decref(row);
}

static const hu_bench *
find(const char *name)
{
	for (int i = 0; i < BENCHES; i++)
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	return NULL;
}

static hu_status
unknown(const char *name)
{
	const char *names[BENCHES];
	hu_str all;

	hu_str_init(&all);
	for (int i = 0; i < BENCHES; i++) {
		names[i] = benches[i]->name;
		hu_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = name ? hu_nearest(name, names, BENCHES) : NULL;
	if (!name)
		hu_fail(HU_EINVAL, "a benchmark is needed: halfulp bench %s; known: %s", names[0], all.s);
	else
		hu_fail(HU_EINVAL, "unknown benchmark '%s'; %s%s%sknown: %s", name, near ? "did you mean " : "",
			near ? near : "", near ? "? " : "", all.s);
	hu_str_release(&all);
	return HU_EINVAL;
}

static size_t
place(const hu_args *a, const char *name)
{
	size_t i = 0;

	while (a->opts[i].name && strcmp(a->opts[i].name, name))
		i++;
	HU_ASSERT(a->opts[i].name);
	return i;
}

static hu_status
refuse(const char *option, const hu_bench *b)
{
	char why[64];

	snprintf(why, sizeof why, "on bench %s", b->name);
	return hu_refuse(option, why);
}

/* Refuses options that have no effect on the benchmark and sets the benchmark's own defaults where an option was not
   given. From here on a's values point into memory of this file. */
static hu_status
settle(hu_args *a, const hu_bench *b)
{
	for (size_t i = 0; a->opts[i].name; i++) {
		const char *name = a->opts[i].name;
		int known = !strcmp(name, "json") || !strcmp(name, "tsv");
		for (const hu_bench_option *o = b->takes; o->name && !known; o++)
			known = !strcmp(o->name, name);
		if (a->given[i] && !known)
			return refuse(name, b);
	}
	HU_TRY(hu_args_need(a, b->needs, a));
	for (const hu_bench_option *o = b->takes; o->name; o++)
		if (o->def && !a->given[place(a, o->name)])
			a->value[place(a, o->name)] = (char *)(size_t)o->def;
	return HU_OK;
}

static void
begin_tsv(sink *s)
{
	hu_str columns;
	char device[320], why[256];
	hu_gpu g;

	hu_str_init(&columns);
	for (const hu_bench_column *c = s->bench->columns; c->name; c++)
		hu_str_addf(&columns, "%s%s", c == s->bench->columns ? "" : " ", c->name);
	hu_tsv_init(&s->tsv);
	hu_tsv_note(&s->tsv, "table", "bench-%s", s->bench->name);
	hu_tsv_note(&s->tsv, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&s->tsv, "compiler", "%s", hu_build_compiler());
	hu_tsv_note(&s->tsv, "system", "%s", hu_machine_system());
	hu_tsv_note(
		&s->tsv, "processor", "%s, %d threads, SIMD %s", hu_machine_processor(), hu_threads(), hu_simd_name());
	if (hu_gpu_find(&g, why, sizeof why))
		hu_tsv_note(&s->tsv, "device", "%s", hu_gpu_text(&g, device, sizeof device));
	hu_tsv_header(&s->tsv, columns.s);
	hu_str_release(&columns);
}

/* Joins the ranks, of which rank 0 alone prints what a shared training took. */
static hu_status
join(const hu_bench *b)
{
	if (hu_ranks_started() == 1)
		return HU_OK;
	if (!b->shared)
		return hu_fail(HU_EINVAL,
			"%s: it measures times, which other processes on the machine would change, and %d were started "
			"together: leave out mpirun, or set HALFULP_MPI=none for each to work alone; bench train times "
			"a training that they share",
			b->name, hu_ranks_started());
	HU_TRY(hu_ranks_open());
	hu_threads_set(hu_threads_of(hu_ranks_local()));
	if (hu_ranks_rank())
		hu_progress_disable();
	return HU_OK;
}

/* Takes the rows of a rank other than 0, which are not measured there. */
static void
drop(void *to, json_t *row)
{
	(void)to;
	json_decref(row);
}

static hu_status
measure(sink *s, const hu_args *a, long *wrong)
{
	size_t n = 0;
	hu_args own = *a;

	while (a->opts[n].name)
		n++;
	own.value = hu_xmalloc((n + 1) * sizeof *own.value);
	memcpy(own.value, a->value, (n + 1) * sizeof *own.value);
	hu_status st = settle(&own, s->bench);
	if (st == HU_OK)
		st = join(s->bench);
	if (st == HU_OK && s->file && !hu_ranks_rank())
		begin_tsv(s);
	if (st == HU_OK)
		st = s->bench->run(&own, hu_ranks_rank() ? drop : take, s, wrong);
	free(own.value);
	return st;
}

static int
run(const hu_args *a)
{
	sink s = { .bench = a->nrest == 1 ? find(a->rest[0]) : NULL, .file = hu_args_text(a, "tsv") };
	long wrong = 0;
	hu_status st;

	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': one benchmark at a time", a->rest[1]));
	if (!s.bench)
		return hu_complain(unknown(a->nrest ? a->rest[0] : NULL));
	if (hu_args_given(a, "json"))
		s.all = json_array();
	st = measure(&s, a, &wrong);
	if (s.all && st == HU_OK && !hu_ranks_rank()) {
		json_dumpf(s.all, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(s.all);
	if (s.tsv.columns)
		hu_tsv_release(&s.tsv);
	if (st == HU_OK)
		st = s.wrote;
	if (st != HU_OK)
		return hu_complain(st);
	if (wrong && !hu_ranks_rank())
		fprintf(stderr, "halfulp bench: %ld results are not what they must be; no figure here counts\n", wrong);
	return wrong ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

const hu_command hu_cmd_bench = { "bench", "NAME [OPTION...]",
	"time casts, matrix products and training steps on this machine, and check their results",
	"cast: converts arrays of floats to formats and to their codes (bit patterns): a row for each format,\n"
	"operation, rounding mode and instruction set. ns is the time of an element, memcpy the ratio to copying\n"
	"as many floats in the same run; mpfr and python say how many times as long MPFR, and numpy or ml_dtypes,\n"
	"take for the same work (numpy converts to codes, and back again for round). pieces makes the 16 random\n"
	"bits that stochastic rounding needs for a float and throws them away: no SR row can be faster. On one\n"
	"thread, time is that thread's processor time, otherwise the clock's; the fastest trial counts.\n"
	"gemm: matrix products, each checked bit by bit against the plain version (cublas: against its error\n"
	"bound). ceiling is the rate that the arithmetic units reach on registers alone, measured in the same run\n"
	"(with fused multiply-adds, or the faster of mma.sync and, on Hopper, wgmma); share is the part of it\n"
	"that the product reaches.\n"
	"train: training steps; --policy, --batch, --width, --lr, --seeds and --simd are lists, and each\n"
	"combination is a row. ratio is the time over that of float32's row of the same batch. A combination that\n"
	"does not fit stays blank and the sweep goes on. peak_mb is the measured memory: on the CPU by how much\n"
	"the process grew, on a device the most that was allocated there (- where it cannot be measured).\n"
	"computed_mb is computed beforehand, is never less, and decides what fits. Published rows of the same\n"
	"model and batch follow; their columns name the device and the image size, which differ. Processes that\n"
	"mpirun starts share the training, as train's do: ms is a step of them all with what they send, peak_mb\n"
	"the most that one of them took, and energy, of which a meter knows one machine's, is not told.\n"
	"why: multiply-adds, bytes and launches of each layer, the least time that the device's roofline allows,\n"
	"the measured time, and whether arithmetic, memory or launches set the limit; it names dimensions that\n"
	"are no multiple of 8. On a device a row is a pass, timed by the device's clock, and `covers` names the\n"
	"calls that it executes (with --fuse off each call is a pass). `statistics` is the work that counts and\n"
	"digests for the host; `all` has the time of whole steps, which are recorded as a graph where --graph is\n"
	"on.",
	opts, run, NULL };
