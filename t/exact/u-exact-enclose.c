/* SPDX-License-Identifier: Apache-2.0
   Certified inner products against MPFR: the error within its bound, no error where the bound
   is 0, and it is 0 where the header says so; magnitudes; the same bits on every instruction set,
   in any tile and transposed; special values; a long k in stretches. */
#include "lib/exact/dot.h"
#include "lib/exact/enclose.h"
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
	return hu_random_at(20250611, 1, 0, counter++).w[0];
}

enum { ORDINARY, FULL, INTEGERS, CANCEL, WIDE, KINDS };

/* A finite value of F. */
static double
value(hu_format f, int kind)
{
	double u = (double)bits() * 0x1p-32 + (double)bits() * 0x1p-64, s = bits() & 1 ? -1 : 1;
	int low = f.emin - f.p + 1;

	if (kind == FULL || kind == WIDE)
		return hu_round(s * (1 + u) * hu_pow2(low + (int)(bits() % (uint32_t)(f.emax - low + 1))), f, HU_RNE,
			HU_SATURATE, 0);
	if (kind == INTEGERS)
		return hu_round(s * (double)(bits() % 8), f, HU_RNE, HU_SATURATE, 0);
	return hu_round(s * u, f, HU_RNE, HU_SATURATE, 0);
}

typedef struct tile { size_t m, n, k; double *a, *b; } tile; /* b holds columns */

static tile
make(size_t m, size_t n, size_t k, hu_format f, int kind)
{
	tile t = { m, n, k, malloc(m * k * sizeof(double)), malloc(n * k * sizeof(double)) };

	for (size_t i = 0; i < m * k; i++)
		t.a[i] = value(f, kind);
	for (size_t i = 0; i < n * k; i++)
		t.b[i] = value(f, kind);
	if (kind == CANCEL && k > 1)
		for (size_t kk = k / 2; kk < k / 2 * 2; kk++) {
			for (size_t i = 0; i < m; i++)
				t.a[i * k + kk] = t.a[i * k + kk - k / 2];
			for (size_t j = 0; j < n; j++) /* but for a last bit here and there */
				t.b[j * k + kk] = -t.b[j * k + kk - k / 2] * (bits() % 16 && kk > 2 ? 1 : 0.5);
		}
	return t;
}

static void
drop(tile *t)
{
	free(t->a);
	free(t->b);
}

typedef struct result { double *hi, *lo, *err, *mag; size_t n; } result;

static result
room(size_t n)
{
	result r = { calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8), n };

	return r;
}

static void
forget(result *r)
{
	free(r->hi);
	free(r->lo);
	free(r->err);
	free(r->mag);
}

static int
same(const result *x, const result *y)
{
	return !memcmp(x->hi, y->hi, 8 * x->n) && !memcmp(x->lo, y->lo, 8 * x->n) &&
	       !memcmp(x->err, y->err, 8 * x->n) && !memcmp(x->mag, y->mag, 8 * x->n);
}

/* Rows i0.. of A and columns j0.. of B, terms k0..k1, into R's arrays. */
static void
run(result *r, const tile *t, size_t i0, size_t i1, size_t j0, size_t j1, size_t k0, size_t k1, hu_depth depth, int add)
{
	static hu_operand a, b;
	hu_enclosure out = { r->hi + i0 * t->n + j0, r->lo + i0 * t->n + j0, r->err + i0 * t->n + j0,
		r->mag + i0 * t->n + j0, t->n };

	hu_operand_start(&a, HU_LEFT, i1 - i0, k1 - k0);
	hu_operand_start(&b, HU_RIGHT, j1 - j0, k1 - k0);
	for (size_t i = i0; i < i1; i++)
		hu_operand_vector(&a, i - i0, t->a + i * t->k + k0, 1);
	for (size_t kk = k0; kk < k1; kk++)
		hu_operand_slab(&b, kk - k0, t->b + j0 * t->k + kk, t->k);
	hu_operand_ready(&a);
	hu_operand_ready(&b);
	(add ? hu_enclose_add : hu_enclose)(&out, &a, &b, depth);
}

static long tested, exact_ones, beyond, not_exact, off_mag;

