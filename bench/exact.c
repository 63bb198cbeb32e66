/* SPDX-License-Identifier: Apache-2.0
   The exact engine against loops of mpfr_fma on operands converted once, and against Arb's
   arb_mat_mul where configure found it: 1024^3 products on one thread, in processor time, ratios within one
   run. Every output that the slower ones compute is compared with the engine's. Usage: exact [N [OUTPUTS]]. */
#include "lib/base/mem.h"
#include "lib/exact/blas.h"
#include "lib/exact/dot.h"
#include "lib/exact/enclose.h"
#include "lib/exact/gemm.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/number/simd.h"

#ifdef HU_ARB
#include HU_ARB
#endif
#include <math.h>
#include <mpfr.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t
bits(uint64_t i, int which)
{
	return hu_random_at(4, 1, 0, i).w[which];
}

/* Every finite code alike: FULL; else normal(0,1). */
static double
value(hu_format f, int full, uint64_t i)
{
	if (full) {
		int low = f.emin - f.p + 1, e;
		if (f.bits <= 16) { /* a code: sign, exponent, fraction */
			uint32_t codes = (uint32_t)(ldexp(f.max, -f.emax) * (1 << (f.p - 1))) +
					 ((uint32_t)(f.emax - f.emin) << (f.p - 1)) + 1,
				 c = bits(i, 0) % codes;
			uint32_t field = c >> (f.p - 1), m = c & ((1u << (f.p - 1)) - 1);
			double x = field ? ldexp((double)(m + (1u << (f.p - 1))), low + (int)field - 1)
					 : ldexp((double)m, low);
			return bits(i, 1) & 1 ? -x : x;
		}
		e = low + (int)(bits(i, 0) % (uint32_t)(f.emax - low + 1));
		return hu_round(
			(bits(i, 1) & 1 ? -1 : 1) * (1 + bits(i, 2) * 0x1p-32) * hu_pow2(e), f, HU_RNE, HU_SATURATE, 0);
	}
	double u = (bits(i, 0) + 0.5) * 0x1p-32, v = bits(i, 1) * 0x1p-32;
	return hu_round(sqrt(-2 * log(u)) * cos(6.283185307179586 * v), f, HU_RNE, HU_SATURATE, 0);
}

typedef struct result { hu_exact_value *value; double *hi, *lo; size_t n, outputs; } result;

/* Row and column of the O-th output that the slower ways compute. */
static void
output(const result *r, size_t o, size_t *i, size_t *j)
{
	*i = (o * 7919 + 13) % r->n;
	*j = (o * 104729 + 5) % r->n;
}

static void
take(void *context, const hu_exact_tile *t, size_t batch, size_t i0, size_t m, size_t j0, size_t n)
{
	result *r = context;

	(void)batch;
	(void)n;
	for (size_t i = 0; i < m; i++)
		hu_exact_tile_pairs(r->hi + (i0 + i) * r->n + j0, r->lo + (i0 + i) * r->n + j0, NULL, t, i);
	for (size_t o = 0; o < r->outputs; o++) {
		size_t i, j;
		output(r, o, &i, &j);
		if (i >= i0 && i < i0 + m && j >= j0 && j < j0 + n &&
			!hu_exact_tile_value(r->value + o, t, i - i0, j - j0))
			exit(1);
	}
}

static void
wrong(const char *what, const char *name)
{
	fprintf(stderr, "bench/exact: %s and the engine disagree on %s\n", what, name);
	exit(1);
}

/* Nanoseconds a multiply-add of mpfr_fma at PRECISION; the sums are compared where it is enough. */
static double
time_mpfr(const double *a, const double *b, const result *r, mpfr_prec_t precision, int compare, const char *name)
{
	size_t n = r->n;
	mpfr_t *x = hu_xmalloc(2 * n * sizeof *x), *y = x + n, s;
	double spent = 0;

	mpfr_init2(s, precision);
	for (size_t k = 0; k < 2 * n; k++)
		mpfr_init2(x[k], 53);
	for (size_t o = 0; o < r->outputs; o++) {
		size_t i, j;
		output(r, o, &i, &j);
		for (size_t k = 0; k < n; k++) {
			mpfr_set_d(x[k], a[i * n + k], MPFR_RNDN);
			mpfr_set_d(y[k], b[k * n + j], MPFR_RNDN);
		}
		double start = seconds();
		mpfr_set_zero(s, 1);
		for (size_t k = 0; k < n; k++)
			mpfr_fma(s, x[k], y[k], s, MPFR_RNDN);
		spent += seconds() - start;
		if (compare) {
			mpfr_t v;
			mpfr_init(v);
			hu_exact_value_mpfr(v, r->value + o);
			if (mpfr_cmp(v, s))
				wrong("mpfr_fma", name);
			mpfr_clear(v);
		}
	}
	for (size_t k = 0; k < 2 * n; k++)
		mpfr_clear(x[k]);
	mpfr_clear(s);
	free(x);
	return spent / (double)(r->outputs * n) * 1e9;
}

