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
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t counter;

static uint32_t
bits(void)
{
	return hu_random_at(20250612, 1, 0, counter++).w[0];
}

enum { ORDINARY, NORMAL, FULL, INTEGERS, CANCEL, ENDS, SPECIAL, KINDS };
static const char *const kind_names[] = { "uniform", "normal", "all exponents", "integers", "cancelling",
	"largest and smallest", "with infinities and NaN" };

static double
value(hu_format f, int kind)
{
	double u = ((double)bits() * 0x1p-32 + (double)bits() * 0x1p-64 + 0x1p-66), s = bits() & 1 ? -1 : 1;
	int low = f.emin - f.p + 1;

	switch (kind) {
	case FULL:
		return hu_round(s * (1 + u) * hu_pow2(low + (int)(bits() % (uint32_t)(f.emax - low + 1))), f, HU_RNE,
			HU_SATURATE, 0);
	case NORMAL:
		return hu_round(sqrt(-2 * log(u)) * cos(6.283185307179586 * (double)bits() * 0x1p-32), f, HU_RNE,
			HU_SATURATE, 0);
	case INTEGERS: return hu_round(s * (double)(bits() % 8), f, HU_RNE, HU_SATURATE, 0);
	case ENDS: return bits() % 3 ? s * f.max : bits() % 2 ? s * hu_smallest(f) : 0 * s;
	case SPECIAL:
		if (bits() % 100 == 0)
			return bits() % 3 ? hu_inf(bits() & 1) : hu_nan();
	}
	return hu_round(s * u, f, HU_RNE, HU_SATURATE, 0);
}

typedef struct problem { size_t batches, m, n, k; double *a, *b; int by_slab; } problem; /* b holds columns */

static problem
make(size_t batches, size_t m, size_t n, size_t k, hu_format f, int kind)
{
	problem p = { batches, m, n, k, malloc(batches * m * k * 8 + 8), malloc(batches * n * k * 8 + 8), 0 };

	for (size_t i = 0; i < batches * m * k; i++)
		p.a[i] = value(f, kind);
	for (size_t i = 0; i < batches * n * k; i++)
		p.b[i] = value(f, kind);
	if (kind == CANCEL && k > 1) /* pairs of opposite products, but for some */
		for (size_t kk = k / 2; kk < k / 2 * 2; kk++) {
			for (size_t i = 0; i < batches * m; i++)
				p.a[i * k + kk] = p.a[i * k + kk - k / 2];
			for (size_t j = 0; j < batches * n; j++)
				p.b[j * k + kk] = -p.b[j * k + kk - k / 2] * (bits() % 16 || kk < 3 ? 1 : 0.5);
		}
	return p;
}

static void
drop(problem *p)
{
	free(p->a);
	free(p->b);
}

static void
row(void *context, size_t batch, size_t i, size_t k0, size_t k1, double *x)
{
	const problem *p = context;

	memcpy(x, p->a + (batch * p->m + i) * p->k + k0, (k1 - k0) * 8);
}

static void
column(void *context, size_t batch, size_t j, size_t k0, size_t k1, double *x)
{
	const problem *p = context;

	memcpy(x, p->b + (batch * p->n + j) * p->k + k0, (k1 - k0) * 8);
}

static void
slab(void *context, size_t batch, size_t k, size_t j0, size_t j1, double *x)
{
	const problem *p = context;

	for (size_t j = j0; j < j1; j++)
		x[j - j0] = p->b[(batch * p->n + j) * p->k + k];
}

/* Where tiles leave all that they know; and what they say against MPFR. */
typedef struct record {
	const problem *p;
	double *hi, *lo, *err;
	int judge; /* 1: against MPFR */
	int seen, wrong, wrong_pair, unheld;
} record;

static void
take(void *context, const hu_exact_tile *t, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	record *r = context;
	const problem *p = r->p;
	int seen = 0, wrong = 0, wrong_pair = 0, unheld = 0;
	mpfr_t x, y;

	mpfr_inits(x, y, (mpfr_ptr)0);
	for (size_t i = 0; i < m; i++) {
		double *hi = r->hi + (batch * p->m + i0 + i) * p->n + j0,
		       *lo = r->lo + (batch * p->m + i0 + i) * p->n + j0,
		       *err = r->err + (batch * p->m + i0 + i) * p->n + j0;
		hu_exact_tile_pairs(hi, lo, err, t, i);
		for (size_t j = 0; r->judge && j < n; j++) {
			hu_exact_value v;
			hu_exact_dot_mpfr(
				x, p->a + (batch * p->m + i0 + i) * p->k, p->b + (batch * p->n + j0 + j) * p->k, p->k);
			hu_exact_tile_mpfr(y, t, i, j);
			seen++;
			int nan = mpfr_nan_p(x) != 0,
			    same = nan ? mpfr_nan_p(y) != 0 : mpfr_cmp(x, y) == 0 && mpfr_signbit(x) == mpfr_signbit(y);
			wrong += !same;
			if (hu_exact_tile_value(&v, t, i, j)) {
				hu_exact_value_mpfr(y, &v);
				wrong += nan ? !mpfr_nan_p(y)
					     : mpfr_cmp(x, y) != 0 || mpfr_signbit(x) != mpfr_signbit(y);
			} else {
				unheld++;
			}
			double h = mpfr_get_d(x, MPFR_RNDN);
			if (isfinite(h))
				mpfr_sub_d(x, x, h, MPFR_RNDN);
			double l = isfinite(h) ? mpfr_get_d(x, MPFR_RNDN) : 0;
			wrong_pair += nan ? hi[j] == hi[j] : hi[j] != h || lo[j] != l;
			/* the error is a bound, and 0 exactly where nothing is left */
			if (isfinite(h)) {
				mpfr_sub_d(x, x, l, MPFR_RNDN);
				wrong_pair += mpfr_cmp_d(x, err[j]) > 0 || mpfr_cmp_d(x, -err[j]) < 0 ||
					      (mpfr_zero_p(x) != 0) != (err[j] == 0) ||
					      err[j] > fabs(l) * 0x1p-53 + 0x1p-1074;
			} else {
				wrong_pair += !(err[j] == INFINITY);
			}
		}
	}
	mpfr_clears(x, y, (mpfr_ptr)0);
#pragma omp critical
	{
		r->seen += seen;
		r->wrong += wrong;
		r->wrong_pair += wrong_pair;
		r->unheld += unheld;
	}
}

static void
run(record *r, problem *p, int judge, int by_slab)
{
	hu_exact_source s = { .batches = p->batches,
		.m = p->m,
		.n = p->n,
		.k = p->k,
		.row = row,
		.column = by_slab ? NULL : column,
		.slab = by_slab ? slab : NULL,
		.context = p };
	size_t size = p->batches * p->m * p->n;

	*r = (record){
		.p = p, .hi = calloc(size + 1, 8), .lo = calloc(size + 1, 8), .err = calloc(size + 1, 8), .judge = judge
	};
	hu_exact_gemm(&s, take, r);
}

static int
same(const record *x, const record *y)
{
	size_t size = x->p->batches * x->p->m * x->p->n;
	int differ = 0;

	for (size_t i = 0; i < size; i++) /* one NaN is as good as another */
		differ += (x->hi[i] == x->hi[i] || y->hi[i] == y->hi[i]) &&
			  (bits_of_double(x->hi[i]) != bits_of_double(y->hi[i]) ||
				  bits_of_double(x->lo[i]) != bits_of_double(y->lo[i]));
	return !differ;
}

static void
forget(record *r)
{
	free(r->hi);
	free(r->lo);
	free(r->err);
}

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
