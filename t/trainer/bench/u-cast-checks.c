/* SPDX-License-Identifier: Apache-2.0
   The checks of the benchmark of casts see a wrong element among those that they look at, count each once, and call
   nothing else wrong. The conversions' loops are run from here, in the place of lib/number/bulk/bulk_run.c, and some
   of what they write is changed. */
#include "lib/base/console/opt.h"
#include "lib/number/bulk/bulk_table.h"
#include "t/tool/tap.h"
#include "trainer/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const hu_bench hu_bench_cast;

enum { SAMPLE = 997 }; /* every so many elements are looked at */

/* Of which call of a row elements are changed: from `first` on, each `step`, `most` at most. */
static struct { int call; size_t first, step, most; } spoilt;
static int calls;

static uint32_t
other_pieces(const hu_stream *s, size_t n, uint64_t index0)
{
	return hu_bulk_scalar.pieces(s, n, index0) ^ 1;
}

const hu_bulk_kernels *
hu_bulk_kernels_of(hu_simd level)
{
	static hu_bulk_kernels other;

	(void)level;
	other = hu_bulk_scalar;
	if (spoilt.call)
		other.pieces = other_pieces;
	return &other;
}

void
hu_bulk_run(hu_bulk_stretch *f, const hu_bulk_job *j, void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
	size_t n, uint64_t index0)
{
	(void)src_bytes;
	f(j, dst, src, n, index0);
	if (++calls != spoilt.call)
		return;
	for (size_t i = spoilt.first, k = 0; i < n && k < spoilt.most; i += spoilt.step, k++)
		((unsigned char *)dst)[i * dst_bytes] ^= 1;
}

/* In the place of cmd_bench.c's: a clock that moves at every look at it, by a millisecond, or at each so many alone. */
static int looks, still = 1;

double
hu_bench_clock(int all)
{
	(void)all;
	return 1e-3 * (looks++ / still);
}

static json_t *last;

static double
column(const char *name)
{
	return json_number_value(json_object_get(last, name));
}

/* How many results of the operation the benchmark calls wrong where `most` elements from `first` on are. */
static long
found(const char *op, const char *format, int call, size_t first, size_t step, size_t most)
{
	static const hu_opt opts[] = { { "format", "LIST", NULL, "" }, { "mode", "LIST", "RNE", "" },
		{ "op", "LIST", NULL, "" }, { "backend:simd", "LIST", "scalar", "" }, { "sizes", "MB", "0.02", "" },
		{ "threads", "N", "1", "" }, { "trials", "N", "1", "" }, { "no-python", NULL, NULL, "" },
		{ NULL, NULL, NULL, NULL } };
	char *of = (char *)(size_t)format, *what = (char *)(size_t)op,
	     *line[] = { "bench", "--format", of, "--op", what, "--no-python", NULL };
	hu_bench_work work = { .of = NULL };
	json_t *rows = json_array();
	hu_args a;

	calls = 0;
	memset(&spoilt, 0, sizeof spoilt);
	spoilt.call = call;
	spoilt.first = first;
	spoilt.step = step;
	spoilt.most = most;
	if (hu_args_parse(&a, opts, 6, line) != HU_OK || hu_bench_cast.begin(&work, &a) != HU_OK || work.n != 1 ||
		hu_bench_cast.measure(&work, 0, rows) != HU_OK || json_array_size(rows) != 1)
		bail_out("%s", hu_reason());
	hu_bench_cast.end(&work);
	free(work.group);
	free(work.setting);
	hu_args_release(&a);
	json_decref(last);
	last = json_incref(json_array_get(rows, 0));
	json_decref(rows);
	return (long)json_integer_value(json_object_get(last, "wrong"));
}

int
main(void)
{
	/* The call that makes the results: the first makes codes of the values, and pack's operands are unpacked. 0.02
	   MB are 5242 floats or 2621 doubles. */
	static const struct {
		const char *op, *format;
		int call;
		size_t n;
	} row[] = { { "round", "fp16", 2, 5242 }, { "round", "e4m3", 2, 5242 }, { "encode", "fp16", 2, 5242 },
		{ "encode", "e5m2", 2, 5242 }, { "unpack", "bf16", 2, 5242 }, { "unpack", "e4m3", 2, 5242 },
		{ "pack", "fp16", 3, 5242 }, { "pack", "e4m3", 3, 5242 }, { "round64", "fp16", 2, 2621 } };

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		const char *op = row[i].op, *f = row[i].format;
		long all = (long)((row[i].n + SAMPLE - 1) / SAMPLE);
		int call = row[i].call;
		is_int(found(op, f, 0, 0, 1, 0), 0, "%s of %s: nothing is wrong", op, f);
		is_int(found(op, f, call, 0, 1, row[i].n), all, "all elements are, and %ld of them are seen", all);
		is_int(found(op, f, call, 0, 1, 1), 1, "the first");
		is_int(found(op, f, call, (size_t)(all - 1) * SAMPLE, 1, 1), 1, "the last that is looked at");
		is_int(found(op, f, call, SAMPLE, SAMPLE, 2), 2, "two of them");
		is_int(found(op, f, call, 1, 1, SAMPLE - 1), 0, "all that are not looked at");
	}
	/* A clock that stands still for a run loses no row, which is of the runs until it moves. MPFR is timed
	   first, then a copy, and each begins where the clock has just moved. */
	is_int(found("round", "fp16", 0, 0, 1, 0), 0, "a clock that moves at every look");
	ok(fabs(column("ns") * 5242 - 1e6) < 1 && column("memcpy") == 1 && fabs(column("mpfr") - 1) < 1e-12,
		"each run takes a millisecond");
	looks = 0;
	still = 8;
	is_int(found("round", "fp16", 0, 0, 1, 0), 0, "one that moves at each eighth");
	ok(fabs(column("ns") * 5242 * 7 - 1e6) < 1 && fabs(column("gb_s") * column("ns") - 8) < 1e-9 &&
			fabs(column("memcpy") - 1) < 1e-12 && fabs(column("mpfr") - 7.0 / 8) < 1e-12,
		"seven runs take a millisecond: %g ns, memcpy %g, MPFR %g", column("ns"), column("memcpy"),
		column("mpfr"));
	looks = 0;
	still = 1 << 30;
	is_int(found("round", "fp16", 0, 0, 1, 0), 0, "one that never moves: a row all the same");
	ok(column("ns") == 0 && json_is_null(json_object_get(last, "gb_s")) &&
			json_is_null(json_object_get(last, "memcpy")) && json_is_null(json_object_get(last, "mpfr")),
		"without rates");
	still = 1;
	json_decref(last);
	last = NULL;
	is_int(found("pieces", "fp16", 0, 0, 1, 0), 0, "random pieces are right");
	is_int(found("pieces", "fp16", -1, 0, 1, 0), 1, "others than random numbers have are seen");
	json_decref(last);
	return done_testing();
}
