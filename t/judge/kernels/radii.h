/* SPDX-License-Identifier: Apache-2.0
   What the tests of radii share: operands and radii where formulas go wrong, a number of a ball, an operator's run, and
   whether the exact result lies in the ball that it returned. A reference is written once, for MPFR, and computed in
   long double with a bound of its error first (extended.h). A test of many elements asks MPFR only where that leaves
   open whether the ball holds, and for one result in 4096; other tests ask it for all, and hold the bound to it. */
#ifndef HU_T_KERNEL_RADII_H
#define HU_T_KERNEL_RADII_H

#define MPFR_USE_NO_MACRO /* as_extended.inc gives these names to other functions */

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/judge/kernel/graph.h"
#include "t/judge/kernels/extended.h"
#include "t/tool/tap.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define R MPFR_RNDN
enum { BITS = 400, BATCH = 4096, LINE = 24 };

static uint64_t drawn; /* random numbers so far */
static int sweeping; /* MPFR is asked for few results only */

/* What x-kernel-radii.py asks for: HALFULP_RADII_ROW names the one row that is tried, and HALFULP_RADII_PART the
   stretch of the random numbers, so that later parts have other operands. */
static inline int
is_wanted(const char *name)
{
	const char *row = getenv("HALFULP_RADII_ROW"), *part = getenv("HALFULP_RADII_PART");

	drawn = part ? (uint64_t)strtoul(part, NULL, 10) << 40 : drawn;
	sweeping = part != NULL;
	return !row || !strcmp(row, name);
}

/* How many elements each operator gets. */
static inline size_t
draws_of(size_t usual)
{
	const char *s = getenv("HALFULP_RADII_DRAWS");

	return s ? strtoul(s, NULL, 10) : usual;
}

/* The random numbers of splitmix64. */
static uint64_t
next(void)
{
	return hu_mix64(drawn++ * 0x9e3779b97f4a7c15u);
}

static double
uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

static unsigned
draw(unsigned n)
{
	return (unsigned)((next() >> 32) * n >> 32);
}

/* Whether MPFR is asked in any case. */
static int
is_audited(void)
{
	return !sweeping || !draw(4096);
}

/* Operands where formulas go wrong: corners, near them, all sizes, ordinary ones. */
static double
operand(void)
{
	static const double corner[] = { 0, 1, -1, 3, -3, 0.5, -0.5, 6, 15, -15, 88, -88, 710, -745 };
	double sign = draw(2) ? 1 : -1;

	switch (draw(6)) {
	case 0: return corner[draw(14)];
	case 1: return corner[draw(14)] + sign * (1 + uniform()) * hu_pow2(-(int)draw(50));
	case 2: return sign * (1 + uniform()) * hu_pow2((int)draw(60) - 50);
	case 3: return sign * (1 + uniform()) * hu_pow2((int)draw(12) - 4);
	default: return 20 * uniform() - 10;
	}
}

static double
radius(double x)
{
	switch (draw(6)) {
	case 0: return 0;
	case 1: return fabs(x) * hu_pow2(-(int)draw(30) - 1);
	case 2: return (1 + uniform()) * hu_pow2(-(int)draw(40));
	case 3: return fabs(x) * (draw(2) ? 1 : 1 + uniform());
	case 4: return 4 * uniform();
	default: return fabs(x) * 0x1p-9;
	}
}

/* A number of the ball, which long double holds exactly: an end or the number next to it inside, the middle, any. What
   the sum loses is known exactly (Knuth), and where it leads out of the ball, one step back leads in. */
static void
inside(extended_ptr p, hu_ball b)
{
	double t = draw(4) ? (draw(2) ? 1 : -1) : 2 * uniform() - 1;
	long double x = b.x, d = (long double)t * b.r, y = x + d, back = y - x, lost = (x - (y - back)) + (d - back);

	extended_set_ld(p, (t < 0 ? lost > 0 : lost < 0) ? nextafterl(y, x) : y);
}

/* What was found of a row; lied: results of which MPFR's is not within the bound of long double's. */
typedef struct found {
	size_t beyond, open, odd, n, asked, lied;
	double worst;
	char what[200];
} found;

