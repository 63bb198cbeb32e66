/* SPDX-License-Identifier: Apache-2.0
   Arrays of doubles, packing at once, results written past the caches, threads, and
   random words at awkward indices: bit for bit the scalar functions, with every
   instruction set this processor has. */
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/bulk/bulk_table.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3 * 4096 + 37, ROOM = MANY + 64, LARGE = 1200000 };

static const hu_stream stream = { 0xfedcba9876543210u, 5, 0x80000001u };

static double
want(double x, hu_format_id f, hu_mode mode, int flags, uint64_t index)
{
	uint32_t rand = hu_mode_draws(mode) ? hu_random_cast(stream, index) : 0;

	return hu_round(x, hu_format_of(f), mode, flags, rand);
}

static uint32_t
float_bits(double x)
{
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

/* A double about F's range: exponents to both sides of it, significands of F's numbers,
   ties between them, and the doubles beside both; one in 64 is special. */
static double
sample(hu_format f, uint64_t i)
{
	static const double special[] = { 0.0, -0.0, 0x1p-1074, -0x1p-1022, __builtin_inf(), -__builtin_inf(),
		__builtin_nan(""), 0x1.fffffffffffffp1023 };
	hu_random r = hu_random_at(17, (uint32_t)f.p, (uint32_t)f.emin, i);
	int low = f.emin - f.p - 3 < -1022 ? -1022 : f.emin - f.p - 3, high = f.emax + 2 > 1023 ? 1023 : f.emax + 2;
	int e = low + (int)(r.w[0] % (uint32_t)(high - low + 1)), lost = 53 - f.p + (e < f.emin ? f.emin - e : 0);
	uint64_t m = (uint64_t)r.w[1] << 32 | r.w[2], u;

	if ((r.w[3] & 63) == 0)
		return special[r.w[3] >> 6 & 7];
	m >>= 12;
	if ((r.w[3] & 64) && lost < 53) {
		m = m >> lost << lost;
		if (lost > 0 && (r.w[3] & 128))
			m |= (uint64_t)1 << (lost - 1);
	}
	u = ((uint64_t)(e + 1023) << 52) + m + (r.w[3] >> 8 & 3 & (0u - (r.w[3] >> 10 & 1))) - (r.w[3] >> 11 & 1);
	return hu_from_bits64(u | (uint64_t)(r.w[3] >> 31) << 63);
}

static void
each_level(void (*test)(hu_format_id f), hu_format_id f)
{
	for (int level = 0; level < HU_SIMDS; level++)
		if (hu_simd_has((hu_simd)level)) {
			hu_simd_set(hu_simd_name_of((hu_simd)level));
			test(f);
		}
}

static void
test_doubles(hu_format_id id)
{
	static const int flags[] = { 0, HU_SATURATE | HU_FTZ, HU_DAZ, HU_RANDOM_BITS(7) };
	static double x[MANY], y[MANY + 1];
	long wrong = 0;

	for (size_t i = 0; i < MANY; i++)
		x[i] = sample(hu_format_of(id), i);
	for (int m = 0; m < HU_MODES; m++)
		for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
			for (size_t o = 0; o < 4; o++) {
				size_t n = MANY - 251 * o - k;
				memcpy(y + o, x + o, (n - o) * sizeof *x);
				y[n] = 7;
				hu_bulk_round_f64(
					y + o, o & 1 ? x + o : y + o, n - o, id, (hu_mode)m, flags[k], &stream, o);
				for (size_t i = o; i < n; i += 1 + o)
					wrong += hu_bits64(y[i]) != hu_bits64(want(x[i], id, (hu_mode)m, flags[k], i));
				wrong += y[n] != 7;
			}
	is_int(wrong, 0, "%s %s: doubles as hu_round, modes, flags and lengths", hu_simd_name(), hu_format_name(id));
}

static uint64_t
code_at(const void *codes, size_t i, size_t bytes)
{
	uint64_t c = 0;

	memcpy(&c, (const char *)codes + i * bytes, bytes);
	return c;
}

/* Rounded and packed at once, from floats; packed from doubles and unpacked to them. */
static void
test_codes(hu_format_id id)
{
	static const int flags[] = { 0, HU_DAZ, HU_FTZ, HU_RANDOM_BITS(7), HU_SATURATE };
	static const uint32_t nans[] = { 0xffc00000, 0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001 };
	hu_format f = hu_format_of(id);
	size_t bytes = hu_bulk_element(id);
	static float x[MANY];
	static double d[MANY], back[MANY];
	static uint64_t codes[MANY + 1];
	long wrong = 0;

	if (bytes > 2)
		return;
	for (size_t i = 0; i < MANY; i++)
		x[i] = i % 61 ? (float)sample(f, i) : hu_from_bits32(nans[i / 61 % (sizeof nans / sizeof *nans)]);
	for (int m = 0; m < HU_MODES; m += 1 + (m == HU_RNE) * 5) /* RNE, RO, SR, SRE */
		for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
			memset(codes, 0x5a, sizeof codes);
			hu_bulk_encode(codes, x, MANY, id, (hu_mode)m, flags[k], &stream, 3);
			for (size_t i = 0; i < MANY; i++) {
				d[i] = want((double)x[i], id, (hu_mode)m, flags[k], 3 + i);
				wrong += code_at(codes, i, bytes) != hu_encode(d[i], f);
			}
			wrong += ((unsigned char *)codes)[MANY * bytes] != 0x5a;
		}
	is_int(wrong, 0, "%s %s: rounded and packed in one pass", hu_simd_name(), hu_format_name(id));
	wrong = 0;
	for (size_t n = MANY - 5; n <= MANY; n++) {
		memset(codes, 0x5a, sizeof codes);
		hu_bulk_pack_f64(codes, d, n, id);
		hu_bulk_unpack_f64(back, codes, n, id);
		for (size_t i = 0; i < n; i++)
			wrong += code_at(codes, i, bytes) != hu_encode(d[i], f) ||
				 hu_bits64(back[i]) != hu_bits64(hu_decode(code_at(codes, i, bytes), f));
		wrong += ((unsigned char *)codes)[n * bytes] != 0x5a;
	}
	is_int(wrong, 0, "%s %s: doubles to codes and back", hu_simd_name(), hu_format_name(id));
}

