/* SPDX-License-Identifier: Apache-2.0
   halfulp bench NAME: runs a benchmark of trainer/bench/ and prints its rows. */
#include "lib/base/mem.h"
#include "lib/base/console/addition.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/parts/share.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"
#include "trainer/bench/bench_units.h"
#include "trainer/run/config.h"

#include <errno.h>
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

static const hu_opt opts[] = { { "format", "LIST", NULL,
				       "cast, gemm: formats, or all [cast fp16,bf16,e4m3,e5m2; gemm fp32,fp16,bf16]" },
	{ "mode", "LIST", "RNE,SR", "cast: rounding modes, or all" },
	{ "op", "LIST", "round,pack,unpack,encode,pieces",
		"cast: operations to time; also round64, which rounds doubles; pieces: random bits alone" },
	{ "sizes", "LIST", NULL,
		"gemm: sizes of products, N for square ones or MxNxK; cast: size of the array of floats in MB [gemm "
		"128,512,512x64x1024; cast 64]" },
	{ "sum", "MODEL", "fma,acc=fp32", "gemm: summation model; repeatable" },
	{ "threads", "N", "1", "cast, gemm: threads of each call; 0: one a core" },
	{ "trials", "N", "7", "cast, gemm: trials of each, of which the fastest counts" },
	{ "no-python", NULL, NULL, "cast: leave out numpy and ml_dtypes" },
	{ "policy", "LIST", NULL, "train, why: policies; float32's row comes first [float32,mixed_float16]" },
	{ "seeds", "LIST", NULL, "train: a row for each seed, with the loss and accuracy that the steps reach" },
	{ "backend", "NAME", "cpu", "train, gemm, why: back end that runs it" },
	{ "backend:gemm", "LIST", NULL,
		"train, gemm, why: how a device computes products [auto; gemm: every way but bulk]" },
	{ "backend:fuse", "on|off", "on",
		"train, why: on a device: execute several operators in one pass over memory" },
	{ "backend:graph", "on|off", "on",
		"train, why: on a device: record a step once as a graph and launch it whole, except where calls "
		"are timed" },
	{ "backend:simd", "LIST", NULL,
		"instruction sets by name, or all that this processor has [cast: all; others: the widest]" },
	{ "steps", "N", NULL, "train, why: timed steps of each combination [20]" },
	{ "steps:warm", "N", NULL, "train, why: untimed steps before them [2]" },
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
	{ "out", "FILE.tsv", NULL, "write the rows to FILE.tsv too" },
#include "lib/base/parts/share_options.def"
	{ "json", NULL, NULL, "print an array with an object for each measurement" }, { NULL, NULL, NULL, NULL } };

