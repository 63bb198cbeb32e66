/* SPDX-License-Identifier: Apache-2.0
   What is told of a sum on which a device and a model disagree: the operands, from which both results follow. The
   device is the launch shim as an Ampere, the model another architecture's. */
#include "analyzers/probe/probe_device.h"
#include "lib/number/code.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 2, K = 16, SEEDS = 200, TILE = 128, SUMS = HU_PROBE_KINDS * TILE };

/* The K numbers of fp16 after `name` in TEXT, two a word. Returns 1 if they are there. */
static int
operands(double *x, const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		return 0;
	at += strlen(name);
	for (int k = 0; k < K; k += EACH) {
		char *end;
		unsigned long word = strtoul(at, &end, 16);
		if (end == at)
			return 0;
		x[k] = hu_decode(word & 0xffff, hu_format_of(HU_FP16));
		x[k + 1] = hu_decode(word >> 16, hu_format_of(HU_FP16));
		at = end;
	}
	return 1;
}

static uint32_t
bits(const double *a, const double *b, uint32_t c, hu_sum s)
{
	return hu_bits32((float)hu_model_tc(a, b, K, (double)hu_from_bits32(c), s, NULL));
}

int
main(void)
{
	hu_probe_device p;
	hu_sum own, other;
	int told = 0, wrong = 0, kinds = 0;

	if (hu_probe_open(&p, "shim", HU_TC_AMPERE) != HU_OK)
		skip_all("this build has no launch shim");
	if (hu_sum_parse("tc:ampere", &own) != HU_OK || hu_sum_parse("tc:hopper", &other) != HU_OK ||
		hu_sum_resolve(&own, HU_FP16, HU_FP16, HU_FP32) != HU_OK ||
		hu_sum_resolve(&other, HU_FP16, HU_FP16, HU_FP32) != HU_OK)
		bail_out("a model is not known");
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		hu_probe_random r;
		unsigned got, want, c;
		double a[K], b[K];
		if (hu_probe_random_run(&p, other, SUMS, seed, &r) != HU_OK)
			bail_out("the shim failed");
		for (int k = 0; k < HU_PROBE_KINDS; k++)
			kinds += r.by[k] == TILE;
		if (!r.differ)
			continue;
		told++;
		wrong += sscanf(r.first, "0x%x, the model 0x%x; C 0x%x", &got, &want, &c) != 3 ||
			 !operands(a, r.first, ", A") || !operands(b, r.first, ", B") || got == want ||
			 bits(a, b, c, own) != got || bits(a, b, c, other) != want;
	}
	is_int(kinds, SEEDS * HU_PROBE_KINDS, "every kind of operands has as many sums");
	ok(told > SEEDS / 2, "two architectures differ on %d of %d draws", told, SEEDS);
	ok(!wrong, "both results follow from the operands that are told, but for %d", wrong);
	hu_probe_close(&p);
	return done_testing();
}