/* 2^-low of a vector as enclose.h measures it. */
static int
low_of(const double *x, size_t n)
{
	int top = -5000, low = 5000;

	for (size_t i = 0; i < n; i++)
		if (x[i] != 0) {
			int e = hu_exponent(x[i]), l = e;
			while (fmod(x[i], ldexp(1, l)) != 0)
				l--;
			top = e > top ? e : top;
			low = l < low ? l : low;
		}
	return top == -5000 ? 0 : top - low;
}

static void
judge(const tile *t, const result *r, hu_depth depth, int fp64)
{
	mpfr_t x, d, w;
	double *pa = malloc(t->k * 8), *pb = malloc(t->k * 8);

	mpfr_inits2(64, x, d, w, (mpfr_ptr)0);
	for (size_t i = 0; i < t->m; i++)
		for (size_t j = 0; j < t->n; j++) {
			size_t o = i * t->n + j;
			hu_exact_dot_mpfr(x, t->a + i * t->k, t->b + j * t->k, t->k);
			mpfr_set_prec(d, 9000);
			mpfr_set_prec(w, 9000);
			mpfr_sub_d(d, x, r->hi[o], MPFR_RNDN);
			mpfr_sub_d(d, d, r->lo[o], MPFR_RNDN);
			mpfr_abs(d, d, MPFR_RNDN);
			if (!(mpfr_cmp_d(d, r->err[o]) <= 0) && beyond++ == 0)
				diag("%zu x %zu x %zu (%zu,%zu): off by %g, bound %g", t->m, t->n, t->k, i, j,
					mpfr_get_d(d, MPFR_RNDU), r->err[o]);
			tested++;
			exact_ones += r->err[o] == 0;
			if (depth == HU_TWO && t->k <= 1024 &&
				low_of(t->a + i * t->k, t->k) + low_of(t->b + j * t->k, t->k) <= 83)
				not_exact += r->err[o] != 0;
			for (size_t k = 0; k < t->k; k++) {
				pa[k] = fabs(t->a[i * t->k + k]);
				pb[k] = fabs(t->b[j * t->k + k]);
			}
			hu_exact_dot_mpfr(x, pa, pb, t->k);
			mpfr_mul_d(w, x, 1 + (2 * (double)t->k + 3) * 0x1p-52, MPFR_RNDN);
			/* near a double's limits, where only fp64 comes, it may be far too large */
			off_mag += !(mpfr_cmp_d(x, r->mag[o]) <= 0) || (!fp64 && !(mpfr_cmp_d(w, r->mag[o]) >= 0));
		}
	mpfr_clears(x, d, w, (mpfr_ptr)0);
	free(pa);
	free(pb);
}

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_FP32, HU_TF32, HU_E4M3, HU_E5M2, HU_E2M1, HU_FP64 };
enum { FORMATS = sizeof formats / sizeof *formats };

static void
test_bounds(void)
{
	static const size_t ks[] = { 0, 1, 2, 3, 7, 27, 64, 100, 257, 1023, 1024, 1025, 2500 };

	for (int d = 0; d < 2; d++) {
		hu_depth depth = d ? HU_TWO : HU_PLAIN;
		long differ = 0, tiles = 0, cut = 0;
		tested = exact_ones = beyond = not_exact = off_mag = 0;
		for (int f = 0; f < FORMATS; f++)
			for (int kind = 0; kind < KINDS; kind++)
				for (size_t q = 0; q < sizeof ks / sizeof *ks; q++) {
					size_t m = 1 + bits() % 8, n = 1 + bits() % 19;
					if (ks[q] > 1000) {
						m = 1 + bits() % 2;
						n = 1 + bits() % 3;
					}
					tile t = make(m, n, ks[q], hu_format_of(formats[f]), kind);
					result first = room(m * n);
					run(&first, &t, 0, m, 0, n, 0, t.k, depth, 0);
					judge(&t, &first, depth, formats[f] == HU_FP64);
					for (int s = 0; s < HU_SIMDS; s++) {
						result r = room(m * n);
						if (hu_simd_has((hu_simd)s)) {
							hu_simd_set(hu_simd_name_of((hu_simd)s));
							run(&r, &t, 0, m, 0, n, 0, t.k, depth, 0);
							differ += !same(&r, &first);
						}
						forget(&r);
					}
					hu_simd_set("auto");
					result r = room(m * n);
					run(&r, &t, 0, m / 2, 0, n, 0, t.k, depth, 0);
					run(&r, &t, m / 2, m, 0, n / 3, 0, t.k, depth, 0);
					run(&r, &t, m / 2, m, n / 3, n, 0, t.k, depth, 0);
					cut += !same(&r, &first);
					forget(&r);
					forget(&first);
					drop(&t);
					tiles++;
				}
		const char *name = d ? "two doubles" : "one double";
		is_int(beyond, 0, "%s: %ld inner products are within their bounds (%ld exact)", name, tested,
			exact_ones);
		is_int(not_exact, 0, "%s: exact where the header promises it", name);
		is_int(off_mag, 0, "%s: magnitudes are upper bounds and near", name);
		is_int(differ, 0, "%s: %ld tiles, the same bits on every instruction set", name, tiles);
		is_int(cut, 0, "%s: the same bits however a tile is cut", name);
		ok(exact_ones > tested / 4 && exact_ones < tested, "%s: exact ones and others came up", name);
	}
}

