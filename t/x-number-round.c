/* SPDX-License-Identifier: Apache-2.0
   All 2^32 floats to every format that the word loops serve, in every mode,
   against an oracle that knows the sorted table of the format's values and
   exact midpoints alone: no shift, no mask. Each instruction set this processor
   has. Formats of more than 19 bits are judged by t/u-round.c. */
#include "lib/number/bulk.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "t/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static const hu_stream stream = { 11, 12, 13 };

/* The non-negative values ascending; value[n] is the first one beyond, as if the exponent went on. */
typedef struct table { hu_format f; double *value; long n; } table;

static table
table_of(hu_format f)
{
	table t = { f, NULL, (long)hu_encode(f.max, f) + 1 };

	t.value = malloc((size_t)(t.n + 1) * sizeof *t.value);
	for (long i = 0; i < t.n; i++)
		t.value[i] = hu_decode((uint64_t)i, f);
	t.value[t.n] = f.max + ldexp(1, f.emax - f.p + 1);
	return t;
}

/* The last index whose value is at most x; n where x is beyond them all. */
static long
index_of(const table *t, double x)
{
	long lo = 0, hi = t->n + 1;

	while (hi - lo > 1) {
		long mid = lo + (hi - lo) / 2;
		*(t->value[mid] <= x ? &lo : &hi) = mid;
	}
	return lo;
}

static double
beyond(const table *t, int negative, hu_mode m)
{
	int finite = m == HU_RZ || m == HU_RO || (m == HU_RU && negative) || (m == HU_RD && !negative) || t->f.special == HU_SPECIAL_FINITE;

	return finite ? t->f.max : t->f.special == HU_SPECIAL_IEEE || t->f.special == HU_SPECIAL_P3109 ? INFINITY : NAN;
}

/* The magnitude of x >= 0 rounded, x between value[i] and value[i + 1]. Where p is 1 the upper
   neighbour counts as even: its integer multiple of the lower one is 2. */
static double
wanted(const table *t, long i, double x, int negative, hu_mode m, uint32_t rand)
{
	double low = t->value[i], high = t->value[i + 1], middle = low + (high - low) / 2; /* i < n */
	int even = t->f.p > 1 ? i % 2 == 0 : i == 0, up;

	switch (m) {
	case HU_RNE: up = x > middle || (x == middle && !even); break;
	case HU_RNA: up = x >= middle; break;
	case HU_RNZ: up = x > middle; break;
	case HU_RU: up = x > low && !negative; break;
	case HU_RD: up = x > low && negative; break;
	case HU_RO: up = x > low && even; break;
	case HU_SR: up = rand < floor((x - low) / (high - low) * 0x1p32); break;
	case HU_SRE: up = x > low && rand < 0x80000000u; break;
	default: up = 0; break;
	}
	if (up && i + 1 == t->n)
		return beyond(t, negative, m);
	return up ? high : low;
}

static uint32_t
as_float(double magnitude, int negative, hu_format f)
{
	if (isnan(magnitude))
		return 0x7fc00000u;
	if (magnitude == 0 && negative && !hu_has_minus_zero(f))
		return 0;
	return hu_bits32((float)(negative ? -magnitude : magnitude));
}

static uint32_t
bits_up_to_inf(double x)
{
	return hu_bits32((float)x); /* a value, a midpoint or the power of two beyond: exact or infinity */
}

/* What the floats with magnitudes A .. B - 1, finite, become: between two neighbouring values all
   on one side of the middle share a result, which wanted gives for one of them. */
static void
fill(const table *t, uint32_t a, uint32_t b, int negative, hu_mode m, uint32_t *want)
{
	long i = index_of(t, (double)hu_from_bits32(a));
	const uint32_t first = a;

	for (; a < b; i++) {
		if (i == t->n) {
			uint32_t w = as_float(beyond(t, negative, m), negative, t->f);
			for (; a < b; a++)
				want[a - first] = w;
			return;
		}
		double low = t->value[i], high = t->value[i + 1], middle = low + (high - low) / 2;
		uint32_t end = bits_up_to_inf(high) < b ? bits_up_to_inf(high) : b, at_low = bits_up_to_inf(low), at_middle = bits_up_to_inf(middle);
		uint32_t exact = as_float(wanted(t, i, low, negative, m, 0), negative, t->f);
		uint32_t below = as_float(wanted(t, i, low + (high - low) / 4, negative, m, 0), negative, t->f);
		uint32_t tie = as_float(wanted(t, i, middle, negative, m, 0), negative, t->f);
		uint32_t above = as_float(wanted(t, i, middle + (high - low) / 4, negative, m, 0), negative, t->f);
		for (uint32_t k = a; k < end; k++)
			want[k - first] = k > at_middle ? above : k < at_middle ? below : tie;
		if (at_low >= a && at_low < end)
			want[at_low - first] = exact;
		a = end;
	}
}