#ifdef HU_ARB
/* Of arb_mat_mul, on operands converted once; every output's midpoint and radius is compared. */
static double
time_arb(const double *a, const double *b, const result *r, slong precision, const char *name)
{
	slong n = (slong)r->n;
	size_t inexact = 0;
	arb_mat_t x, y, z;
	mpfr_t m;

	arb_mat_init(x, n, n);
	arb_mat_init(y, n, n);
	arb_mat_init(z, n, n);
	for (slong i = 0; i < n; i++)
		for (slong j = 0; j < n; j++) {
			arb_set_d(arb_mat_entry(x, i, j), a[i * n + j]);
			arb_set_d(arb_mat_entry(y, i, j), b[i * n + j]);
		}
	double start = seconds();
	arb_mat_mul(z, x, y, precision);
	double spent = seconds() - start;
	mpfr_init2(m, 2 * (mpfr_prec_t)precision);
	for (slong i = 0; i < n; i++)
		for (slong j = 0; j < n; j++) {
			arf_get_mpfr(m, arb_midref(arb_mat_entry(z, i, j)), MPFR_RNDN);
			inexact += !mag_is_zero(arb_radref(arb_mat_entry(z, i, j)));
			mpfr_sub_d(m, m, r->hi[i * n + j], MPFR_RNDN);
			mpfr_sub_d(m, m, r->lo[i * n + j], MPFR_RNDN);
			/* exact ones are pairs of doubles in all rows measured here; else it must lie within its radius
			 */
			if (mag_is_zero(arb_radref(arb_mat_entry(z, i, j)))
					? mpfr_get_d(m, MPFR_RNDN) != 0 &&
						  fabs(mpfr_get_d(m, MPFR_RNDN)) > fabs(r->lo[i * n + j]) * 0x1p-52
					: fabs(mpfr_get_d(m, MPFR_RNDN)) >
						  2 * mag_get_d(arb_radref(arb_mat_entry(z, i, j))))
				wrong("arb_mat_mul", name);
		}
	if (inexact)
		fprintf(stderr, "# %s: %zu of Arb's radii are not 0\n", name, inexact);
	mpfr_clear(m);
	arb_mat_clear(x);
	arb_mat_clear(y);
	arb_mat_clear(z);
	return spent / ((double)n * (double)n * (double)n) * 1e9;
}
#endif

/* Pairs with a proven bound, for tiles of 96 x 96 with all of k, from columns of B. */
static double
time_enclose(const double *a, const double *b, const result *r, const char *name)
{
	enum { T = 96 };
	size_t n = r->n, m = n < T ? n : T;
	double *column = hu_xmalloc(m * n * sizeof *column), *hi = hu_xmalloc(4 * T * T * sizeof *hi), best = 1e9;
	double *lo = hi + T * T, *err = lo + T * T, *mag = err + T * T;
	hu_operand x = { 0 }, y = { 0 };
	hu_enclosure out = { hi, lo, err, mag, T };

	for (size_t j = 0; j < m; j++)
		for (size_t k = 0; k < n; k++)
			column[j * n + k] = b[k * n + j];
	for (int trial = 0; trial < 5; trial++) {
		double start = seconds();
		hu_operand_start(&x, HU_LEFT, m, n);
		hu_operand_start(&y, HU_RIGHT, m, n);
		for (size_t i = 0; i < m; i++) {
			hu_operand_vector(&x, i, a + i * n, 1);
			hu_operand_vector(&y, i, column + i * n, 1);
		}
		hu_operand_ready(&x);
		hu_operand_ready(&y);
		hu_enclose(&out, &x, &y, HU_TWO);
		double t = seconds() - start;
		best = t < best ? t : best;
	}
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < m; j++)
			if (err[i * T + j] == 0 ? hi[i * T + j] != r->hi[i * n + j] || lo[i * T + j] != r->lo[i * n + j]
						: fabs(hi[i * T + j] - r->hi[i * n + j] +
							  (lo[i * T + j] - r->lo[i * n + j])) > 2 * err[i * T + j])
				wrong("hu_enclose", name);
	hu_operand_release(&x);
	hu_operand_release(&y);
	free(column);
	free(hi);
	return best / ((double)m * (double)m * (double)n) * 1e9;
}

