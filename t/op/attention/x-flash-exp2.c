/* SPDX-License-Identifier: Apache-2.0
   2^x as attention in blocks computes it (lib/op/contract/attention/exp2.h), of all 2^32 floats: each result is as near
   to the exact one as HU_FLASH_EXP says, and those below 2^-126 or from 2^128 on are 0 and infinite. The exact values
   are double-double's, with an error of at most 2^-80. */
#include <stdio.h> /* mpfr.h needs it first */

#include "lib/number/round.h"
#include "lib/op/contract/attention/flash.h"
#include "t/oracle/dd-elementary.h"
#include "t/tool/progress.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 16 };

typedef struct tally {
	double worst;
	float at;
	long long near, zero, infinite, nan, wrong;
} tally;

/* The exact 2^x of a float less y, relative to it: x = n / 128 + r, which is exact, and T + T p with
   T = 2^(n / 128). */
static double
error_of(float x, float y)
{
	double n = (double)x * 128, r;
	int i, j;

	n = (n + 0x1.8p52) - 0x1.8p52;
	r = (double)x - n / 128;
	i = (int)n;
	j = i & (DD_POWERS - 1);
	dd t = dd_scale(dd_c.power[j], hu_pow2((i - j) / DD_POWERS));
	dd p = dd_expm1_small(dd_mul_d(dd_c.ln2, r));
	dd v = dd_add_small(t, dd_mul(t, p));
	return fabs(((v.hi - (double)y) + v.lo) / v.hi);
}

static void
chunk(uint32_t first, tally *t)
{
	for (uint32_t k = 0; k < CHUNK; k++) {
		float x = hu_from_bits32(first + k), y = hu_flash_exp2(x);
		if (isnan(x)) {
			t->nan++;
			t->wrong += !isnan(y);
		} else if (x < -126) {
			t->zero++;
			t->wrong += y != 0;
		} else if (x >= 128) {
			t->infinite++;
			t->wrong += y != INFINITY;
		} else {
			double e = error_of(x, y);
			t->near++;
			t->wrong += !(e < HU_FLASH_EXP);
			if (!(e <= t->worst)) {
				t->worst = e;
				t->at = x;
			}
		}
	}
}

int
main(int argc, char **argv)
{
	uint32_t every = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	progress p = progress_of("exp2", CHUNK / (long)every);
	tally all = { .worst = 0 };

	ok(dd_constants_init() < 0x1p-85, "the screen's constants");
#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t c = 0; c < CHUNK / every; c++) {
		tally t = { .worst = 0 };
		chunk(c * every << 16, &t);
#pragma omp critical
		{
			all.near += t.near;
			all.zero += t.zero;
			all.infinite += t.infinite;
			all.nan += t.nan;
			all.wrong += t.wrong;
			if (!(t.worst <= all.worst)) {
				all.worst = t.worst;
				all.at = t.at;
			}
			progress_step(&p);
		}
	}
	is_int(all.wrong, 0,
		"2^x of %lld floats errs by at most %.4f of 2^-24 of itself, at %a; %lld are 0, %lld infinite, %lld "
		"NaN",
		all.near, all.worst * 0x1p24, (double)all.at, all.zero, all.infinite, all.nan);
	ok(every > 1 || (all.at == 0x1.0533b2p-1f && all.worst > HU_FLASH_EXP - 0x1p-37),
		"the largest error is at 0x1.0533b2p-1, and a ten-thousandth of 2^-24 below what is proven");
	ok(every > 1 || all.near + all.zero + all.infinite + all.nan == 1LL << 32, "all 2^32 floats");
	return done_testing();
}