/* Counts a result; whether there is nothing that it could be held to, since it has no bound or is no number. */
static int
is_boundless(found *f, hu_ball y)
{
	f->n++;
	f->odd += isnan(y.r) || y.r < 0;
	f->open += !(y.r < INFINITY);
	return !(y.r < INFINITY) || isnan(y.x);
}

/* Whether the exact result, which is within want->e of want->x, lies in the ball for certain, and MPFR is not asked. An
   exact distance above r does not round to a number below r, nor to r itself where the sum lost nothing beyond it. What
   is smaller than double's normal numbers may count as 0. */
static int
is_settled(hu_ball y, extended_srcptr want)
{
	long double x = y.x, d = want->x - x, t = d - want->x, lost = (want->x - (d - t)) + (-x - t),
		    off = fabsl(d) + 2 * want->e;

	if (extended_open || !hu_isfinite(y.x) || is_audited())
		return 0;
	return off < y.r || off < 0x1p-1021L || (want->e == 0 && off == y.r && (d < 0 ? lost >= 0 : lost <= 0));
}

/* y: the row's ball of operand x; want: the exact result of a number of x; quick: the same with a bound of its error,
   beside which MPFR has its own. */
static void
hold(found *f, hu_ball y, mpfr_t want, extended_srcptr quick, hu_ball x, hu_ball z)
{
	double off;

	f->asked++;
	if (!extended_open && mpfr_number_p(want)) {
		mpfr_t d;
		mpfr_init2(d, BITS);
		mpfr_set_ld(d, quick->x, R);
		mpfr_sub(d, d, want, R);
		f->lied += !(fabsl(mpfr_get_ld(d, MPFR_RNDZ)) <= quick->e + 0x1p-390L * fabsl(quick->x));
		mpfr_clear(d);
	}
	if (!hu_isfinite(y.x)) { /* beyond double, as the exact value must be then */
		f->beyond += mpfr_number_p(want) && fabs(mpfr_get_d(want, R)) < 0x1p1023;
		return;
	}
	if (!mpfr_number_p(want))
		off = INFINITY;
	else {
		mpfr_sub_d(want, want, y.x, R);
		mpfr_abs(want, want, R);
		off = mpfr_get_d(want, MPFR_RNDU);
	}
	if (off <= y.r || off < 0x1p-1020)
		return;
	if (!f->beyond++ || off / y.r > f->worst) {
		f->worst = off / y.r;
		snprintf(f->what, sizeof f->what,
			"of %.17g within %.17g (and %.17g within %.17g): %.17g within %.5g, off %.5g", x.x, x.r, z.x,
			z.r, y.x, y.r, off);
	}
}

static void
tell(const found *f, const char *name, const char *how)
{
	ok(!f->beyond && !f->odd && !f->lied && f->open < f->n,
		"%s%s: %zu results lie in their balls, %zu have none, MPFR decided %zu", name, how, f->n, f->open,
		f->asked);
	if (f->beyond || f->odd || f->lied)
		diag("%zu of %zu beyond, %zu radii are no number, %zu references lie; the worst by %.3g: %s", f->beyond,
			f->n, f->odd, f->lied, f->worst, f->what);
}

/* Runs a row with keys "key=value ..." on n operands of LINE elements (or single ones) each. */
static inline void
compute(const char *name, const char *keys, const hu_roundoffs *a, int nin, const hu_balls *in, hu_balls *out)
{
	hu_ball_call c = {
		.row = hu_ball_row_find(name), .nin = nin, .nout = 1, .roundoffs = a, .stores = HU_STORES_ADD
	};
	hu_facts none;
	char *text = hu_xstrdup(keys), *save = NULL;

	hu_facts_init(&none);
	c.facts = &none;
	if (!c.row)
		bail_out("no row %s", name);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		*value = 0;
		c.key[c.nkey].key = w;
		c.key[c.nkey++].value = value + 1;
	}
	if (c.row->run(&c, in, out) != HU_OK)
		bail_out("%s does not run", name);
	free(text);
	hu_facts_release(&none);
}
#endif
