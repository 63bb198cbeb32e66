/* SPDX-License-Identifier: Apache-2.0
   Products of matrices with operands of each kind, and what the engine of lib/exact/gemm.h hands out of them, for
   u-exact-gemm.c. */
#ifndef HU_T_EXACT_GEMM_PROBLEM_H
#define HU_T_EXACT_GEMM_PROBLEM_H

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
#endif
