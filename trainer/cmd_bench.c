/* SPDX-License-Identifier: Apache-2.0
   halfulp bench NAME: this machine's figures. Prints what the benchmarks of
   trainer/bench/ measure. */
#include "lib/base/progress.h"
#include "lib/base/str.h"
#include "trainer/bench/bench.h"

#include <stdio.h>
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

static const hu_opt opts[] = {
	{ "formats", "LIST", "fp16,bf16,e4m3,e5m2", "formats, or all" },
	{ "modes", "LIST", "RNE,SR", "rounding modes, or all" },
	{ "ops", "LIST", "round,pack,unpack,encode", "what is timed; round64 too: doubles" },
	{ "simd", "LIST", "all", "instruction sets: all that this processor has, or some by name" },
	{ "size", "MB", "64", "size of the array of floats" },
	{ "threads", "N", "1", "threads of each call; 0: one a core" },
	{ "trials", "N", "7", "the fastest of these counts" },
	{ "no-python", NULL, NULL, "leave out numpy and ml_dtypes" },
	{ "json", NULL, NULL, "print an array, a row a measurement" },
	{ NULL, NULL, NULL, NULL }
};

double
hu_bench_clock(int all)
{
	struct timespec t;

	if (all)
		return hu_now();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Where rows go. */
typedef struct sink { const hu_bench *bench; json_t *all; } sink;

static void
print_cell(const hu_bench_column *c, const json_t *v)
{
	if (!v || json_is_null(v))
		printf(c->decimals < 0 ? "%-*s " : "%*s ", c->width, "-");
	else if (c->decimals < 0)
		printf("%-*s ", c->width, json_string_value(v));
	else
		printf("%*.*f ", c->width, c->decimals, json_number_value(v));
}

static void
take(void *to, json_t *row)
{
	sink *s = to;

	if (s->all) {
		json_array_append_new(s->all, row);
		return;
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
		hu_fail(HU_EINVAL, "unknown benchmark '%s'; %s%s%sknown: %s", name, near ? "did you mean " : "", near ? near : "", near ? "? " : "", all.s);
	hu_str_release(&all);
	return HU_EINVAL;
}

static int
run(const hu_args *a)
{
	sink s = { a->nrest == 1 ? find(a->rest[0]) : NULL, NULL };
	long wrong = 0;
	hu_status st;

	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': one benchmark at a time", a->rest[1]));
	if (!s.bench)
		return hu_complain(unknown(a->nrest ? a->rest[0] : NULL));
	if (hu_args_given(a, "json")) {
		s.all = json_array();
	} else {
		for (const hu_bench_column *c = s.bench->columns; c->name; c++)
			printf(c->decimals < 0 ? "%-*s " : "%*s ", c->width, c->name);
		putchar('\n');
	}
	st = s.bench->run(a, take, &s, &wrong);
	if (s.all && st == HU_OK) {
		json_dumpf(s.all, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(s.all);
	if (st != HU_OK)
		return hu_complain(st);
	if (wrong)
		fprintf(stderr, "halfulp bench: %ld results are not what hu_round gives; no figure here counts\n", wrong);
	return wrong ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

const hu_command hu_cmd_bench = {
	"bench", "NAME [OPTION...]", "Measure this machine, as ratios, with the results checked.",
	"cast: arrays of floats to formats and codes, by format, operation, rounding mode and instruction set.\n"
	"ns is an element, memcpy the ratio to copying as many floats in the same run; mpfr and python say how\n"
	"many times as long MPFR and numpy or ml_dtypes take for the same (numpy rounds to codes; there and back for round).\n"
	"Time is the thread's processor time on one thread, else the clock's; the fastest trial counts.",
	opts, run
};
