/* SPDX-License-Identifier: Apache-2.0
   The libraries that casts are compared with: MPFR, one value at a time, and numpy with ml_dtypes, timed inside
   Python. */
#include "lib/base/str.h"
#include "lib/number/round.h"
#include "trainer/bench/bench.h"
#include "trainer/bench/cast.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
mpfr_mode(hu_mode mode)
{
	switch (mode) {
	case HU_RNE: return MPFR_RNDN;
	case HU_RZ: return MPFR_RNDZ;
	case HU_RU: return MPFR_RNDU;
	case HU_RD: return MPFR_RNDD;
	default: /* MPFR has no other: the caller leaves the row out. */
		return -1;
	}
}

double
hu_bench_mpfr(const float *src, size_t n, hu_format_id id, hu_mode mode, long *wrong)
{
	hu_format f = hu_format_of(id);
	int m = mpfr_mode(mode);
	mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	float *dst = malloc(n * sizeof *dst);
	double start, t = 0;
	int runs = 0;
	mpfr_t x;

	if (m < 0 || !dst || !hu_has_sign(f) || f.p < 2) {
		free(dst);
		return 0;
	}
	mpfr_init2(x, f.p);
	mpfr_set_emin(f.emin - f.p + 2);
	mpfr_set_emax(f.emax + 1);
	start = hu_bench_clock(0);
	while (!(t > 0) && runs < HU_BENCH_RUNS) { /* a clock that ticks seldom may stand still for one run */
		for (size_t i = 0; i < n; i++) {
			int ternary = mpfr_set_flt(x, src[i], (mpfr_rnd_t)m);
			mpfr_subnormalize(x, ternary, (mpfr_rnd_t)m);
			dst[i] = mpfr_get_flt(x, MPFR_RNDN);
		}
		t = hu_bench_clock(0) - start;
		runs++;
	}
	mpfr_clear(x);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	for (size_t i = 0; f.special == HU_SPECIAL_IEEE && i < n; i++) {
		double want = hu_round((double)src[i], f, mode, 0, 0);
		*wrong += hu_isnan(want) ? dst[i] == dst[i] : hu_bits32(dst[i]) != hu_bits32((float)want);
	}
	free(dst);
	return 1e9 * t / runs / (double)n;
}

/* A Python program. Its arguments are the number of elements, the trials, and the type's names; it prints the
   nanoseconds per element to the type and back. */
static const char program[] =
	"import sys, time, numpy\n"
	"try:\n"
	" import ml_dtypes\n"
	"except ImportError:\n"
	" ml_dtypes = None\n"
	"n, trials = int(sys.argv[1]), int(sys.argv[2])\n"
	"t = next((getattr(m, a) for a in sys.argv[3].split(\",\") for m in (numpy, ml_dtypes) if m and hasattr(m, "
	"a)), None)\n"
	"if t is None: sys.exit(1)\n"
	"r = numpy.random.default_rng(1)\n"
	"x = (r.standard_normal(n, dtype=numpy.float32) * numpy.exp2(r.integers(-12, 12, n)).astype(numpy.float32))\n"
	"y = x.astype(t)\n"
	"def best(f):\n"
	" b = 1e9\n"
	" for _ in range(trials):\n"
	"  s, d, k = time.process_time(), 0, 0\n"
	"  while d <= 0 and k < 10000: f(); k += 1; d = time.process_time() - s\n"
	"  b = min(b, d / k)\n"
	" return 1e9 * b / n\n"
	"numpy.seterr(all=\"ignore\")\n"
	"print(best(lambda: numpy.copyto(y, x, casting=\"unsafe\")), best(lambda: numpy.copyto(x, y, "
	"casting=\"unsafe\")))\n";

void
hu_bench_python(double *encode, double *decode, size_t n, hu_format_id f, int trials)
{
	const char *python = getenv("PYTHON") && *getenv("PYTHON") ? getenv("PYTHON") : "python3";
	hu_str command;

	*encode = *decode = 0;
	if (strchr(python, '\''))
		return;
	hu_str_init(&command);
	hu_str_addf(&command, "'%s' -c '%s' %zu %d '%s,%s' 2>/dev/null", python, program, n, trials, hu_format_name(f),
		hu_format_aliases(f));
	fflush(NULL);
	FILE *p = popen(command.s, "r");
	hu_str_release(&command);
	if (!p)
		return;
	int got = fscanf(p, "%lf %lf", encode, decode);
	if (pclose(p) != 0 || got != 2)
		*encode = *decode = 0;
}
