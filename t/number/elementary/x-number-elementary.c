/* SPDX-License-Identifier: Apache-2.0
   The elementary functions of all 2^32 floats: each result is within 0.51 ulp of the exact one, and just as many are
   not the nearest float as doc/formats.md says. */
#include "lib/number/round.h"
#include "t/oracle/dd-elementary.h"
#include "t/tool/progress.h"
#include "t/oracle/screen.h"
#include "t/tool/tap.h"

#include <mpfr.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* How many of a function's results are not the nearest float; none of them is farther off than WORST. */
static const struct { const char *name; long long misrounded; } known[] = { { "log", 5 }, { "log1p", 8 },
	{ "sigmoid", 78 }, { "erfc", 1 }, { "sin", 2 }, { "cos", 4 } };
#define WORST 0.5000000025

static long long
misrounded_of(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, name))
			return known[i].misrounded;
	return 0;
}

static void
test_function(int i, uint32_t share)
{
	screen_tally all = { 0, 0, 0, 0, 0, 0, 0 };
	double start = omp_get_wtime();
	progress p = progress_of(screen_name(i), (1 << 16) / (long)share);

#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t c = 0; c < (1u << 16) / share; c++) {
		screen_tally t = { 0, 0, 0, 0, 0, 0, 0 };
		uint32_t first = c * share << 16;
		if (screen_mirrors(i) && first >> 31)
			t.constant = SCREEN_CHUNK;
		else
			screen_chunk(i, first, &t);
#pragma omp critical
		screen_add(&all, &t);
		progress_step(&p);
	}
	all.misrounded *= 1 + screen_mirrors(i);
	is_int(all.wrong, 0,
		"%s of %s 2^32 floats within 0.51 ulp: at most %.9f near %a; not the nearest float: %lld; by monotony "
		"%lld, screened %lld, by MPFR %lld",
		screen_name(i), share == 1 ? "all" : "a part of the", all.worst, (double)hu_from_bits32(all.at),
		all.misrounded, all.constant, all.screened, all.judged);
	if (share == 1)
		ok(all.misrounded == misrounded_of(screen_name(i)) && all.worst < WORST,
			"%s: %lld are not the nearest float, and the largest error is below %.10f ulp", screen_name(i),
			misrounded_of(screen_name(i)), WORST);
	diag("%s: %.1f s", screen_name(i), omp_get_wtime() - start);
}

/* Arguments for whoever looks for an error or a time: a function's name, and every how many chunks. */
int
main(int argc, char **argv)
{
	ok(dd_constants_init() < 0x1p-85, "the screen's constants");
	for (int i = 0; i < screen_functions(); i++)
		if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], screen_name(i)))
			test_function(i, argc > 2 ? (uint32_t)atoi(argv[2]) : 1);
	mpfr_free_cache();
	return done_testing();
}