double
hu_bench_clock(int all)
{
	struct timespec t;

	if (all || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		return hu_now();
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
		int known = hu_word_in("json out shard shard:part resume", name);
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

/* Merges the ranks. Each has its share of the machine's cores where they measure together, and all of them where they
   take turns. */
static hu_status
meet(const hu_bench *b, const hu_args *a)
{
	if (hu_ranks_started() == 1)
		return HU_OK;
	if (b->together && hu_args_given(a, "resume"))
		return hu_fail(HU_EINVAL,
			"--resume has no effect where mpirun's processes measure each row of bench "
			"%s together; leave it out",
			b->name);
	HU_TRY(hu_ranks_open());
	if (b->together)
		hu_threads_set(hu_threads_of(hu_ranks_local()));
	if (hu_ranks_rank())
		hu_progress_disable();
	return HU_OK;
}

static hu_status
measure(hu_bench_sink *s, const hu_args *a)
{
	size_t n = 0;
	int ends = 0;
	hu_args own = *a;

	while (a->opts[n].name)
		n++;
	own.value = hu_xmalloc((n + 1) * sizeof *own.value);
	memcpy(own.value, a->value, (n + 1) * sizeof *own.value);
	hu_status st = settle(&own, s->bench);
	if (st == HU_OK)
		st = meet(s->bench, a);
	if (hu_ranks_rank() || hu_args_given(a, "shard"))
		s->file = NULL;
	s->many = hu_ranks_size() > 1 || hu_parts_offered();
	hu_bench_rows_begin(s, hu_args_given(a, "json"));
	if (st == HU_OK)
		st = hu_bench_share(s, a, &own, &ends);
	hu_bench_rows_end(s, ends ? HU_EINVAL : st);
	free(own.value);
	return st;
}

static int
run(const hu_args *a)
{
	hu_bench_sink s = { .bench = a->nrest == 1 ? find(a->rest[0]) : NULL, .file = hu_args_text(a, "out") };
	struct timespec t;

	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': one benchmark at a time", a->rest[1]));
	if (!s.bench)
		return hu_complain(unknown(a->nrest ? a->rest[0] : NULL));
	if (clock_gettime(CLOCK_MONOTONIC, &t))
		return hu_complain(hu_fail(HU_EIO, "this system has no clock, and nothing can be timed: %s",
			strerror(errno)));
	hu_status st = measure(&s, a);
	if (st != HU_OK)
		return hu_complain(st);
	if (s.wrong)
		fprintf(stderr, "halfulp bench: %ld results are not what they must be; no figure here counts\n",
			s.wrong);
	return s.wrong ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

extern const hu_command hu_cmd_bench;

static const hu_opt_need needs[] = {
#include "lib/base/parts/share_needs.def"
	{ NULL, NULL, NULL }
};

#define CAST_DETAILS                                                                                                   \
	"cast: converts arrays of floats to formats and to their codes (bit patterns): a row for each format,\n"       \
	"operation, rounding mode and instruction set. ns is the time t of a value, memcpy its ratio to copying\n"     \
	"as many floats in the same run; mpfr and python say how many times as long MPFR, and numpy or ml_dtypes,\n"   \
	"take for the same work (numpy converts to codes, and back again for round). pieces makes the 16 random\n"     \
	"bits that stochastic rounding needs for a float and throws them away: no SR row can be faster. On one\n"      \
	"thread, time is that thread's processor time, otherwise the clock's; the fastest trial counts."
#define GEMM_DETAILS                                                                                                   \
	"gemm: matrix products, each checked bit by bit against the plain version (cublas: against its error\n"        \
	"bound). ceiling is the rate that the arithmetic units reach on registers alone, measured in the same run\n"   \
	"(with fused multiply-adds, or the faster of mma.sync and, on Hopper, wgmma); share is the part of it\n"       \
	"that the product reaches."
#define TRAIN_DETAILS                                                                                                  \
	"train: training steps; --policy, --batch, --model width=, --optimizer lr=, --seeds and --backend simd= are\n" \
	"lists, and each combination is a row. ratio is the time over that of float32's row of the same batch. A\n"    \
	"combination that does not fit stays blank and the sweep goes on. peak_mb is the measured memory: on the "     \
	"CPU\n"                                                                                                        \
	"by how much the process grew, on a device the most that was allocated there (- where it cannot be "           \
	"measured).\n"                                                                                                 \
	"computed_mb is computed beforehand, is never less, and decides what fits. Published rows of the same\n"       \
	"model and batch follow; their columns name the device and the image size, which differ. Processes that\n"     \
	"mpirun starts share each training, as train's do: ms is a step of them all with what they send, and\n"        \
	"peak_mb the most that one of them took. Energy is not told, because a meter knows one machine's alone."
#define WHY_DETAILS                                                                                                    \
	"why: multiply-adds, bytes and launches of each layer, the least time that the device's roofline allows,\n"    \
	"the measured time, and whether arithmetic, memory or launches set the limit; it names dimensions that\n"      \
	"are no multiple of 8. On a device a row is a pass, timed by the device's clock, and `covers` names the\n"     \
	"calls that it executes (with fuse=off each call is a pass). `statistics` is the work that counts and\n"       \
	"digests for the host; `all` has the time of whole steps, which are recorded as a graph where graph= is\n"     \
	"on."
#define SHARED_DETAILS                                                                                                 \
	"With --shard, and of cast, gemm and why under mpirun, each row is measured by one of the processes; those\n"  \
	"on one machine take turns, and the column `machine` (in FILE.tsv and --json always) names the machine."

/* The words of each benchmark on its own page, which together are the command's. */
static const struct {
	const char *name, *details;
} pages[] = { { "cast", CAST_DETAILS }, { "gemm", GEMM_DETAILS }, { "train", TRAIN_DETAILS }, { "why", WHY_DETAILS } };

static const hu_bench *asked;

/* Returns 1 where the benchmark that is asked for takes the option or key, or a key of the option. */
static int
is_taken(const char *name)
{
	int known = hu_word_in("json out shard shard:part resume", name);
	size_t n = strlen(name);

	for (const hu_bench_option *o = asked->takes; o->name && !known; o++)
		known = !strncmp(o->name, name, n) && (!o->name[n] || o->name[n] == ':');
	return known;
}

int
hu_bench_help(const hu_args *a)
{
	asked = a->nrest == 1 ? find(a->rest[0]) : NULL;
	for (size_t i = 0; asked && i < sizeof pages / sizeof *pages; i++)
		if (!strcmp(pages[i].name, asked->name)) {
			hu_command_help_of(&hu_cmd_bench, asked->name, asked->summary, pages[i].details, is_taken);
			return 1;
		}
	return 0;
}

const hu_command hu_cmd_bench = { "bench", "NAME [OPTION...]",
	"time casts, matrix products and training steps on this machine, and check their results",
	CAST_DETAILS "\n" GEMM_DETAILS "\n" TRAIN_DETAILS "\n" WHY_DETAILS "\n" SHARED_DETAILS, opts, run, needs,
	NULL };
