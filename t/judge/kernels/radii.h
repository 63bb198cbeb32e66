/* SPDX-License-Identifier: Apache-2.0
   What the tests of radii share: operands and radii where formulas go wrong, a number of a ball, an operator's run, and
   whether the exact result lies in the ball that it returned. */
#ifndef HU_T_KERNEL_RADII_H
#define HU_T_KERNEL_RADII_H

#include "lib/base/mem.h"
#include "lib/judge/kernel/graph.h"
#include "lib/number/philox.h"
#include "t/tool/tap.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define R MPFR_RNDN
enum { BITS = 400, BATCH = 4096, LINE = 24 };

static uint64_t at;

/* What x-kernel-radii.py asks for: HALFULP_RADII_ROW names the one row that is tried, and HALFULP_RADII_PART the
   stretch of the random numbers, so that later parts have other operands. */
static inline int
is_wanted(const char *name)
{
	const char *row = getenv("HALFULP_RADII_ROW"), *part = getenv("HALFULP_RADII_PART");

	at = part ? (uint64_t)strtoul(part, NULL, 10) << 40 : at;
	return !row || !strcmp(row, name);
}

static double
uniform(void)
{
	return hu_uniform(hu_random_at(41, 9, 0, at++));
}

static unsigned
draw(unsigned n)
{
	return hu_random_at(41, 10, 0, at++).w[0] % n;
}

/* Operands where formulas go wrong: corners, near them, all sizes, ordinary ones. */
static double
operand(void)
{
	static const double corner[] = { 0, 1, -1, 3, -3, 0.5, -0.5, 6, 15, -15, 88, -88, 710, -745 };
	double sign = draw(2) ? 1 : -1;

	switch (draw(6)) {
	case 0: return corner[draw(14)];
	case 1: return corner[draw(14)] + sign * ldexp(1 + uniform(), -(int)draw(50));
	case 2: return sign * ldexp(1 + uniform(), (int)draw(60) - 50);
	case 3: return sign * ldexp(1 + uniform(), (int)draw(12) - 4);
	default: return 20 * uniform() - 10;
	}
}

static double
radius(double x)
{
	switch (draw(6)) {
	case 0: return 0;
	case 1: return fabs(x) * ldexp(1, -(int)draw(30) - 1);
	case 2: return ldexp(1 + uniform(), -(int)draw(40));
	case 3: return fabs(x) * (draw(2) ? 1 : 1 + uniform());
	case 4: return 4 * uniform();
	default: return fabs(x) * 0x1p-9;
	}
}

/* A number of the ball: an end, the middle, any. */
static void
inside(mpfr_t p, hu_ball b)
{
	double t = draw(4) ? (draw(2) ? 1 : -1) : 2 * uniform() - 1;

	mpfr_set_d(p, b.r, MPFR_RNDN);
	mpfr_mul_d(p, p, t, MPFR_RNDN);
	mpfr_add_d(p, p, b.x, MPFR_RNDN);
}

/* What was found of a row. */
typedef struct found {
	size_t beyond, open, odd, n;
	double worst;
	char what[200];
} found;

/* y: the row's ball of operand x; want: the exact result of a number of x. */
static void
hold(found *f, hu_ball y, mpfr_t want, hu_ball x, hu_ball z)
{
	double off;

	f->n++;
	f->odd += isnan(y.r) || y.r < 0;
	if (!(y.r < INFINITY)) {
		f->open++;
		return;
	}
	if (!hu_isfinite(y.x)) { /* beyond double, or undefined, as the exact value must be then */
		f->beyond += !isnan(y.x) && mpfr_number_p(want) && fabs(mpfr_get_d(want, R)) < 0x1p1023;
		return;
	}
	if (!mpfr_number_p(want))
		off = INFINITY;
	else {
		mpfr_sub_d(want, want, y.x, R);
		mpfr_abs(want, want, R);
		off = mpfr_get_d(want, MPFR_RNDU);
	}
	/* What is smaller than double's normal numbers may count as 0. */
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
	ok(!f->beyond && !f->odd && f->open < f->n, "%s%s: %zu results lie in their balls, %zu have none", name, how,
		f->n, f->open);
	if (f->beyond || f->odd)
		diag("%zu of %zu beyond, %zu radii are no number; the worst by %.3g: %s", f->beyond, f->n, f->odd,
			f->worst, f->what);
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
