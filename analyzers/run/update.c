/* SPDX-License-Identifier: Apache-2.0
   Judges an optimizer's update of one tensor: each weight's exact step, whether the weight kept its bits, and whether
   weight decay alone asked for the step. */
#include "analyzers/run/update.h"
#include "lib/judge/exact.h"
#include "lib/judge/parts/packs.h"

#include "lib/base/mem.h"
#include "lib/op/update/moments.h"
#include "lib/program/compensation.h"
#include "lib/program/links.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bits behind the leading one of a number that is finite and not 0. */
static uint64_t
fraction(double x)
{
	return hu_bits64(fabs(x) < 0x1p-1022 ? x * 0x1p52 : x) & 0xfffffffffffff;
}

static int
bin_of(double w, double d)
{
	int e = hu_exponent(w) - hu_exponent(d);

	e -= fraction(w) < fraction(d); /* floor of the logarithm of the quotient */
	return (e < HU_UPDATE_LOW ? HU_UPDATE_LOW : e > HU_UPDATE_HIGH ? HU_UPDATE_HIGH : e) - HU_UPDATE_LOW;
}

/* Counts a weight; harm is added of all at once. */
static void
count(hu_update *u, double w, double moved, double d, int by_decay)
{
	if (d == 0 || !isfinite(d))
		return;
	u->moved++;
	u->swamped += moved == 0;
	u->by_decay += by_decay;
	u->swamped_by_decay += by_decay && moved == 0;
	if (w != 0 && isfinite(w)) {
		int bin = bin_of(w, d);
		u->bin[bin]++;
		u->decay_bin[bin] += by_decay;
	}
}

void
hu_update_merge(hu_update *to, const hu_update *u)
{
	hu_harm_merge(&to->harm, &u->harm);
	to->n += u->n;
	to->moved += u->moved;
	to->swamped += u->swamped;
	to->by_decay += u->by_decay;
	to->swamped_by_decay += u->swamped_by_decay;
	for (int i = 0; i < HU_UPDATE_BINS; i++) {
		to->bin[i] += u->bin[i];
		to->decay_bin[i] += u->decay_bin[i];
	}
}

/* Most bins are empty: a number of those that are not, and of each its place and its two counts. */
static void
pack_bins(hu_pack *r, hu_update *u)
{
	size_t n = 0;

	for (int i = 0; i < HU_UPDATE_BINS; i++)
		n += u->bin[i] != 0;
	n = hu_pack_length(r, n);
	r->bad |= n > HU_UPDATE_BINS;
	for (int i = 0; n && !r->bad; n--, i++) {
		while (!r->reading && !u->bin[i])
			i++;
		hu_pack_int(r, &i);
		r->bad |= i < 0 || i >= HU_UPDATE_BINS;
		if (r->bad)
			return;
		hu_pack_size(r, &u->bin[i]);
		hu_pack_size(r, &u->decay_bin[i]);
	}
}

void
hu_update_pack(hu_pack *r, hu_update *u)
{
	hu_pack_size(r, &u->n);
	if (!u->n)
		return;
	hu_pack_harm(r, &u->harm);
	hu_pack_size(r, &u->moved);
	hu_pack_size(r, &u->swamped);
	hu_pack_size(r, &u->by_decay);
	hu_pack_size(r, &u->swamped_by_decay);
	pack_bins(r, u);
}

/* Sets asked[i] to 1 where the exact step without weight decay is 0, which is computed where it may be so: everywhere
   for a formula that is not looked into. */
static hu_status
decay_alone(char *asked, hu_analysis *a, const hu_call *c, hu_tensor *const *in, size_t first, size_t n,
	hu_methods *methods)
{
	hu_call free_of_decay = *c;
	size_t *open = hu_xmalloc((n + 1) * sizeof *open), some = 0;

	hu_attr_set(&free_of_decay, "weight_decay", 0);
	if (c->op->moments)
		hu_moments_still(&free_of_decay, in, first, n, asked);
	else
		memset(asked, HU_MOMENTS_OPEN, n);
	for (size_t i = 0; i < n; i++) {
		if (asked[i] == HU_MOMENTS_OPEN)
			open[some++] = first + i;
		asked[i] = asked[i] == HU_MOMENTS_STILL;
	}
	double *d = hu_xmalloc((some + 1) * sizeof *d);
	hu_status st = HU_OK;
	if (some)
		st = hu_exact_doubles_of(d, a->opt.engine, &free_of_decay, in, 0, in[0], open, some, methods);
	for (size_t i = 0; i < some && st == HU_OK; i++)
		asked[open[i] - first] = d[i] == 0;
	free(d);
	free(open);
	return st;
}