/* Half the tests above are in one stretch: here k comes in several. */
static void
test_stretches(void)
{
	tested = exact_ones = beyond = off_mag = 0;
	for (int f = 0; f < FORMATS; f++)
		for (int kind = 0; kind < KINDS; kind++) {
			tile t = make(5, 17, 300, hu_format_of(formats[f]), kind);
			result r = room(5 * 17);
			run(&r, &t, 0, 5, 0, 17, 0, 100, HU_TWO, 0);
			run(&r, &t, 0, 5, 0, 17, 100, 101, HU_TWO, 1);
			run(&r, &t, 0, 5, 0, 17, 101, 300, HU_TWO, 1);
			judge(&t, &r, HU_PLAIN, formats[f] == HU_FP64);
			forget(&r);
			drop(&t);
		}
	is_int(beyond, 0, "stretches of k: %ld inner products are within their bounds (%ld exact)", tested, exact_ones);
	is_int(off_mag, 0, "and so are their magnitudes");
	tested = exact_ones = beyond = 0;
	for (int f = 0; f < 3; f++) {
		tile t = make(2, 2, 100000, hu_format_of(formats[f]), f ? ORDINARY : FULL);
		result r = room(4);
		run(&r, &t, 0, 2, 0, 2, 0, t.k, HU_TWO, 0);
		judge(&t, &r, HU_PLAIN, formats[f] == HU_FP64);
		forget(&r);
		drop(&t);
	}
	is_int(beyond, 0, "100000 terms: %ld inner products are within their bounds (%ld exact)", tested, exact_ones);
	ok(exact_ones >= 4, "all fp16 among them are exact");
}

static void
test_special(void)
{
	tile t = make(7, 18, 40, hu_format_of(HU_FP16), ORDINARY);
	result r = room(7 * 18), plain = room(7 * 18);
	int wrong = 0;

	run(&plain, &t, 0, 7, 0, 18, 0, 40, HU_TWO, 0);
	t.a[3 * 40 + 7] = INFINITY;
	t.b[11 * 40 + 8] = NAN;
	run(&r, &t, 0, 7, 0, 18, 0, 40, HU_TWO, 0);
	for (size_t i = 0; i < 7; i++)
		for (size_t j = 0; j < 18; j++) {
			size_t o = i * 18 + j;
			if (i == 3 || j == 11)
				wrong += !(r.hi[o] != r.hi[o] && r.lo[o] == 0 && r.err[o] == INFINITY &&
					   r.mag[o] == INFINITY);
			else
				wrong += r.hi[o] != plain.hi[o] || r.lo[o] != plain.lo[o] || r.err[o] != 0;
		}
	is_int(wrong, 0, "an infinity or NaN marks its row or column and no other");
	forget(&r);
	forget(&plain);
	drop(&t);
}

int
main(void)
{
	test_bounds();
	test_stretches();
	test_special();
	return done_testing();
}
