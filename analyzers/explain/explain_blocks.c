/* SPDX-License-Identifier: Apache-2.0
   Draws a tensor core's sum block by block: products and accumulator aligned to one exponent, the bits that are cut off
   below its F fraction bits, the exact sum of the rest, and the one rounding. */
#include "analyzers/explain/explain_parts.h"

#include "analyzers/expression/evaluate_sum.h"
#include "lib/base/mem.h"
#include "lib/sum/table/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that are drawn at the beginning of a longer sum; its last one is drawn too. */
enum { FIRST = 2, MOST = 33 };

typedef struct unit {
	hu_tc t;
	hu_format a, b, out;
	const hu_arithmetic *how;
} unit;

/* The terms of one block, split into significands and exponents. */
typedef struct block {
	int32_t am[MOST], ae[MOST], bm[MOST], be[MOST];
	int index[MOST], n;     /* place among the sum's products, from 0 */
} block;

static void
put(block *b, const unit *u, const hu_seen *w, int k)
{
	int i = b->n++;

	hu_tc_split(w->x[k], u->a, &b->am[i], &b->ae[i]);
	hu_tc_split(w->y[k], u->b, &b->bm[i], &b->be[i]);
	b->index[i] = k;
}

/* Returns the operand as the unit takes it: tf32 loses bits of its fp32 word. */
static double
operand(int32_t m, int32_t e, hu_format f)
{
	return m ? ldexp(m, e - f.p + 1) : 0;
}

static void
product(mpfr_ptr p, const block *b, int i, const unit *u)
{
	mpfr_set_d(p, operand(b->am[i], b->ae[i], u->a), MPFR_RNDN);
	mpfr_mul_d(p, p, operand(b->bm[i], b->be[i], u->b), MPFR_RNDN);
}

/* Clears p's bits below weight; *lost: 0 none was set, 1 some were, 2 all of p. */
static void
chop(mpfr_ptr p, long weight, int *lost)
{
	long low = hu_lowest_bit(p, weight);

	*lost = 0;
	if (low >= weight)
		return;
	*lost = 1;
	mpfr_mul_2si(p, p, -weight, MPFR_RNDN);
	mpfr_trunc(p, p);
	mpfr_mul_2si(p, p, weight, MPFR_RNDN);
	if (mpfr_zero_p(p))
		*lost = 2;
}

static int
common_exponent(const block *b, const unit *u, double c)
{
	int32_t m, e, most = u->out.emin - u->t.zero;

	hu_tc_split(c, u->out, &m, &e);
	most = e > most ? e : most;
	for (int i = 0; i < b->n; i++)
		most = b->ae[i] + b->be[i] > most ? b->ae[i] + b->be[i] : most;
	return most;
}

static void
row(hu_frame *f, const char *label, mpfr_srcptr v, int e, long chop_at, long line, int lost)
{
	char value[96];
	hu_aligned *r;

	snprintf(value, sizeof value, "%-14.8g  e = %-4d%s", mpfr_get_d(v, MPFR_RNDN), e,
		lost == 2 ? " chopped to nothing"
		: lost    ? " chopped"
			  : "");
	r = hu_frame_add(f, label, v, hu_lowest_bit(v, chop_at), value);
	r->chop = chop_at;
	r->line = line;
	r->sign = mpfr_signbit(v) ? "−" : f->n > 1 ? "+" : "";
}

/* Draws one block that starts from c; returns what the model returns. */
static double
draw_block(hu_drawing *d, const unit *u, const block *b, double c, const char *c_name, const char *heading, int drawn)
{
	int emax = common_exponent(b, u, c), lost, some = 0, all = 0, terms = 0;
	long at = emax - u->t.f, line;
	double got = hu_tc_block(b->am, b->ae, b->bm, b->be, b->n, u->a.p + u->b.p - 2, c, u->t, u->out, NULL);
	hu_arithmetic final = *u->how;
	hu_frame f;
	mpfr_t p, sum, exact, rest;

	if (!drawn)
		return got;
	final.f = u->out;
	final.f.p = (u->out.p == 11 ? 10 : u->t.keep) + 1;
	final.mode = u->out.p == 11 ? HU_RNE : HU_RZ;
	mpfr_inits2(HU_EXPLAIN_EXACT, p, sum, exact, rest, (mpfr_ptr)0);
	mpfr_set_d(exact, c, MPFR_RNDN);
	mpfr_set(sum, exact, MPFR_RNDN);
	chop(sum, at, &lost);
	for (int i = 0; i < b->n; i++) {
		product(p, b, i, u);
		mpfr_add(exact, exact, p, MPFR_RNDN);
		chop(p, at, &lost);
		mpfr_add(sum, sum, p, MPFR_RNDN);
	}
	line = mpfr_regular_p(sum) ? hu_explain_line(sum, final.f) : HU_NO_LINE;
	hu_frame_init(&f);
	for (int i = -1; i < b->n; i++) {
		char label[64];
		int32_t m, e;
		if (i < 0) {
			hu_tc_split(c, u->out, &m, &e);
			mpfr_set_d(p, c, MPFR_RNDN);
			snprintf(label, sizeof label, "%s", c_name);
		} else {
			product(p, b, i, u);
			e = b->ae[i] + b->be[i];
			snprintf(label, sizeof label, "%.5g × %.5g", operand(b->am[i], b->ae[i], u->a),
				operand(b->bm[i], b->be[i], u->b));
		}
		if (!mpfr_regular_p(p))
			continue;
		mpfr_set(rest, p, MPFR_RNDN);
		chop(rest, at, &lost);
		some += lost == 1;
		all += lost == 2;
		terms++;
		row(&f, label, p, e, at, line, lost);
	}
	if (mpfr_regular_p(sum)) {
		hu_explain_rows(&f, &final, "sum", sum, 0, got, 1);
	} else {
		hu_frame_leave_out(&f, "the sum of what is left is 0");
	}
	hu_frame_draw(&f, d, heading);
	if (some + all)
		hu_drawing_words(d,
			"The largest exponent is %d; every term is chopped toward zero to %d bits below it, at 2^%ld. "
			"Of %d nonzero term%s %d lose%s bits and %d vanish%s; what is left is added exactly.",
			emax, u->t.f, at, terms, terms > 1 ? "s" : "", some, some == 1 ? "s" : "", all,
			all == 1 ? "es" : "");
	else if (terms)
		hu_drawing_words(d,
			"The largest exponent is %d; every term is chopped toward zero to %d bits below it, at 2^%ld. "
			"%s.",
			emax, u->t.f, at,
			terms > 1 ? "None of the nonzero terms loses a bit; they are added exactly"
				  : "The one nonzero term loses no bit");
	hu_explain_rounding(d, &final, sum, 0, got);
	if (isfinite(got) && some + all) {
		long ulp = hu_explain_line(exact, u->out);
		mpfr_sub(rest, sum, exact, MPFR_RNDN);
		mpfr_d_sub(p, got, exact, MPFR_RNDN);
		hu_drawing_words(d,
			"Without chopping the sum would be %.17g. Chopping is worth %.6g ulp of %s, all in all the "
			"block is %.6g ulp off.",
			mpfr_get_d(exact, MPFR_RNDN), fabs(ldexp(mpfr_get_d(rest, MPFR_RNDN), (int)-ulp)),
			hu_format_name(u->out.id), fabs(ldexp(mpfr_get_d(p, MPFR_RNDN), (int)-ulp)));
	}
	hu_frame_release(&f);
	mpfr_clears(p, sum, exact, rest, (mpfr_ptr)0);
	return got;
}

