/* SPDX-License-Identifier: Apache-2.0
   Every enclosure of ops.def, over the cases of op-cases.def: the reference's value lies in it, hi is
   its rounding, elements asked for one by one and in any list are those of the whole, bounds and
   magnitudes are the operator's own, and enough of ordinary inputs are known to 2^-80. */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/sink.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { hu_format_id in, compute, out;
} combos[] = {
	{ HU_FP32, HU_FP32, HU_FP32 },
	{ HU_FP16, HU_FP32, HU_FP16 },
	{ HU_FP64, HU_FP64, HU_FP64 },
	{ HU_E4M3, HU_FP32, HU_BF16 },
};
enum { COMBOS = sizeof combos / sizeof *combos };

typedef struct gather { hu_sink s; size_t n, taken; double *hi, *lo, *err, *bound, *magnitude; int twice; } gather;

static void
take(hu_sink *s, const hu_tile *t)
{
	gather *g = (gather *)s;

#pragma omp critical(u_enclose)
	for (size_t i = 0; i < t->n; i++) {
		size_t at = t->at ? t->at[i] : t->first + i;
		g->twice |= at >= g->n || !isnan(g->err[at]);
		g->hi[at] = t->hi[i];
		g->lo[at] = t->lo[i];
		g->err[at] = isnan(t->err[i]) ? INFINITY : t->err[i];
		g->bound[at] = t->bound ? t->bound[i] : 0;
		g->magnitude[at] = t->magnitude ? t->magnitude[i] : NAN;
		g->taken++;
	}
}

static void
gather_init(gather *g, size_t n, int bounds)
{
	memset(g, 0, sizeof *g);
	g->s.take = take;
	g->s.bounds = bounds;
	g->n = n;
	double *room = hu_xcalloc(5 * n + 1, sizeof *room);
	g->hi = room;
	g->lo = room + n;
	g->err = room + 2 * n;
	g->bound = room + 3 * n;
	g->magnitude = room + 4 * n;
	for (size_t i = 0; i < n; i++)
		g->err[i] = NAN;
}

static void
gather_release(gather *g)
{
	hu_sink_forget(&g->s);
	free(g->hi);
}

typedef struct tally {
	size_t values, unknown, loose, outside, unrounded, other;
	double hi, lo, err;
	char *exact;
} tally;

static void
compare(tally *t, const gather *g, mpfr_t *exact, size_t n)
{
	mpfr_t d, own;

	mpfr_inits2(4096, d, own, (mpfr_ptr)NULL);
	for (size_t i = 0; i < n; i++) {
		t->values++;
		if (!isfinite(g->hi[i]) || !isfinite(g->lo[i]) || !isfinite(g->err[i])) {
			t->unknown++;
			continue;
		}
		t->unrounded += g->hi[i] + g->lo[i] != g->hi[i];
		mpfr_sub_d(d, exact[i], g->hi[i], MPFR_RNDN);
		mpfr_sub_d(d, d, g->lo[i], MPFR_RNDN);
		mpfr_abs(d, d, MPFR_RNDN);
		mpfr_abs(own, exact[i],
			MPFR_RNDN); /* the reference's own rounding: 512 bits, of which an operation may lose some */
		mpfr_mul_2si(own, own, -400, MPFR_RNDN);
		mpfr_sub(d, d, own, MPFR_RNDN);
		if ((!mpfr_number_p(exact[i]) || mpfr_cmp_d(d, g->err[i]) > 0) && !t->outside++) {
			t->hi = g->hi[i];
			t->lo = g->lo[i];
			t->err = g->err[i];
			mpfr_asprintf(&t->exact, "%Ra", exact[i]);
		}
		t->loose += g->err[i] > fabs(g->hi[i]) * 0x1p-80;
	}
	mpfr_clears(d, own, (mpfr_ptr)NULL);
}

