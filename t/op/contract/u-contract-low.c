/* SPDX-License-Identifier: Apache-2.0
   Products of certified operands (lib/op/contract/exact/contract_low.c): sums that MPFR computes lie in the enclosures,
   also where operands lie at the ends of their own errors; enclosures are hardly wider than these errors make them;
   rows of zeros give zeros, exactly where they have no errors; nothing is said of sums with a NaN or an infinity. */
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/sink.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape { size_t m, n, k; } shape;
typedef enum kind { ORDINARY, SPARSE, SPREAD, CANCELLING, SPECIAL, KINDS } kind;
static const char *const names[] = { "ordinary", "sparse", "spread", "cancelling", "special" };

static uint64_t drawn;

static uint32_t
draw(void)
{
	return hu_random_at(1, 11, 0, drawn++).w[0];
}

static double
unit(void)
{
	return (draw() & 1 ? 1 : -1) * (1 + draw() * 0x1p-32);
}

/* Fills an operand of rows of n elements: one row in three is 0, with subnormal errors if it has any. */
static void
fill(hu_tensor *t, double *lo, double *err, size_t n, kind how, int exact)
{
	for (size_t i = 0; i < t->n; i++) {
		int e = how == SPREAD ? (int)(draw() % 300) - 150 : (int)(draw() % 12) - 6, zero = i / n % 3 == 1;
		double x = ldexp(unit(), e);
		if (zero || (how == SPARSE && draw() % 20))
			x = 0;
		if (how == SPECIAL && i == 2 * n + 1)
			x = draw() & 1 ? INFINITY : NAN;
		if (how == CANCELLING && i % n % 2 && !zero)
			x = -((double *)t->data)[i - 1];
		((double *)t->data)[i] = x;
		lo[i] = isfinite(x) ? x * 0x1p-54 * (draw() * 0x1p-32) : 0;
		err[i] = exact ? 0 : zero ? 0x1p-1070 * (draw() % 8) : ldexp(draw() * 0x1p-32, e - 100);
		if (how == SPECIAL && i == 0)
			err[i] = INFINITY;
	}
}

typedef struct kept { hu_sink s; double *hi, *lo, *err; size_t taken; } kept;

static void
take(hu_sink *s, const hu_tile *t)
{
	kept *k = (kept *)s;

	memcpy(k->hi + t->first, t->hi, t->n * sizeof *t->hi);
	memcpy(k->lo + t->first, t->lo, t->n * sizeof *t->lo);
	memcpy(k->err + t->first, t->err, t->n * sizeof *t->err);
#pragma omp atomic
	k->taken += t->n;
}

/* Sets x to element i of t, moved by `by` times its error. */
static void
element(mpfr_t x, const hu_tensor *t, const hu_low *low, size_t i, int by)
{
	mpfr_set_d(x, hu_get(t, i), MPFR_RNDN);
	mpfr_add_d(x, x, low->lo[i], MPFR_RNDN);
	mpfr_add_d(x, x, by * low->err[i], MPFR_RNDN);
}

typedef struct tally { size_t outside, wide, said, silent, zeros; } tally;

