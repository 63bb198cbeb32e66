/* SPDX-License-Identifier: Apache-2.0
   Every pair of every format of at most 8 bits, + - * / in every mode, and every
   fused multiply-add of five of them, against MPFR: what t/number/u-arith.c takes shares of. */
#include "lib/number/code.h"
#include "t/oracle/oracle-arith.h"
#include "t/tool/progress.h"
#include "t/oracle/some-formats.h"
#include "t/tool/tap.h"

#include <omp.h>
#include <stdlib.h>

static void
add(arith_tally *all, const arith_tally *t)
{
	long points = all->points + t->points, wrong = all->wrong + t->wrong;

	if (t->wrong)
		*all = *t;
	all->points = points;
	all->wrong = wrong;
}

/* All codes for a, b and, for fma, c; every SHAREth a. */
static void
test_all(hu_format f, int fma, uint32_t share)
{
	arith_tally all = { 0, 0, ARITH_ADD, HU_RNE, 0, 0, 0 };
	uint32_t n = (uint32_t)1 << f.bits;
	double start = omp_get_wtime();
	progress p = progress_of(hu_format_name(f.id), n / share);

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n / share; i++) {
		arith_tally t = { 0, 0, ARITH_ADD, HU_RNE, 0, 0, 0 };
		double a = hu_decode(i * share, f);
		for (uint32_t j = 0; j < n; j++) {
			double b = hu_decode(j, f);
			for (int op = ARITH_ADD; !fma && op <= ARITH_DIV; op++)
				arith_check(&t, (arith_op)op, a, b, 0, f, 0, i * 0x9e3779b9u + j * 0x85ebca6bu);
			for (uint32_t k = 0; fma && k < n; k++)
				arith_check(&t, ARITH_FMA, a, b, hu_decode(k, f), f, 0,
					i * 0x9e3779b9u + j * 0x85ebca6bu + k);
		}
#pragma omp critical
		add(&all, &t);
		if (fma)
			progress_step(&p);
	}
	arith_told(&all, fma ? "every fma" : "every pair, + - * /", f);
	diag("%s: %.1f s", hu_format_name(f.id), omp_get_wtime() - start);
}

/* An argument: every how many first operands, for whoever wants a time. */
int
main(int argc, char **argv)
{
	static const hu_format_id fused[] = { HU_E4M3, HU_E5M2, HU_E4M3FNUZ, HU_E3M2, HU_E2M1 };
	uint32_t share = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	hu_format f[SOME_FORMATS];
	int n = some_formats(f, 1, 8);

	for (int i = 0; i < n; i++)
		test_all(f[i], 0, (uint32_t)1 << f[i].bits > share ? share : 1);
	for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
		test_all(hu_format_of(fused[i]), 1, hu_format_of(fused[i]).bits > 4 ? share : 1);
	return done_testing();
}