/* As large arrays go: stored past the caches. Destinations at every alignment, lengths that end in the middle of four
   pages. */
static void
test_stream(hu_format_id id)
{
	static float x[ROOM], y[ROOM];
	static double d[ROOM], e[ROOM];
	long wrong = 0;

	for (size_t i = 0; i < ROOM; i++) {
		d[i] = sample(hu_format_of(id), i);
		x[i] = (float)d[i];
	}
	for (int m = 0; m < HU_MODES; m++)
		for (size_t o = 0; o < 20; o += m == HU_RNE || m == HU_SR ? 1 : 7)
			for (uint64_t first = 0; first < 6; first += 1 + (size_t)(o % 4)) {
				size_t n = MANY - o * 61;
				hu_bulk_job j = hu_bulk_job_of(hu_simd_level(), id, (hu_mode)m, 0, &stream, 32);
				j.plan.stream = 1;
				y[o + n] = e[o + n] = 7;
				hu_bulk_round_part(&j, y + o, x, n, first);
				for (size_t i = 0; i < n; i += 1 + o)
					wrong += hu_bits32(y[o + i]) !=
						 float_bits(want((double)x[i], id, (hu_mode)m, 0, first + i));
				j = hu_bulk_job_of(hu_simd_level(), id, (hu_mode)m, 0, &stream, 64);
				j.plan64.stream = 1;
				hu_bulk_round_part64(&j, e + o, d, n, first);
				for (size_t i = 0; i < n; i += 1 + o)
					wrong += hu_bits64(e[o + i]) !=
						 hu_bits64(want(d[i], id, (hu_mode)m, 0, first + i));
				wrong += y[o + n] != 7 || e[o + n] != 7;
			}
	is_int(wrong, 0, "%s %s: the same when written past the caches", hu_simd_name(), hu_format_name(id));
}