/* Where a weight has a compensation both are one value: sets d to the step that this value would take if nothing were
   rounded from the recorded terms on, and returns how far it moved, which the caller frees; else NULL. */
static double *
compensated(double *d, const hu_analysis *a, hu_trace *t, const hu_call *c, size_t first, size_t n, hu_status *st)
{
	hu_compensation of;
	int w = c->in[0];
	double own = 0;

	if (!hu_program_compensation(a->run->train, t->step, w, &of) || !t->t[of.rest].data || !t->t[of.after].data)
		return NULL;
	for (int i = 0; i < of.sum.n; i++)
		if (of.sum.term[i].tensor < 0 || !t->t[of.sum.term[i].tensor].data)
			return NULL;
	*st = hu_run_trace_need(&t->file, of.after);
	for (int i = 0; i < of.sum.n; i++)
		own += of.sum.term[i].tensor == w ? of.sum.term[i].factor : 0;
	for (int i = 0; *st == HU_OK && i < of.sum.n; i++)
		*st = hu_run_trace_need(&t->file, of.sum.term[i].tensor);
	double *moved = hu_xmalloc((n + 1) * sizeof *moved);
	for (size_t i = 0; *st == HU_OK && i < n; i++) {
		size_t e = first + i;
		double rest = hu_get(&t->t[of.rest], e), x = hu_get(&t->t[w], e), sum = (own - 1) * x;
		for (int k = 0; k < of.sum.n; k++)
			if (of.sum.term[k].tensor != of.rest && of.sum.term[k].tensor != w)
				sum += of.sum.term[k].factor * hu_get(&t->t[of.sum.term[k].tensor], e);
		moved[i] = (hu_get(&t->t[c->out[0]], e) - x) + of.factor * (hu_get(&t->t[of.after], e) - rest);
		d[i] = sum;
	}
	return moved;
}

hu_status
hu_update_compute(hu_update *u, hu_analysis *a, hu_trace *t, const hu_call *c, hu_tensor *const *in, size_t first,
	size_t n, hu_methods *methods)
{
	const hu_tensor *next = &t->t[c->out[0]];
	double *d = hu_xmalloc((n + 1) * sizeof *d);
	char *by_decay = hu_xcalloc(n + 1, 1);
	/* the exact steps are rounded away from zero, so that none that is not 0 becomes 0 */
	hu_status st = hu_analysis_doubles(d, a, t, c, in, 0, in[0], first, n, methods);

	memset(u, 0, sizeof *u);
	if (st == HU_OK && hu_op_takes(c->op, "weight_decay"))
		st = decay_alone(by_decay, a, c, in, first, n, methods);
	double *more = st == HU_OK ? compensated(d, a, t, c, first, n, &st) : NULL;
	double *moved = more ? more : hu_xmalloc((n + 1) * sizeof *moved);
	for (size_t i = 0; st == HU_OK && i < n; i++) {
		double w = hu_get(in[0], first + i);
		if (!more)
			moved[i] = hu_get(next, first + i) - w;
		count(u, w, moved[i], d[i], by_decay[i]);
	}
	if (st == HU_OK) {
		u->n = n;
		hu_harm_add_all(&u->harm, moved, d, n);
	}
	free(moved);
	free(d);
	free(by_decay);
	if (st == HU_OK)
		return HU_OK;
	char *why = hu_xstrdup(hu_reason());
	hu_fail(st, "step %zu, %s: %s", t->step, a->run->train->t[c->out[0]].name, why);
	free(why);
	return st;
}
