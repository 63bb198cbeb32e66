/* SPDX-License-Identifier: Apache-2.0
   The analyzer loss-scale finds which loss scales would have preserved the gradients of a traced step. It uses the
   exact step's unscaled gradients, since values that a narrow format already flushed cannot be recovered. It also finds
   the scales that other rules would have chosen over the whole run. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "lib/judge/propagate.h"
#include "analyzers/run/sweep.h"
#include "analyzers/run/timeline.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"
#include "lib/program/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = -8, LAST = 24 };   /* exponents of the scales in the table */

#define SWEEP "step tensor format log2_scale lost overflow share_lost l2_share_lost"
#define SAFE "step tensor format amax log2_scale_min log2_scale_max nonzeros recorded_amax recorded_nonzeros"

typedef struct tables { hu_tsv sweep, safe; int min, max, any; size_t nonfinite; } tables;

static void
record(hu_pack *r, tables *w)
{
	hu_analysis_rows(r, &w->sweep);
	hu_analysis_rows(r, &w->safe);
	hu_pack_int(r, &w->any);
	hu_pack_int(r, &w->min);
	hu_pack_int(r, &w->max);
	hu_pack_size(r, &w->nonfinite);
}

static void
release(void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_release(&w->sweep);
	hu_tsv_release(&w->safe);
}

/* Returns the format in which tensor i's gradient must survive: its own where that has 16 bits or fewer; in a run
   without such gradients fp16, as if it had them; HU_NO_FORMAT where the tensor does not count, as tensors with a scale
   of their own do not. */
static hu_format_id
judged_in(const hu_program *p, int i, int narrow)
{
	const hu_info *t = &p->t[i];

	if (!hu_program_scales(p, i) || t->scale >= 0)
		return HU_NO_FORMAT;
	if (hu_format_of(t->format).bits <= 16)
		return t->format;
	return narrow ? HU_NO_FORMAT : HU_FP16;
}

static int
has_narrow(const hu_program *p)
{
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].loss_scaled && hu_format_of(p->t[i].format).bits <= 16)
			return 1;
	return 0;
}

static void
sweep_rows(hu_tsv *out, size_t step, const char *tensor, const char *format, const hu_scale_sweep *s)
{
	for (int k = FIRST; k <= LAST; k++) {
		size_t lost, overflow;
		double l2;
		hu_sweep_at(s, k, &lost, &overflow, &l2);
		hu_tsv_int(out, (long long)step);
		hu_tsv_text(out, tensor);
		hu_tsv_text(out, format);
		hu_tsv_int(out, k);
		hu_tsv_int(out, (long long)lost);
		hu_tsv_int(out, (long long)overflow);
		hu_tsv_real(out, s->nonzeros ? (double)lost / (double)s->nonzeros : 0);
		hu_tsv_real(out, l2);
	}
}

static void
safe_row(hu_tsv *out, size_t step, const char *tensor, const char *format, const hu_scale_sweep *s, int min, int max,
	double recorded_amax, size_t recorded_nonzeros)
{
	hu_tsv_int(out, (long long)step);
	hu_tsv_text(out, tensor);
	hu_tsv_text(out, format);
	hu_tsv_real(out, s->amax);
	if (min <= max) {
		hu_tsv_int(out, min);
		hu_tsv_int(out, max);
	} else {
		hu_tsv_none(out);
		hu_tsv_none(out);
	}
	hu_tsv_int(out, (long long)s->nonzeros);
	hu_tsv_real(out, recorded_amax);
	hu_tsv_int(out, (long long)recorded_nonzeros);
}

/* The totals of a step's tensors: the scales that are safe for each of them, and their recorded values. */
typedef struct whole { hu_scale_sweep s; int low, high; double amax; size_t nonzeros; } whole;

static void
compute_tensor(
	hu_analysis *a, const hu_trace *t, int i, hu_format f, double scale, hu_scale_sweep *s, tables *w, whole *all)
{
	const hu_info *info = &a->run->train->t[i];
	double amax = 0;
	size_t nonzeros = 0;
	int min, max;

	memset(s, 0, sizeof *s);
	w->nonfinite += hu_sweep_add_all(s, t->ideal[i], hu_count(info->shape), scale, f);
	for (size_t k = 0; t->t[i].data && k < t->t[i].n; k++) {
		double x = fabs(hu_get(&t->t[i], k)) / scale;
		nonzeros += hu_isfinite(x) && x > 0;
		if (hu_isfinite(x) && x > amax)
			amax = x;
	}
	if (!s->nonzeros)
		return; /* no scale could lose it or make it overflow */
	hu_sweep_safe(s, a->opt.lost, hu_unit(f), &min, &max);
	sweep_rows(&w->sweep, t->step, info->name, hu_format_name(f.id), s);
	safe_row(&w->safe, t->step, info->name, hu_format_name(f.id), s, min, max, amax, nonzeros);
	hu_sweep_merge(&all->s, s);
	all->low = min > all->low ? min : all->low;
	all->high = max < all->high ? max : all->high;
	all->amax = amax > all->amax ? amax : all->amax;
	all->nonzeros += nonzeros;
}

