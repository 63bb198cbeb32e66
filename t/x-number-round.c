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

/* The last index whose value is at most x. */
static long
index_of(const table *t, double x)
{
	long lo = 0, hi = t->n;

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
	double low = t->value[i], high = t->value[i + 1], middle = low + (high - low) / 2;
	int even = t->f.p > 1 ? i % 2 == 0 : i == 0, up;

	if (x >= high)
		return beyond(t, negative, m);
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

/* Wrong elements among the CHUNK floats from bits FIRST on. */
static long
chunk(const table *t, uint32_t first, hu_mode m)
{
	static _Thread_local float src[CHUNK], dst[CHUNK];
	static _Thread_local uint32_t want[CHUNK];
	int negative = first >> 31;
	long wrong = 0, i = 0;
	uint32_t nan = t->f.special == HU_SPECIAL_FINITE ? hu_bits32((float)t->f.max) : 0x7fc00000u;

	for (uint32_t k = 0; k < CHUNK; k++) {
		uint32_t u = first + k;
		double x = fabs((double)hu_from_bits32(u));
		src[k] = hu_from_bits32(u);
		if (isnan(x)) {
			want[k] = nan;
		} else if (isinf(x)) {
			want[k] = as_float(beyond(t, negative, HU_RNE), negative, t->f);
		} else {
			i = k == 0 ? index_of(t, x) : i;
			while (i + 1 < t->n && t->value[i + 1] <= x)
				i++;
			uint32_t rand = hu_mode_draws(m) ? hu_random_at(stream.seed, stream.stream, stream.step, u).w[0] : 0;
			want[k] = as_float(wanted(t, i, x, negative, m, rand), negative, t->f);
		}
	}
	for (int level = 0; level < HU_SIMDS; level++)
		if (hu_simd_has((hu_simd)level)) {
			hu_bulk_round_at((hu_simd)level, dst, src, CHUNK, t->f.id, m, 0, &stream, first);
			for (uint32_t k = 0; k < CHUNK; k++)
				wrong += hu_bits32(dst[k]) != want[k];
		}
	return wrong;
}

static void
test_format(hu_format f)
{
	table t = table_of(f);

	for (int m = 0; m < HU_MODES; m++) {
		long wrong = 0;
		if (hu_mode_draws((hu_mode)m) && f.id != HU_FP16 && f.id != HU_BF16 && f.id != HU_E4M3)
			continue; /* drawing takes longest */
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