/* What most of the sums are by. */
static const char *
way(const hu_exact_tally *t)
{
	const struct {
		uint64_t n;
		const char *name;
	} ways[] = { { t->by.one, "1 double" }, { t->by.two, "2 doubles" }, { t->by.more, "3 or more" },
		{ t->by.integers, "integers" }, { t->by.blas, "BLAS" }, { t->by.mpfr, "MPFR" } };
	size_t most = 0;

	for (size_t i = 1; i < sizeof ways / sizeof *ways; i++)
		most = ways[i].n > ways[most].n ? i : most;
	return ways[most].name;
}

int
main(int argc, char **argv)
{
	static const struct { const char *what; hu_format_id f; int full; mpfr_prec_t enough; int arb;
	} rows[] = {
		{ "fp16, all finite codes", HU_FP16, 1, 113, 1 },
		{ "fp16, normal(0,1)", HU_FP16, 0, 113, 1 },
		{ "bf16, normal(0,1)", HU_BF16, 0, 113, 1 },
		{ "tf32, normal(0,1)", HU_TF32, 0, 113, 0 },
		{ "fp32, normal(0,1)", HU_FP32, 0, 160, 1 },
		{ "e4m3, all finite codes", HU_E4M3, 1, 113, 0 },
		{ "e5m2, all finite codes", HU_E5M2, 1, 113, 0 },
		{ "e2m1, all codes", HU_E2M1, 1, 113, 0 },
		{ "bf16, all finite codes", HU_BF16, 1, 600, 0 },
		{ "fp32, all exponents", HU_FP32, 1, 640, 0 },
		{ "fp64, normal(0,1)", HU_FP64, 0, 300, 0 },
	};
	size_t n = argc > 1 ? (size_t)atol(argv[1]) : 1024, outputs = argc > 2 ? (size_t)atol(argv[2]) : 64;
	double *a = hu_xmalloc(n * n * sizeof *a), *b = hu_xmalloc(n * n * sizeof *b);
	result r = { hu_xmalloc(outputs * sizeof *r.value), hu_xmalloc(n * n * sizeof(double)),
		hu_xmalloc(n * n * sizeof(double)), n, outputs };

	omp_set_num_threads(1);
	printf("# %zu^3, one thread, %s kernels, processor time; MPFR %s on %zu outputs, Arb %s\n", n, hu_simd_name(),
		mpfr_get_version(), outputs,
#ifdef HU_ARB
		arb_version
#else
		"absent (configure found no arb_mat.h), skipped"
#endif
	);
	printf("# BLAS: %s\n", hu_blas_describe());
	printf("data\texact_ns\tmost_by\tmpfr_fma_113_ns\tratio\tmpfr_bits\tmpfr_fma_ns\tratio\tarb_mat_mul_"
	       "ns\tratio\tenclose_ns\n");
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
		hu_format f = hu_format_of(rows[row].f);
		hu_exact_tally tally;
		double exact = 1e9;
		for (uint64_t i = 0; i < n * n; i++) {
			a[i] = value(f, rows[row].full, i);
			b[i] = value(f, rows[row].full, i + n * n);
		}
		hu_exact_way_set(HU_EXACT_AUTO);
		for (int trial = 0; trial < (exact > 2 ? 2 : 3); trial++) {
			double start = seconds();
			hu_exact_gemm_arrays(n, n, n, a, n, b, n, take, &r);
			double t = (seconds() - start) / ((double)n * (double)n * (double)n) * 1e9;
			exact = t < exact ? t : exact;
		}
		hu_exact_tally_get(&tally);
		double at_113 = time_mpfr(a, b, &r, 113, rows[row].enough == 113, rows[row].what),
		       enough = rows[row].enough == 113 ? at_113
							: time_mpfr(a, b, &r, rows[row].enough, 1, rows[row].what),
		       arb = 0;
#ifdef HU_ARB
		if (rows[row].arb)
			arb = time_arb(a, b, &r, 128, rows[row].what);
#endif
		printf("%s\t%.3f\t%s\t%.1f\t%.0f\t%ld\t%.1f\t%.0f", rows[row].what, exact, way(&tally), at_113,
			at_113 / exact, (long)rows[row].enough, enough, enough / exact);
		if (arb > 0)
			printf("\t%.2f\t%.1f", arb, arb / exact);
		else
			printf("\t-\t-");
		printf("\t%.3f\n", time_enclose(a, b, &r, rows[row].what));
		fflush(stdout);
	}
	return 0;
}
