/* SPDX-License-Identifier: Apache-2.0
   Enclosures of operands that are certified values themselves, over the cases of op-cases.def in doubles: what an
   operator hands over of all elements at once, or computes at their places in the sink's arrays, has the bits of what
   it hands over of a list that names them. */
#include <stdio.h> /* before mpfr.h */

#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/op/move/moves.h"
#include "lib/op/sink.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gather { hu_sink s; double *hi, *lo, *err; size_t n, taken, placed; } gather;

static void
take(hu_sink *s, const hu_tile *t)
{
	gather *g = (gather *)s;

#pragma omp critical(u_enclose_low)
	{
		int placed = s->hi && t->hi == s->hi + t->first && !t->at;
		g->taken += t->n;
		g->placed += placed ? t->n : 0;
		for (size_t i = 0; i < t->n && !placed; i++) {
			size_t at = t->at ? t->at[i] : t->first + i;
			if (at >= g->n)
				continue;
			g->hi[at] = t->hi[i];
			g->lo[at] = t->lo[i];
			g->err[at] = t->err[i];
		}
	}
}

static int
same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Trailing parts and errors of an operand, which are 0 for some. */
static hu_low
low_of(const hu_tensor *t, uint64_t seed)
{
	double *lo = hu_xcalloc(2 * t->n + 1, sizeof *lo), *err = lo + t->n;

	for (size_t i = 0; i < t->n; i++) {
		hu_random r = hu_random_at(seed, 9, 0, i);
		double h = hu_get(t, i);
		lo[i] = r.w[0] % 3 && isfinite(h) ? h * 0x1p-55 * (r.w[1] % 2 ? 1 : -1) : 0;
		err[i] = r.w[2] % 3 && isfinite(h) ? fabs(h) * 0x1p-90 : 0;
	}
	return (hu_low){ lo, err };
}

static hu_status
enclose(gather *g, op_case *k, int out, const hu_low *low, const size_t *element, int places)
{
	size_t n = g->n;

	g->s.take = take;
	g->s.low = low;
	g->hi = hu_xcalloc(3 * n + 1, sizeof *g->hi);
	g->lo = g->hi + n;
	g->err = g->lo + n;
	if (places) {
		g->s.hi = g->hi;
		g->s.lo = g->lo;
		g->s.err = g->err;
	}
	hu_status st = HU_COLUMN(k->c.op, enclose)(&k->c, k->pin, out, element, n, &g->s);
	hu_sink_forget(&g->s);
	return st;
}

typedef struct tally { size_t values, differ, placed, moved; char what[120]; } tally;

static void
compare(tally *t, op_case *k, int out, const op_row *row, const hu_low *low)
{
	size_t n = k->pout[out]->n, *all = hu_xmalloc((n + 1) * sizeof *all);
	gather once = { .n = n }, listed = { .n = n };

	for (size_t i = 0; i < n; i++)
		all[i] = i;
	hu_status a = enclose(&once, k, out, low, NULL, 1), b = enclose(&listed, k, out, low, all, 0);
	size_t bad = a != b || (a == HU_OK && (once.taken != n || listed.taken != n));
	for (size_t i = 0; i < n && a == HU_OK && b == HU_OK; i++)
		bad += !same(once.hi[i], listed.hi[i]) || !same(once.lo[i], listed.lo[i]) ||
		       !same(once.err[i], listed.err[i]);
	if (bad && !t->differ)
		snprintf(t->what, sizeof t->what, "%s (%s), output %d: %zu", row->op, row->in, out, bad);
	t->differ += bad;
	t->values += n;
	t->placed += once.placed;
	t->moved += k->c.op->moves != NULL;
	free(once.hi);
	free(listed.hi);
	free(all);
}

int
main(void)
{
	tally t = { 0 };

	for (int r = 0; op_row_at(r); r++)
		for (int level = LEVEL_MILD; level <= LEVEL_SPECIAL; level++) {
			const op_row *row = op_row_at(r);
			op_case k;
			if (op_case_init(&k, row, HU_FP64, HU_FP64, HU_FP64, level, 3) != HU_OK)
				continue;
			hu_low low[16] = { { NULL, NULL } };
			int several = !strcmp(k.c.op->name, "concat"); /* elsewhere the others may be indices */
			for (int j = 0; j < k.c.nin && (!j || several); j++)
				low[j] = low_of(k.pin[j], (uint64_t)(r * 16 + j));
			if (HU_COLUMN(k.c.op, enclose))
				for (int out = 0; out < k.c.nout; out++)
					compare(&t, &k, out, row, low);
			for (int j = 0; j < k.c.nin; j++)
				free((double *)(size_t)low[j].lo);
			op_case_release(&k);
		}
	if (!ok(t.differ == 0, "%zu certified values at once have the bits of those of a list", t.values))
		diag("%zu differ, first %s", t.differ, t.what);
	ok(t.placed > 1000, "%zu of them were computed where they were wanted", t.placed);
	ok(t.moved > 10, "%zu outputs are of operators that only move elements", t.moved);
	return done_testing();
}
