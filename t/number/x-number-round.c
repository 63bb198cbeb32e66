/* SPDX-License-Identifier: Apache-2.0
   All 2^32 floats to every row of the table with 24 code bits and less, in every deterministic mode (and
   stochastically to five), against an oracle of integers (t/oracle/pattern.h): each
   instruction set this processor has. And every rounding boundary of the wide
   formats, with one ulp of fp32 to either side, by MPFR; the narrow ones are t/number/u-round.c's. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "t/oracle/oracle.h"
#include "t/oracle/pattern.h"
#include "t/tool/progress.h"
#include "t/tool/tap.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_CHUNK = 12, CHUNK = 1 << LOG_CHUNK };

static const hu_stream stream = { 11, 12, 13 };

typedef struct target { hu_format f; pattern_format p; long wrong[HU_MODES][HU_SIMDS]; } target;

/* Drawing takes longest. */
static int
chosen(hu_format_id f, hu_mode m)
{
	return !hu_mode_draws(m) || f == HU_FP16 || f == HU_BF16 || f == HU_E4M3 || f == HU_E4M3FNUZ || f == HU_E8M0;
}

static int has[HU_SIMDS];

/* The portable loops by four modes, the others by all. */
static int
runs(hu_simd level, hu_mode m)
{
	return has[level] && (level != HU_SIMD_SCALAR || m == HU_RNE || m == HU_RU || hu_mode_draws(m));
}

static void
chunk(target *t, uint32_t first)
{
	static _Thread_local float src[CHUNK], dst[CHUNK];
	static _Thread_local uint32_t want[CHUNK], random[CHUNK];

	for (uint32_t k = 0; k < CHUNK; k++)
		src[k] = hu_from_bits32(first + k);
	for (uint32_t k = 0; k < CHUNK && (chosen(t->f.id, HU_SR) || chosen(t->f.id, HU_SRE)); k += 8) {
		hu_random a = hu_random_at(stream.seed, stream.stream, stream.step, (first + k) / 8);
		hu_random b = hu_random_at(stream.seed, stream.stream, stream.step, (first + k) / 8 + HU_RANDOM_LAST);
		for (uint32_t j = 0; j < 8; j++)
			random[k + j] = (a.w[j / 2] >> j % 2 * 16) << 16 | (b.w[j / 2] >> j % 2 * 16 & 0xffff);
	}
	for (int m = 0; m < HU_MODES; m++) {
		if (!chosen(t->f.id, (hu_mode)m))
			continue;
		pattern_round(want, first, CHUNK, &t->p, (hu_mode)m, random);
		for (int level = 0; level < HU_SIMDS; level++)
			if (runs((hu_simd)level, (hu_mode)m)) {
				hu_bulk_round_at(
					(hu_simd)level, dst, src, CHUNK, t->f.id, (hu_mode)m, 0, &stream, first);
				if (memcmp(dst, want, sizeof want) != 0) {
					long bad = 0;
					for (uint32_t k = 0; k < CHUNK; k++)
						bad += hu_bits32(dst[k]) != want[k];
#pragma omp atomic
					t->wrong[m][level] += bad;
				}
			}
	}
}

static void
test_format(hu_format f, uint32_t share)
{
	target t;
	double start = omp_get_wtime();
	progress p = progress_of(hu_format_name(f.id), (1 << (32 - LOG_CHUNK)) / (long)share);

	memset(&t, 0, sizeof t);
	t.f = f;
	pattern_format_of(&t.p, f);
#pragma omp parallel for schedule(dynamic, 256)
	for (uint32_t c = 0; c < (1u << (32 - LOG_CHUNK)) / share; c++) {
		chunk(&t, (c * share) << LOG_CHUNK);
		progress_step(&p);
	}
	for (int m = 0; m < HU_MODES; m++)
		for (int level = 0; level < HU_SIMDS; level++)
			if (chosen(f.id, (hu_mode)m) && runs((hu_simd)level, (hu_mode)m))
				is_int(t.wrong[m][level], 0, "%s %s %s: %s 2^32 floats", hu_format_name(f.id),
					hu_mode_name((hu_mode)m), hu_simd_name_of((hu_simd)level),
					share == 1 ? "all" : "a part of the");
	diag("%s: %.1f s", hu_format_name(f.id), omp_get_wtime() - start);
}

/* Wrong results at x and the floats beside it, both signs. */
static long
around(double x, hu_format f)
{
	float s = (float)x, near[3] = { nextafterf(s, 0), s, nextafterf(s, INFINITY) };
	long wrong = 0;

	for (int i = 0; i < 6; i++) {
		double v = i & 1 ? -(double)near[i / 2] : (double)near[i / 2];
		oracle o;
		oracle_look_d(&o, v, f);
		for (int m = 0; m < HU_MODES; m++)
			wrong += !oracle_agrees(hu_round_full(v, f, (hu_mode)m, 0, 0x70000000u),
				oracle_round(&o, f, (hu_mode)m, 0, 0x70000000u));
	}
	return wrong;
}

static void
test_boundaries(hu_format f, uint32_t share)
{
	long wrong = 0;
	uint32_t n = (uint32_t)hu_encode(f.max, f);
	double start = omp_get_wtime();

#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : wrong)
	for (uint32_t c = 0; c <= n / share; c++) {
		double low = hu_decode(c * share, f),
		       high = c * share < n ? hu_decode(c * share + 1, f) : f.max + hu_pow2(f.emax - f.p + 1);
		wrong += around(low, f) + around(low + (high - low) / 2, f);
	}
	is_int(wrong, 0, "%s: %s boundary and its neighbours, %lld roundings by MPFR, all modes", hu_format_name(f.id),
		share == 1 ? "every" : "many a", (n / share + 1) * 12LL * HU_MODES);
	diag("%s: %.1f s", hu_format_name(f.id), omp_get_wtime() - start);
}

/* Arguments for whoever looks for an error or a time: a format's name, and every how many chunks. */
int
main(int argc, char **argv)
{
	uint32_t share = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
	const char *name = argc > 1 ? argv[1] : "all";

	for (int level = 0; level < HU_SIMDS; level++)
		has[level] = hu_simd_has((hu_simd)level);
	for (int i = 0; i < HU_FORMATS; i++) {
		hu_format f = hu_format_of((hu_format_id)i);
		if (f.bits > 24 || (strcmp(name, "all") && strcmp(name, hu_format_name(f.id))))
			continue;
		test_format(f, share);
		if (f.bits > 16)
			test_boundaries(f, share);
	}
	mpfr_free_cache();
	return done_testing();
}