/* Judges output (i, j). Errors move all factors outwards, inwards or by signs that are drawn. */
static void
judge(tally *r, const op_case *c, const hu_low *low, const shape *z, size_t i, size_t j, const kept *got)
{
	double loose = 0, size = 0, h = got->hi[i * z->n + j], l = got->lo[i * z->n + j], off = got->err[i * z->n + j];
	int known = 1, all_zero = 1;
	mpfr_t sum, a, b;

	mpfr_inits2(4400, sum, a, b, (mpfr_ptr)NULL);
	for (size_t t = 0; t < z->k; t++) {
		size_t ia = i * z->k + t, ib = t * z->n + j;
		double x = fabs(hu_get(&c->in[0], ia)), y = fabs(hu_get(&c->in[1], ib));
		known &= x < INFINITY && y < INFINITY && low[0].err[ia] < INFINITY && low[1].err[ib] < INFINITY;
		loose += x * low[1].err[ib] + y * low[0].err[ia];
		size += x * y;
		all_zero &= x == 0 && low[0].err[ia] == 0 && low[0].lo[ia] == 0;
	}
	r->said += known;
	r->silent += !known && off == INFINITY;
	for (int by = -1; by <= 2 && known; by++) {
		mpfr_set_zero(sum, 1);
		for (size_t t = 0; t < z->k; t++) {
			element(a, &c->in[0], &low[0], i * z->k + t, by < 2 ? by : (draw() & 1 ? 1 : -1));
			element(b, &c->in[1], &low[1], t * z->n + j, by < 2 ? by : (draw() & 1 ? 1 : -1));
			mpfr_fma(sum, a, b, sum, MPFR_RNDN);
		}
		mpfr_sub_d(sum, sum, h, MPFR_RNDN);
		mpfr_sub_d(sum, sum, l, MPFR_RNDN);
		r->outside += !(mpfr_cmpabs(sum, (mpfr_set_d(a, off, MPFR_RNDN), a)) <= 0);
	}
	if (known && all_zero) {
		r->zeros++;
		r->outside += h != 0 || l != 0 || off != 0;
	}
	/* sqrt(k) for norms in place of sums, and what is below every error that counts */
	r->wide += known && !(off <= 64 * (loose + 0x1p-95 * size) || off <= 0x1p-36 * fabs(h) || off < 0x1p-440);
	mpfr_clears(sum, a, b, (mpfr_ptr)NULL);
}

static void
product(const shape *z, kind how, int exact)
{
	char in[80];
	snprintf(in, sizeof in, "x:%zux%zu x:%zux%zu", z->m, z->k, z->k, z->n);
	const op_row row = { "matmul", "", in, "x" };
	op_case c;
	size_t n = z->m * z->n, na = z->m * z->k, nb = z->k * z->n;
	double *room = hu_xcalloc(3 * n + 2 * (na + nb) + 1, sizeof *room), *la = room + 3 * n, *lb = la + 2 * na;
	hu_low low[] = { { la, la + na }, { lb, lb + nb } };
	kept got = { { .take = take, .low = low }, room, room + n, room + 2 * n, 0 };
	tally r = { 0, 0, 0, 0, 0 };

	if (op_case_init(&c, &row, HU_FP64, HU_FP64, HU_FP64, LEVEL_MILD, 1) != HU_OK)
		bail_out("%s", hu_reason());
	fill(&c.in[0], la, la + na, z->k, how, exact);
	fill(&c.in[1], lb, lb + nb, nb, how == CANCELLING ? ORDINARY : how, exact);
	for (size_t t = 1; how == CANCELLING && t < z->k; t += 2) /* rows of B come in pairs that are alike */
		memcpy((double *)c.in[1].data + t * z->n, (double *)c.in[1].data + (t - 1) * z->n,
			z->n * sizeof(double));
	if (HU_COLUMN(c.c.op, enclose)(&c.c, c.pin, 0, NULL, n, &got.s) != HU_OK)
		bail_out("%s", hu_reason());
	size_t step = n * z->k / 200000 + 1;
	for (size_t o = 0; o < n; o += step)
		judge(&r, &c, low, z, o / z->n, o % z->n, &got);
	ok(got.taken == n && !r.outside && !r.wide && r.said && (how != SPECIAL || r.silent) &&
			(!exact || z->m < 3 || r.zeros),
		"%zux%zux%zu, %s: of %zu sums %zu outside, %zu too wide, %zu of nothing but zeros, %zu without a value",
		z->m, z->n, z->k, names[how], r.said, r.outside, r.wide, r.zeros, r.silent);
	op_case_release(&c);
	free(room);
}

int
main(void)
{
	static const shape shapes[] = { { 7, 9, 12 }, { 30, 17, 64 }, { 5, 3, 1030 }, { 4, 2, 2100 }, { 26, 300, 9 } };

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (kind how = ORDINARY; how < KINDS; how++)
			product(&shapes[i], how, how == SPARSE);
	return done_testing();
}
