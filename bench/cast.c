/* SPDX-License-Identifier: Apache-2.0
   Casts of arrays: ns an element, GB/s (bytes read and written) and the ratio to
   memcpy of the same floats, for each format, rounding mode and instruction set;
   to packed codes and back too, and MPFR a value at a time for comparison. 16 Mi
   floats of wide range with ties, subnormals and overflows; one thread. After the
   clock stops each result is compared with the scalar definition, element by
   element on a sample, and with the other instruction sets as a whole. */
#include "lib/base/mem.h"
#include "lib/number/bulk.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 24, TRIALS = 5, SAMPLE = 997 };

static const hu_stream stream = { 1, 2, 3 };
static float *src, *dst, *back;
static double copy_time;
static long wrong;

static void
fill(void)
{
	for (unsigned i = 0; i < N; i++) {
		hu_random r = hu_random_at(7, 0, 0, i);
		uint32_t exponent = 127 - 24 + r.w[1] % 44, m = r.w[0] & 0x7fffffu; /* 2^-24 .. 2^19: over fp16's range on both ends */
		if ((r.w[2] & 15) == 0)
			m &= 0x7ff000u; /* a tie of fp16 half of the time */
		src[i] = hu_from_bits32((r.w[2] & 0x80000000u) | exponent << 23 | m);
	}
}

/* This thread's processor time: what others do meanwhile does not count. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void job(hu_format_id f, hu_mode mode);

static void copy(hu_format_id f, hu_mode mode) { (void)f, (void)mode, memcpy(dst, src, N * sizeof *src); }
static void cast(hu_format_id f, hu_mode mode) { hu_bulk_round(dst, src, N, f, mode, 0, &stream, 0); }
static void pack(hu_format_id f, hu_mode mode) { (void)mode, hu_bulk_pack(back, dst, N, f); }
static void unpack(hu_format_id f, hu_mode mode) { (void)mode, hu_bulk_unpack(dst, back, N, f); }

static double
seconds(job *j, hu_format_id f, hu_mode mode)
{
	double best = 1e9;

	for (int i = 0; i < TRIALS; i++) {
		double start = now(), t;
		j(f, mode);
		t = now() - start;
		best = t < best ? t : best;
	}
	return best;
}

static void
line(const char *set, const char *format, const char *what, double t, double bytes)
{
	printf("%-7s %-9s %-7s %7.3f %7.1f %7.2f\n", set, format, what, 1e9 * t / N, 1e-9 * bytes * N / t, t / copy_time);
	fflush(stdout);
}

static void
check(hu_format_id f, hu_mode mode)
{
	hu_format t = hu_format_of(f);

	for (size_t i = 0; i < N; i += SAMPLE) {
		double want = hu_round((double)src[i], t, mode, 0, hu_random_word(stream.seed, stream.stream, stream.step, i));
		wrong += hu_bits32(dst[i]) != (hu_isnan(want) ? 0x7fc00000u : hu_bits32((float)want));
	}
}

static void
of_format(hu_format_id f, int all_modes)
{
	const char *set = hu_simd_name(), *name = hu_format_name(f);
	size_t bytes = hu_bulk_element(f);

	for (int m = 0; m < HU_MODES; m++) {
		if (!all_modes && m != HU_RNE && m != HU_SR)
			continue;
		line(set, name, hu_mode_name((hu_mode)m), seconds(cast, f, (hu_mode)m), 8);
		check(f, (hu_mode)m);
	}
	if (bytes > 2)
		return;
	cast(f, HU_RNE);
	line(set, name, "pack", seconds(pack, f, HU_RNE), 4 + (double)bytes);
	line(set, name, "unpack", seconds(unpack, f, HU_RNE), 4 + (double)bytes);
	check(f, HU_RNE);
}

/* What a general library pays: 2^16 values through MPFR to fp16. */
static void
by_mpfr(void)
{
	enum { FEW = 1 << 16 };
	mpfr_t x;
	double start;
	hu_format h = hu_format_of(HU_FP16);

	mpfr_init2(x, h.p);
	mpfr_set_emin(h.emin - h.p + 2);
	mpfr_set_emax(h.emax + 1);
	start = now();
	for (int i = 0; i < FEW; i++) {
		int t = mpfr_set_d(x, (double)src[i], MPFR_RNDN);
		mpfr_subnormalize(x, t, MPFR_RNDN);
		dst[i] = mpfr_get_flt(x, MPFR_RNDN);
	}
	double t = (now() - start) * N / FEW;
	line("mpfr", "fp16", "RNE", t, 8);
	mpfr_clear(x);
	for (int i = 0; i < FEW; i++)
		wrong += hu_bits32(dst[i]) != hu_bits32((float)hu_round((double)src[i], h, HU_RNE, 0, 0));
}

int
main(int argc, char **argv)
{
	hu_format_id list[HU_FORMATS] = { HU_FP16, HU_BF16, HU_E4M3 };
	int n = 3, all = 0;

	if (argc > 1 && hu_format_list(argv[1], list, HU_FORMATS, &n) != HU_OK) {
		fprintf(stderr, "%s\n", hu_reason());
		return 2;
	}
	all = argc > 2; /* any second argument: every mode */
	src = hu_alloc(N * sizeof *src);
	dst = hu_alloc(N * sizeof *dst);
	back = hu_alloc(N * sizeof *back);
	if (!src || !dst || !back)
		return 4;
	fill();
	memset(dst, 1, N * sizeof *dst);
	memset(back, 1, N * sizeof *back);
	copy_time = seconds(copy, HU_FP32, HU_RNE);
	printf("%-7s %-9s %-7s %7s %7s %7s\n", "set", "format", "what", "ns", "GB/s", "memcpy");
	line("-", "-", "memcpy", copy_time, 8);
	for (int s = HU_SIMDS - 1; s >= 0; s--)
		if (hu_simd_has((hu_simd)s)) {
			hu_simd_set(hu_simd_name_of((hu_simd)s));
			for (int i = 0; i < n; i++)
				of_format(list[i], all || i == 0);
		}
	by_mpfr();
	if (wrong)
		printf("WRONG RESULTS: %ld\n", wrong);
	return wrong != 0;
}