static hu_status
compute_step(hu_analysis *a, hu_trace *t, tables *w)
{
	const hu_program *p = a->run->train;
	double scale = hu_trace_scalar(a, t, "scaler.scale", 1);
	int narrow = has_narrow(p);
	hu_scale_sweep *s = hu_xcalloc(1, sizeof *s);
	whole *all = hu_xcalloc(1, sizeof *all);
	const char *format = "-";

	all->low = HU_SWEEP_LOW;
	all->high = HU_SWEEP_HIGH;

	for (int i = 0; i < p->nt; i++) {
		hu_format_id f = judged_in(p, i, narrow);
		if (f == HU_NO_FORMAT || !t->ideal[i])
			continue;
		compute_tensor(a, t, i, hu_format_of(f), scale, s, w, all);
		format = hu_format_name(f);
	}
	if (all->s.nonzeros) {
		sweep_rows(&w->sweep, t->step, "all", format, &all->s);
		safe_row(&w->safe, t->step, "all", format, &all->s, all->low, all->high, all->amax, all->nonzeros);
		w->min = !w->any || all->low > w->min ? all->low : w->min;
		w->max = !w->any || all->high < w->max ? all->high : w->max;
		w->any = 1;
	}
	free(s);
	free(all);
	return HU_OK;
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	tables w = { .min = 0 };
	hu_status st;

	(void)tables_of;
	if (u->call >= 0)
		return HU_OK;
	hu_analysis_rows_init(&w.sweep, SWEEP);
	hu_analysis_rows_init(&w.safe, SAFE);
	if ((st = hu_analysis_ideal(a, t)) == HU_OK && t->ideal)
		st = compute_step(a, t, &w);
	record(r, &w);
	release(&w);
	return st;
}

static hu_status
merge(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of, step = { .sweep = w->sweep, .safe = w->safe };

	(void)a;
	(void)s;
	if (u->call >= 0)
		return HU_OK;
	record(r, &step);
	w->sweep = step.sweep;
	w->safe = step.safe;
	w->nonfinite += step.nonfinite;
	if (step.any) {
		w->min = !w->any || step.min > w->min ? step.min : w->min;
		w->max = !w->any || step.max < w->max ? step.max : w->max;
		w->any = 1;
	}
	return HU_OK;
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_init(&w->sweep);
	hu_analysis_provenance(a, &w->sweep, "loss-scale");
	hu_tsv_note(&w->sweep, "gradients", "unscaled, of the exact step: %s", HU_PROPAGATE_HOW);
	hu_tsv_note(&w->sweep, "lost",
		"nonzeros that round to zero at scale 2^log2_scale; tensor 'all' is all of them together");
	hu_tsv_header(&w->sweep, SWEEP);
	hu_tsv_init(&w->safe);
	hu_analysis_provenance(a, &w->safe, "loss-scale-safe");
	hu_tsv_note(&w->safe, "interval",
		"log2_scale_max: the largest power of two at which no element overflows under RNE; log2_scale_min: the "
		"smallest that loses at most %g of the nonzeros and u of the L2 norm; tensor 'all': safe for each "
		"tensor of the step; - - : no scale is",
		a->opt.lost);
	hu_tsv_header(&w->safe, SAFE);
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	hu_tsv_note(&w->safe, "gradients", "unscaled, of the exact step: %s", HU_PROPAGATE_HOW);
	hu_again_note_step(a, &w->sweep);
	hu_again_note_step(a, &w->safe);
	hu_status st = hu_analysis_write(a, &w->sweep, "loss-scale.tsv"),
		  wrote = hu_analysis_write(a, &w->safe, "loss-scale-safe.tsv");
	if (st == HU_OK && wrote == HU_OK)
		wrote = hu_timeline_write(a);
	if (!w->any)
		hu_str_addf(&a->said, "no loss-scaled gradients to judge");
	else if (w->min <= w->max)
		hu_str_addf(&a->said, "safe for every %sgradient of the traced steps: 2^%d to 2^%d",
			w->nonfinite ? "finite " : "", w->min, w->max);
	else
		hu_str_addf(&a->said,
			"no scale is safe for every gradient of the traced steps (2^%d is needed, 2^%d overflows)",
			w->min, w->max + 1);
	if (w->nonfinite)
		hu_str_addf(&a->said, "; %zu are infinite or NaN at any scale", w->nonfinite);
	return st == HU_OK ? wrote : st;
}

static const hu_held_column held[] = {
	{ "loss-scale-safe", "step tensor", "log2_scale_min", HU_HELD_AGAINST_UP },
	{ "loss-scale-safe", "step tensor", "log2_scale_max", HU_HELD_AGAINST_DOWN },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_loss_scale = { "loss-scale",
	"what each loss scale would lose and overflow, the safe interval, other scalers' timelines",
	sizeof(tables), begin, compute, merge, NULL, end, release, held };
