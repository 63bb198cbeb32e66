/* SPDX-License-Identifier: Apache-2.0
   Exact products of matrices against MPFR, bit for bit: formats, spans of exponents, cancellation,
   lengths, odd sizes, batches, infinities and NaN; every instruction set, one thread and two; and that the
   check of a sample notices a wrong sum. */
#include "lib/base/thread.h"
#include "lib/exact/dot.h"
#include "lib/exact/gemm.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"
#include "t/exact/gemm-problem.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_TF32, HU_E4M3, HU_E5M2, HU_E2M1, HU_FP64 };
enum { FORMATS = sizeof formats / sizeof *formats };

static void
test_oracle(void)
{
	static const size_t ks[] = { 0, 1, 2, 5, 64, 257, 1023, 1025, 2100 };

	for (int kind = 0; kind < KINDS; kind++) {
		int wrong = 0, wrong_pair = 0, seen = 0, unheld = 0, differ = 0, otherwise = 0;
		hu_exact_tally tally;
		hu_exact_way_set(HU_EXACT_AUTO);
		for (int f = 0; f < FORMATS; f++)
			for (size_t q = 0; q < sizeof ks / sizeof *ks; q++) {
				size_t k = ks[q], m = 1 + bits() % (k > 600 ? 1 : 7),
				       n = 1 + bits() % (k > 600 ? 2 : 18);
				problem p = make(1 + bits() % 2, m, n, k, hu_format_of(formats[f]), kind);
				record first, again;
				run(&first, &p, 1, 0);
				wrong += first.wrong;
				wrong_pair += first.wrong_pair;
				seen += first.seen;
				unheld += first.unheld;
				for (int s = 0; s < HU_SIMDS; s++) {
					if (!hu_simd_has((hu_simd)s))
						continue;
					hu_simd_set(hu_simd_name_of((hu_simd)s));
					run(&again, &p, 0, s != 0);
					differ += !same(&first, &again);
					forget(&again);
				}
				hu_simd_set("auto");
				for (int way = HU_KERNELS_GRIDS; way <= HU_KERNELS_BLAS; way++) {
					hu_exact_kernels_set((hu_exact_kernels)way);
					run(&again, &p, 0, way == HU_KERNELS_GRIDS);
					otherwise += !same(&first, &again);
					forget(&again);
				}
				hu_exact_kernels_set(HU_KERNELS_AUTO);
				forget(&first);
				drop(&p);
			}
		hu_exact_tally_get(&tally);
		is_int(wrong, 0,
			"%s: %d sums are MPFR's (terms on grids of one double %llu, two %llu, more %llu; by integers "
			"%llu, BLAS %llu, MPFR %llu)",
			kind_names[kind], seen, (unsigned long long)tally.terms.one,
			(unsigned long long)tally.terms.two, (unsigned long long)tally.terms.more,
			(unsigned long long)tally.terms.integers, (unsigned long long)tally.terms.blas,
			(unsigned long long)tally.terms.mpfr);
		is_int(otherwise, 0, "%s: the same on grids, by integers, in bins and by slices on the BLAS",
			kind_names[kind]);
		is_int(wrong_pair, 0, "%s: and so are their pairs of doubles", kind_names[kind]);
		is_int(differ, 0, "%s: the same on every instruction set, from columns and from rows of B",
			kind_names[kind]);
		ok(tally.judged > 0, "%s: %llu sums were judged again", kind_names[kind],
			(unsigned long long)tally.judged);
		if (kind == FULL || kind == ENDS)
			ok(unheld > 0 && tally.by.more > 0,
				"%s: fp64's leave a double's range, other formats need many levels", kind_names[kind]);
	}
}

