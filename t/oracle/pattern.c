/* SPDX-License-Identifier: Apache-2.0 */
#include "t/oracle/pattern.h"

#include <math.h>
#include <string.h>

static uint32_t
bits_of(double x)
{
	float s = (float)x;
	uint32_t u;

	memcpy(&u, &s, sizeof u);
	return isnan(x) ? 0x7fc00000u : u;
}

void
pattern_format_of(pattern_format *p, hu_format f)
{
	int finite = f.special == HU_SPECIAL_FINITE,
	    inf = f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_P3109;
	uint32_t sign = 0x80000000u;

	memset(p, 0, sizeof *p);
	p->p = f.p;
	p->emin = f.emin;
	p->max = bits_of(f.max);
	p->no_negatives = f.special == HU_SPECIAL_SCALE;
	p->least = p->no_negatives ? bits_of(ldexp(1, f.emin)) : 0;
	p->nan = finite ? p->max : 0x7fc00000u;
	p->minus_zero = f.special == HU_SPECIAL_IEEE || f.special == HU_SPECIAL_FN || finite ? sign : 0;
	for (int negative = 0; negative < 2; negative++) {
		uint32_t s = negative ? sign : 0;
		p->inf[negative] = finite ? p->max | s : inf ? 0x7f800000u | s : 0x7fc00000u;
		for (int m = 0; m < HU_MODES; m++) {
			int stays = m == HU_RZ || m == (negative ? HU_RU : HU_RD) ||
				    (m == HU_RO && f.special != HU_SPECIAL_P3109);
			p->over[m][negative] = stays ? p->max | s : p->inf[negative];
		}
	}
	if (p->no_negatives)
		p->inf[1] = 0x7fc00000u;
}

/* The grid around the patterns of one binade: low = a & keep, high = low + step where FLAT is not set; else low = 0 and
   high = STEP, the smallest value, and the middle's pattern is MIDDLE. */
typedef struct grid { uint32_t keep, step, flat, middle, odd_bit, always_odd; int up_shift; } grid;

static grid
grid_of(uint32_t a, const pattern_format *p)
{
	int field = (int)(a >> 23), e = field ? field - 127 : -126, quantum = p->emin - p->p + 1, d;
	grid g = { 0, 0, 0, 0, 0, 0, 0 };

	if (field == 0 && p->emin < -126) { /* e8m0 below 2^-126: one value, 2^-127, is 0x00400000 */
		g.keep = 0xffc00000u;
		g.step = 0x00400000u;
		g.always_odd = 1;
		g.up_shift = 10;
		return g;
	}
	d = 24 - p->p + (field && e < p->emin ? p->emin - e : 0);
	if ((field || p->emin == -126) && d <= 23) {
		g.step = (uint32_t)1 << d;
		g.keep = ~(g.step - 1);
		g.odd_bit = d < 23 ? g.step : 0;
		g.always_odd = d == 23; /* one significant bit: the value is 1 quantum */
		g.up_shift = 32 - d;
		return g;
	}
	g.flat = 1;
	g.step = (uint32_t)(quantum + 127) << 23;
	g.middle = g.step - 0x00800000u;
	g.up_shift = e - quantum + 9; /* of a 24-bit significand, to 2^32 of the quantum; below 9 */
	return g;
}

/* One loop for each mode, which compilers turn into vectors: UP from what is known of an element. */
#define LOOP(UP)                                                                                            \
	_Pragma("omp simd")                                                                                 \
	for (int k = 0; k < n; k++) {                                                                       \
		uint32_t a = start + (uint32_t)k, low = g.flat ? 0 : a & g.keep, below = a - low;           \
		uint32_t twice = g.flat ? a : below << 1, span = g.flat ? g.middle : g.step;                \
		uint32_t odd = g.flat ? 0 : ((low & g.odd_bit) != 0) | (g.always_odd & (low != 0));         \
		uint32_t inexact = below != 0, up, r;                                                       \
		(void)twice, (void)span, (void)odd, (void)inexact;                                          \
		up = (UP);                                                                                  \
		r = up ? (g.flat ? g.step : low + g.step) : low;                                            \
		r = r == 0 ? zero : r > max ? over : r | sign;                                              \
		want[k] = r;                                                                                \
	}

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLONES
#endif

CLONES static void
round_finite(uint32_t *want, uint32_t start, int n, grid g, hu_mode mode, uint32_t sign, uint32_t zero, uint32_t max,
	uint32_t over)
{
	switch (mode) {
	case HU_RNE: LOOP((twice > span) | ((twice == span) & odd)); break;
	case HU_RNA: LOOP(twice >= span); break;
	case HU_RNZ: LOOP(twice > span); break;
	case HU_RU: LOOP(inexact & !sign); break;
	case HU_RD: LOOP(inexact & (sign != 0)); break;
	case HU_RO: LOOP(inexact & !odd); break;
	default: LOOP(0); break;
	}
}

/* SR: up where the draw is below the fraction of a step, in 2^-32: all bits below the kept ones, moved to the top;
   below the smallest value the significand of 24 bits. Floats' subnormals are then far below 2^-32. */
CLONES static void
round_drawn(uint32_t *want, uint32_t start, int n, grid g, hu_mode mode, const uint32_t *random, uint32_t sign,
	uint32_t zero, uint32_t max, uint32_t over)
{
	uint32_t up_shift = g.up_shift < 0 ? 0 : (uint32_t)g.up_shift, down_shift = g.up_shift < -31 ? 31
										    : g.up_shift < 0
											    ? (uint32_t)-g.up_shift
											    : 0;
	uint32_t hidden = start < 0x00800000u ? 0 : 0x00800000u, field = start < 0x00800000u ? 0 : 0x7fffffu;

	if (mode == HU_SRE)
		LOOP(inexact & (random[k] < 0x80000000u))
	else if (g.flat)
		LOOP(random[k] < ((a & field) | hidden) << up_shift >> down_shift)
	else if (up_shift < 32)
		LOOP(random[k] < below << up_shift)
	else
		LOOP(0)
}

void
pattern_round(uint32_t *want, uint32_t first, int n, const pattern_format *p, hu_mode mode, const uint32_t *random)
{
	uint32_t sign = first & 0x80000000u, a = first ^ sign, zero = p->least ? p->least : sign ? p->minus_zero : 0;
	grid g;

	if (a >= 0x7f800000u) {
		for (int k = 0; k < n; k++)
			want[k] = a + (uint32_t)k > 0x7f800000u ? p->nan : p->inf[sign != 0];
		return;
	}
	if (sign && p->no_negatives) {
		for (int k = 0; k < n; k++)
			want[k] = a + (uint32_t)k ? 0x7fc00000u : p->least;
		return;
	}
	g = grid_of(a, p);
	if (mode == HU_SR || mode == HU_SRE)
		round_drawn(want, a, n, g, mode, random, sign, zero, p->max, p->over[mode][sign != 0]);
	else
		round_finite(want, a, n, g, mode, sign, zero, p->max, p->over[mode][sign != 0]);
}