/* Codes to floats and back, in rows, and past the caches where there are enough: each value looked up. */
static void
test_rows(hu_format_id id)
{
	static const size_t sizes[] = { MANY, HU_BULK_STREAM_FROM / sizeof(float) + 4 * 4096 + 77 };
	hu_format f = hu_format_of(id);
	const size_t bytes = hu_bulk_element(id), room = sizes[1] + 8;
	const uint32_t mask = (uint32_t)((UINT64_C(1) << f.bits) - 1);
	float *y = malloc(room * sizeof *y);
	uint8_t *codes = malloc(room * bytes), *back = malloc(room * bytes);
	uint32_t *value = malloc(sizeof *value << 16), *code = malloc(sizeof *code << 16);
	long wrong = 0;

	for (uint32_t c = 0; c <= mask; c++) {
		value[c] = float_bits(hu_decode(c, f));
		code[c] = (uint32_t)hu_encode(hu_decode(c, f), f);
	}
	hu_threads_set(1);
	for (int s = 0; s < 2; s++)
		for (size_t o = s ? 3 : 0, n = sizes[s]; o < 4; o++, n -= 7) {
			for (size_t i = 0; i < n; i++) {
				uint32_t c = (uint32_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
				memcpy(codes + i * bytes, &c, bytes);
			}
			y[o + n] = 7;
			back[n * bytes] = 0x5a;
			hu_bulk_unpack(y + o, codes, n, id);
			hu_bulk_pack(back, y + o, n, id);
			for (size_t i = 0; i < n; i++) {
				uint64_t c = code_at(codes, i, bytes);
				wrong += hu_bits32(y[o + i]) != value[c] || code_at(back, i, bytes) != code[c];
			}
			wrong += y[o + n] != 7 || back[n * bytes] != 0x5a;
		}
	hu_threads_set(0);
	is_int(wrong, 0, "%s %s: codes to floats and back, many and very many", hu_simd_name(), hu_format_name(id));
	free(y);
	free(codes);
	free(back);
	free(value);
	free(code);
}

/* What fp32 and fp64 leave alone but for NaN: one of a payload and sign of its own anywhere, in place and past the
   caches. */
static void
test_nans(hu_format_id id)
{
	static float x[ROOM], y[ROOM];
	static double d[ROOM], e[ROOM];
	long wrong = 0;

	for (size_t at = 0; at < MANY; at += at < 40 || at > MANY - 40 ? 1 : 509) {
		hu_bulk_job j = hu_bulk_job_of(hu_simd_level(), id, HU_RNE, 0, NULL, 32),
			    k = hu_bulk_job_of(hu_simd_level(), id, HU_RNE, 0, NULL, 64);
		j.plan.stream = k.plan64.stream = 1;
		for (size_t i = 0; i < MANY; i++) {
			x[i] = hu_from_bits32(i == at ? 0xffa00001u : (uint32_t)i * 0x3f7u);
			d[i] = hu_from_bits64(i == at ? UINT64_C(0xfff4000000000001) : (uint64_t)i << 40);
		}
		memset(y, 0, sizeof y);
		hu_bulk_round_part(&j, y, x, MANY, 0);
		hu_bulk_round(x, x, MANY, id, HU_RZ, 0, NULL, 0);
		for (size_t i = 0; i < MANY; i++) {
			uint32_t u = i == at ? 0x7fc00000u : (uint32_t)i * 0x3f7u;
			wrong += (hu_bits32(x[i]) != u) + (hu_bits32(y[i]) != u);
		}
		if (id == HU_FP64) {
			hu_bulk_round_part64(&k, e, d, MANY, 0);
			hu_bulk_round_f64(d, d, MANY, id, HU_RZ, 0, NULL, 0);
			for (size_t i = 0; i < MANY; i++) {
				uint64_t u = i == at ? hu_bits64(hu_nan()) : (uint64_t)i << 40;
				wrong += (hu_bits64(d[i]) != u) + (hu_bits64(e[i]) != u);
			}
		}
	}
	is_int(wrong, 0, "%s %s: a NaN anywhere becomes the one NaN, and nothing else changes", hu_simd_name(),
		hu_format_name(id));
}

/* Where a block's number passes 2^32, and where an index is no multiple of 8. */
static void
test_indices(hu_format_id id)
{
	static float x[600], y[600];
	static uint8_t codes[600];
	long wrong = 0;

	for (size_t i = 0; i < 600; i++)
		x[i] = (float)sample(hu_format_of(id), i);
	for (uint64_t back = 0; back < 300; back += 7)
		for (int m = HU_SR; m <= HU_SRE; m++) {
			uint64_t index = (UINT64_C(3) << 35) - back;
			hu_bulk_round(y, x, 600, id, (hu_mode)m, 0, &stream, index);
			for (size_t i = 0; i < 600; i++)
				wrong +=
					hu_bits32(y[i]) != float_bits(want((double)x[i], id, (hu_mode)m, 0, index + i));
			hu_bulk_encode(codes, x, 600, id, (hu_mode)m, 0, &stream, index);
			for (size_t i = 0; i < 600; i++)
				wrong += codes[i] !=
					 hu_encode(want((double)x[i], id, (hu_mode)m, 0, index + i), hu_format_of(id));
		}
	is_int(wrong, 0, "%s %s: draws about block 3 * 2^32", hu_simd_name(), hu_format_name(id));
}

/* A call on one thread, on three, and on one of three: the same bits. */
static void
test_threads(void)
{
	float *x = malloc(LARGE * sizeof *x), *a = malloc(LARGE * sizeof *a), *b = malloc(LARGE * sizeof *b);
	uint16_t *c = malloc(LARGE * sizeof *c), *e = malloc(LARGE * sizeof *e);
	int inside = 0;

	for (size_t i = 0; i < LARGE; i++)
		x[i] = (float)sample(hu_format_of(HU_FP16), i);
	hu_threads_set(1);
	hu_bulk_round(a, x, LARGE, HU_FP16, HU_SR, 0, &stream, 2);
	hu_bulk_encode(c, x, LARGE, HU_FP16, HU_SR, 0, &stream, 2);
	hu_threads_set(3);
	hu_bulk_round(b, x, LARGE, HU_FP16, HU_SR, 0, &stream, 2);
	hu_bulk_encode(e, x, LARGE, HU_FP16, HU_SR, 0, &stream, 2);
	ok(!memcmp(a, b, LARGE * sizeof *a), "three threads round as one does");
	ok(!memcmp(c, e, LARGE * sizeof *c), "and encode");
	memset(b, 0, LARGE * sizeof *b);
#pragma omp parallel num_threads(3) reduction(+ : inside)
	{
		inside += omp_in_parallel();
#pragma omp single
		hu_bulk_round(b, x, LARGE, HU_FP16, HU_SR, 0, &stream, 2);
	}
	ok(!memcmp(a, b, LARGE * sizeof *a), "and one inside a parallel region");
	diag("%d threads inside", inside);
	hu_threads_set(0);
	free(x);
	free(a);
	free(b);
	free(c);
	free(e);
}

int
main(void)
{
	static const char *const custom[] = { "e11m40", "e9m6", "e9m50", "e3m2", "fp16nosub", "e5m30", "e10m20fn",
		"e11m3ftz", "binary8p1", "e8m4nosub", "e5m8b127", "e4m3b127", "e5m2sat", "fp16sat" };
	enum { CUSTOM = sizeof custom / sizeof *custom };

	for (int i = 0; i < HU_FORMATS + CUSTOM; i++) {
		hu_format_id f = (hu_format_id)i;
		if (i >= HU_FORMATS && hu_format_find(custom[i - HU_FORMATS], &f) != HU_OK)
			bail_out("%s", hu_reason());
		each_level(test_doubles, f);
		each_level(test_codes, f);
		if (hu_bulk_element(f) <= 2 && hu_format_of(f).emax <= 127 &&
			hu_format_of(f).emin - hu_format_of(f).p >= -149) /* floats hold the values */
			each_level(test_rows, f);
	}
	each_level(test_stream, HU_FP16);
	each_level(test_stream, HU_BF16);
	each_level(test_stream, HU_E4M3FNUZ);
	each_level(test_stream, HU_FP32);
	each_level(test_stream, HU_FP64);
	each_level(test_nans, HU_FP32);
	each_level(test_nans, HU_FP64);
	each_level(test_indices, HU_E5M2);
	hu_simd_set("auto");
	test_threads();
	return done_testing();
}