/* Draws two half blocks that start from zero, then c added with rounding to nearest. */
static double
draw_halves(hu_drawing *d, const unit *u, const hu_seen *w, int k, int n, double c, int drawn)
{
	hu_arithmetic add = *u->how;
	double acc = 0, s;

	for (int set = 0; set < 2; set++) {
		block b = { .n = 0 };
		char heading[128];
		for (int i = 2 * set; i < n; i += i % 2 ? 3 : 1)
			put(&b, u, w, k + i);
		snprintf(heading, sizeof heading, "Products %s of each four, as fp16: block %d of two, from %s",
			set ? "3 and 4" : "1 and 2", set + 1, set ? "the first one's sum" : "0");
		acc = draw_block(d, u, &b, acc, "block 1", heading, drawn);
	}
	add.f = u->out;
	add.mode = HU_RNE;
	s = hu_round(acc + c, u->out, HU_RNE, 0, 0);
	if (drawn && c != 0 && isfinite(acc)) {
		hu_drawing_words(d, "C is added last, as an ordinary addition to nearest:");
		hu_explain_add(d, &add, c, "C", acc, "products", s);
	}
	return s;
}

int
hu_explain_unit(hu_tc t)
{
	return (t.kind == HU_TC_BLOCK || t.kind == HU_TC_HALVES) && t.l < MOST;
}

void
hu_explain_blocks(hu_drawing *d, const hu_arithmetic *a, const hu_seen *w)
{
	hu_tc t = hu_tc_of(a->sum->arch, a->sum->in, a->sum->path);
	unit u = { t, hu_tc_inner(t, hu_format_of(a->sum->in)), hu_tc_inner(t, hu_format_of(a->sum->in2)),
		hu_format_of(a->sum->out), a };
	int step = t.l * (t.kind == HU_TC_HALVES ? 2 : 1), blocks = (w->n + step - 1) / step;
	double c = w->start;
	char heading[160];

	if (!hu_explain_unit(t)) {
		hu_drawing_words(d, "This unit is no sum of chopped terms, and is not drawn.");
		return;
	}
	for (int k = 0, i = 0; k < w->n || !k; k += step, i++) {
		int n = w->n - k < step ? w->n - k : step, drawn = i < FIRST || i + 1 == blocks;
		if (i == FIRST && blocks > FIRST + 1)
			hu_drawing_words(d, "%d more block%s not drawn.", blocks - FIRST - 1,
				blocks - FIRST - 1 > 1 ? "s are" : " is");
		if (t.kind == HU_TC_HALVES) {
			c = draw_halves(d, &u, w, k, n, c, drawn);
			continue;
		}
		block b = { .n = 0 };
		for (int j = 0; j < n; j++)
			put(&b, &u, w, k + j);
		snprintf(heading, sizeof heading,
			"Block %d of %d: C and up to %d products, chopped behind the dashed line", i + 1,
			blocks ? blocks : 1, t.l);
		c = draw_block(d, &u, &b, c, "C", heading, drawn);
		if (!isfinite(c))
			break;
	}
	if (isfinite(c) && u.out.id != a->f.id && c != w->s) {
		char text[2][40];
		hu_drawing_words(d, "The %s result %s is rounded to %s at the end: %s.", hu_format_name(u.out.id),
			hu_explain_number(c, u.out, text[0]), hu_format_name(a->f.id),
			hu_explain_number(w->s, a->f, text[1]));
	}
}