/* Sizes beyond a tile, one thread and two, and a long k. */
static void
test_sizes(void)
{
	static const struct { size_t batches, m, n, k; hu_format_id f; int kind;
	} rows[] = {
		{ 1, 97, 193, 33, HU_FP16, FULL },
		{ 3, 5, 200, 12, HU_BF16, NORMAL },
		{ 1, 200, 1, 40, HU_FP32, FULL },
		{ 1, 2, 3, 100000, HU_FP16, FULL },
		{ 1, 2, 3, 100000, HU_FP32, NORMAL },
		{ 1, 1, 2, 100000, HU_BF16, CANCEL },
		{ 1, 1, 2, 70001, HU_FP32, FULL },
		{ 1, 2, 3, 5000, HU_E5M2, FULL },
		{ 1, 2, 3, 100000, HU_E4M3, ENDS },
		{ 1, 2, 2, 9000, HU_FP64, NORMAL },
		{ 2, 0, 4, 4, HU_FP16, FULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		problem p =
			make(rows[i].batches, rows[i].m, rows[i].n, rows[i].k, hu_format_of(rows[i].f), rows[i].kind);
		record one, two;
		hu_threads_set(1);
		run(&one, &p, 1, 0);
		hu_threads_set(2);
		run(&two, &p, 0, 1);
		is_int(one.wrong + one.wrong_pair, 0, "%zu of %zu x %zu x %zu %s, %s: %d sums are MPFR's", p.batches,
			p.m, p.n, p.k, hu_format_name(rows[i].f), kind_names[rows[i].kind], one.seen);
		ok(same(&one, &two) && one.seen == (int)(p.batches * p.m * p.n),
			"and two threads agree with one, to the last tile");
		forget(&one);
		forget(&two);
		drop(&p);
	}
}

/* Sums at the ends of what each way holds, found from their derivations; random data never come there. */
static void
test_limits(void)
{
	/* Every term leaves a quarter of the coarse grid's step behind, always upward, and a last one is the lowest bit
	   that two doubles are laid out for: the fine sum outgrows a double unless it is carried. */
	enum { STEADY = 65000, SLICES = 9000, FILLED = 2100 };
	problem p = make(1, 2, 3, STEADY, hu_format_of(HU_FP32), INTEGERS),
		q = make(1, 3, 2, SLICES, hu_format_of(HU_FP32), INTEGERS),
		b = make(1, 20, 20, FILLED, hu_format_of(HU_FP32), INTEGERS);

	for (size_t i = 0; i < 3 * STEADY; i++) {
		double last = i % STEADY > STEADY - 4;
		p.b[i] = last ? 0x1p-38 : 1 + 0x1p-17;
		if (i < 2 * STEADY)
			p.a[i] = last ? 0x1p-37 : 1 + 0x1p-17;
	}
	/* Both slices and their sum as large as 40-bit integers make them, always upward. */
	for (size_t i = 0; i < 3 * SLICES; i++) {
		double x = 0xfffffp20 + 0x1p19 - 1 - bits() % 64;
		q.a[i] = x * 0x1p-40;
		if (i < 2 * SLICES)
			q.b[i] = x;
	}
	/* All significands as large as they are, at every place above a bin's unit, always upward; the lowest bits are
	   far below, so that many bins are needed. */
	for (size_t i = 0; i < 20 * FILLED; i++) {
		b.a[i] = i % FILLED ? 0xffffffp0 * hu_pow2((int)(i / FILLED)) : 0x1p-90;
		b.b[i] = i % FILLED ? -0xffffffp0 * hu_pow2((int)(i / FILLED)) : 0x1p-90;
	}
	for (int way = HU_KERNELS_AUTO; way <= HU_KERNELS_BLAS; way++) {
		record r;
		hu_exact_kernels_set((hu_exact_kernels)way);
		run(&r, &p, 1, 0);
		is_int(r.wrong + r.wrong_pair, 0, "steady rests, kernels %d", way);
		forget(&r);
		run(&r, &q, 1, 0);
		is_int(r.wrong + r.wrong_pair, 0, "largest slices, kernels %d", way);
		forget(&r);
		run(&r, &b, 1, 0);
		is_int(r.wrong + r.wrong_pair, 0, "filled bins, kernels %d", way);
		forget(&r);
	}
	hu_exact_kernels_set(HU_KERNELS_AUTO);
	drop(&p);
	drop(&q);
	drop(&b);
}

static void
test_ways(void)
{
	problem p = make(1, 20, 20, 50, hu_format_of(HU_BF16), FULL);
	record engine, oracle;
	hu_exact_tally tally;

	run(&engine, &p, 0, 0);
	hu_exact_way_set(HU_EXACT_MPFR);
	run(&oracle, &p, 0, 0);
	hu_exact_tally_get(&tally);
	ok(same(&engine, &oracle), "MPFR throughout gives the same");
	ok(tally.terms.mpfr == 20 * 20 * 50 && tally.by.mpfr == 20 * 20 && tally.sums == 20 * 20,
		"and the tally says that it was MPFR");
	hu_exact_way_set(HU_EXACT_AUTO);
	forget(&engine);
	forget(&oracle);
	drop(&p);
}

/* Tiles of which some panels have small integers and others all exponents of float32: each pair of panels is summed in
   its own way, whichever comes first. */
static void
test_mixed(void)
{
	enum { SIDE = 40, TERMS = 700 };

	for (int first = 0; first < 4; first++) { /* bit 0: the first rows are the integers; bit 1: the first columns */
		problem wide = make(1, SIDE, SIDE, TERMS, hu_format_of(HU_FP32), FULL),
			narrow = make(1, SIDE, SIDE, TERMS, hu_format_of(HU_FP32), INTEGERS);
		record r;
		for (size_t i = 0; i < SIDE / 2 * TERMS; i++) {
			size_t a = i + (first & 1 ? 0 : SIDE / 2 * TERMS), b = i + (first & 2 ? 0 : SIDE / 2 * TERMS);
			wide.a[a] = narrow.a[a];
			wide.b[b] = narrow.b[b];
		}
		run(&r, &wide, 1, 0);
		is_int(r.wrong + r.wrong_pair, 0, "integers %s among rows and %s among columns of all exponents",
			first & 1 ? "first" : "last", first & 2 ? "first" : "last");
		forget(&r);
		drop(&wide);
		drop(&narrow);
	}
}

int
main(void)
{
	test_oracle();
	test_sizes();
	test_limits();
	test_ways();
	test_mixed();
	return done_testing();
}