/* Each with its own random bits. */
static void
fill_drawn(const table *t, uint32_t u, uint32_t n, hu_mode m, uint32_t *want)
{
	int negative = u >> 31;
	long i = index_of(t, fabs((double)hu_from_bits32(u)));

	for (uint32_t k = 0; k < n; k++) {
		double x = fabs((double)hu_from_bits32(u + k));
		uint32_t rand = hu_random_word(stream.seed, stream.stream, stream.step, u + k);
		while (i < t->n && t->value[i + 1] <= x)
			i++;
		want[k] = as_float(i == t->n ? beyond(t, negative, m) : wanted(t, i, x, negative, m, rand), negative, t->f);
	}
}

/* Wrong elements among the CHUNK floats from bits FIRST on. */
static long
chunk(const table *t, uint32_t first, hu_mode m)
{
	static _Thread_local float src[CHUNK], dst[CHUNK];
	static _Thread_local uint32_t want[CHUNK], got[CHUNK];
	int negative = first >> 31;
	long wrong = 0;
	uint32_t a = first & 0x7fffffffu;

	for (uint32_t k = 0; k < CHUNK; k++)
		src[k] = hu_from_bits32(first + k);
	if (a >= 0x7f800000u) {
		for (uint32_t k = 0; k < CHUNK; k++)
			want[k] = t->f.special == HU_SPECIAL_FINITE ? hu_bits32((float)t->f.max) : 0x7fc00000u;
		if (a == 0x7f800000u)
			want[0] = as_float(beyond(t, negative, HU_RNE), negative, t->f);
	} else if (hu_mode_draws(m)) {
		fill_drawn(t, first, CHUNK, m, want);
	} else {
		fill(t, a, a + CHUNK, negative, m, want);
	}
	for (int level = 0; level < HU_SIMDS; level++)
		if (hu_simd_has((hu_simd)level)) {
			hu_bulk_round_at((hu_simd)level, dst, src, CHUNK, t->f.id, m, 0, &stream, first);
			memcpy(got, dst, sizeof got);
			long bad = 0;
#pragma omp simd reduction(+ : bad)
			for (uint32_t k = 0; k < CHUNK; k++)
				bad += got[k] != want[k];
			wrong += bad;
		}
	return wrong;
}

/* Drawing takes longest; formats like another one get the modes that differ in kind. */
static int
chosen(hu_format_id f, hu_mode m)
{
	static const hu_format_id every[] = { HU_FP16, HU_BF16, HU_TF32, HU_E4M3, HU_E5M2, HU_E4M3FNUZ, HU_E2M1 };

	if (hu_mode_draws(m))
		return f == HU_FP16 || f == HU_BF16 || f == HU_E4M3;
	for (size_t i = 0; i < sizeof every / sizeof *every; i++)
		if (f == every[i])
			return 1;
	return m == HU_RNE || m == HU_RU || m == HU_RNZ;
}

static void
test_format(hu_format f)
{
	table t = table_of(f);

	for (int m = 0; m < HU_MODES; m++) {
		long wrong = 0;
		if (!chosen(f.id, (hu_mode)m))
			continue;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : wrong)
		for (uint32_t c = 0; c < 1u << 16; c++)
			wrong += chunk(&t, c << 16, (hu_mode)m);
		is_int(wrong, 0, "%s %s: all 2^32 floats", hu_format_name(f.id), hu_mode_name((hu_mode)m));
	}
	free(t.value);
}

int
main(int argc, char **argv)
{
	hu_format_id ids[] = { HU_FP16, HU_BF16, HU_TF32, HU_E6M9, HU_E4M3, HU_E5M2, HU_E4M3IEEE, HU_E3M4, HU_E4M3FNUZ, HU_E5M2FNUZ, HU_E3M2, HU_E2M3, HU_E2M1 };
	size_t n = sizeof ids / sizeof *ids;

	if (argc > 1) { /* one format by name, for whoever looks for an error */
		if (hu_format_find(argv[1], &ids[0]) != HU_OK)
			bail_out("%s", hu_reason());
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		test_format(hu_format_of(ids[i]));
	return done_testing();
}
