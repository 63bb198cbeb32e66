/* SPDX-License-Identifier: Apache-2.0
   What the judge costs: fused multiply-adds a second on one core, operands converted once,
   at the precisions that exact sums of each format need. The sum is checked against the
   closed form inside the timed program. */
#include "lib/base/terminal/progress.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { K = 4096, ROUNDS = 64 };

static double
time_fma(mpfr_prec_t precision)
{
	mpfr_t *a = malloc(K * sizeof *a), acc;
	double best = 1e9;

	mpfr_init2(acc, precision);
	for (int i = 0; i < K; i++) {
		mpfr_init2(a[i], 24);
		mpfr_set_si(a[i], i + 1, MPFR_RNDN);
	}
	for (int trial = 0; trial < 5; trial++) {
		double start = hu_now();
		for (int r = 0; r < ROUNDS; r++) {
			mpfr_set_zero(acc, 1);
			for (int i = 0; i < K; i++)
				mpfr_fma(acc, a[i], a[i], acc, MPFR_RNDN);
			/* sum of squares 1..K */
			if (mpfr_cmp_ui(acc, (unsigned long)K * (K + 1) * (2 * (unsigned long)K + 1) / 6)) {
				fprintf(stderr, "bench/mpfr: wrong sum\n");
				exit(1);
			}
		}
		double t = (hu_now() - start) / (ROUNDS * K);
		if (t < best)
			best = t;
	}
	for (int i = 0; i < K; i++)
		mpfr_clear(a[i]);
	free(a);
	mpfr_clear(acc);
	return best;
}

int
main(void)
{
	static const struct {
		const char *what;
		mpfr_prec_t precision;
	} rows[] = { { "53 bits", 53 }, { "fp16 sums, 113 bits", 113 }, { "bf16 sums, 543 bits", 543 },
		{ "fp32 sums, 575 bits", 575 } };

	printf("# MPFR %s, one core\nprecision\tns_fma\tfma_per_s\n", mpfr_get_version());
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double t = time_fma(rows[i].precision);
		printf("%s\t%.1f\t%.3g\n", rows[i].what, 1e9 * t, 1 / t);
	}
	return 0;
}