/* One output: all of it, and a list. */
static hu_status
one_output(op_case *k, int out, tally *t)
{
	const hu_call *c = &k->c;
	size_t n = k->out[out].n, some = 0, *list = hu_xmalloc((n + 1) * sizeof *list),
	       *all = hu_xmalloc((n + 1) * sizeof *all);
	mpfr_t *exact = hu_xmalloc((n + 1) * sizeof *exact);
	double *b = hu_xcalloc(2 * n + 1, sizeof *b), *m = b + n;
	gather whole, part;

	gather_init(&whole, n, 1);
	for (size_t i = 0; i < n; i++) {
		all[i] = i;
		mpfr_init2(exact[i], 256);
		if (i % 7 == 3 || i + 1 == n)
			list[some++] = i;
	}
	hu_status st = HU_COLUMN(c->op, reference)(c, k->pin, out, all, n, exact);
	if (st == HU_OK)
		st = HU_COLUMN(c->op, enclose)(c, k->pin, out, NULL, n, &whole.s);
	if (st == HU_OK && HU_COLUMN(c->op, bound))
		st = HU_COLUMN(c->op, bound)(c, k->pin, out, all, n, b);
	if (st == HU_OK && HU_COLUMN(c->op, magnitude))
		st = HU_COLUMN(c->op, magnitude)(c, k->pin, out, all, n, m);
	if (st == HU_OK) {
		t->other += whole.taken != n || whole.twice;
		compare(t, &whole, exact, n);
		for (size_t i = 0; i < n; i++) {
			t->other += !(whole.bound[i] == b[i] || (isnan(b[i]) && isnan(whole.bound[i])));
			t->other += HU_COLUMN(c->op, magnitude) ? !(whole.magnitude[i] == m[i] || isnan(m[i]))
						     : !isnan(whole.magnitude[i]);
		}
	}
	gather_init(&part, some, 0);
	if (st == HU_OK)
		st = HU_COLUMN(c->op, enclose)(c, k->pin, out, list, some, &part.s);
	if (st == HU_OK) {
		t->other += part.taken != some || part.twice;
		for (size_t i = 0; i < some; i++) {
			mpfr_swap(exact[i], exact[list[i]]);
			t->other += part.bound[i] != 0;
		}
		compare(t, &part, exact, some);
	}
	gather_release(&whole);
	gather_release(&part);
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	free(exact);
	free(list);
	free(all);
	free(b);
	return st;
}

/* Of the long cases, there for tiles and threads, one combination tells enough. */
static int
applies(const op_row *row, int combo)
{
	op_case k;
	size_t largest = 0;

	if (op_case_init(&k, row, HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 1) == HU_OK)
		for (int j = 0; j < k.c.nin; j++)
			largest = k.in[j].n > largest ? k.in[j].n : largest;
	op_case_release(&k);
	if (largest > 4000 && combo)
		return 0;
	return hu_op_find(row->op)->cls != HU_CLASS_GEMM || combos[combo].in != HU_FP64 ||
	       combos[combo].compute == HU_FP64;
}

static void
walk(const op_row *row)
{
	for (int i = 0; i < COMBOS; i++) {
		tally t = { 0 };
		hu_status st = HU_OK;
		size_t mild = 0, mild_unknown = 0;
		if (!applies(row, i))
			continue;
		for (int level = 0; level < LEVELS && st == HU_OK; level++) {
			op_case k;
			size_t before = t.values, vague = t.unknown + t.loose;
			st = op_case_init(
				&k, row, combos[i].in, combos[i].compute, combos[i].out, level, 300 + (uint64_t)level);
			for (int out = 0; out < k.c.nout && st == HU_OK; out++)
				st = one_output(&k, out, &t);
			if (level == LEVEL_MILD) {
				mild = t.values - before;
				mild_unknown = t.unknown + t.loose - vague;
			}
			op_case_release(&k);
		}
		if (!ok(st == HU_OK && !t.outside && !t.unrounded && !t.other && t.values && mild_unknown * 20 <= mild,
			    "%s (%s) %s-%s-%s: %zu enclosures hold (%zu of %zu ordinary ones, %zu of all unknown to "
			    "2^-80)",
			    row->op, row->attrs, hu_format_name(combos[i].in), hu_format_name(combos[i].compute),
			    hu_format_name(combos[i].out), t.values, mild_unknown, mild, t.unknown + t.loose)) {
			if (st != HU_OK)
				diag("%s", hu_reason());
			diag("%zu outside (%a + %a within %a, exact %.80s), %zu not rounded, %zu other faults",
				t.outside, t.hi, t.lo, t.err, t.exact ? t.exact : "", t.unrounded, t.other);
		}
		if (t.exact)
			mpfr_free_str(t.exact);
	}
}

int
main(int argc, char **argv)
{
	for (int r = 0; op_row_at(r); r++)
		if ((argc < 2 || !strcmp(argv[1], op_row_at(r)->op)) &&
			HU_COLUMN(hu_op_find(op_row_at(r)->op), enclose))
			walk(op_row_at(r));
	for (int i = 0; hu_op_at(i); i++)
		if (!HU_COLUMN(hu_op_at(i), enclose))
			diag("%s has no enclosures yet", hu_op_at(i)->name);
	return done_testing();
}
