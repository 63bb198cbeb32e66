/* SPDX-License-Identifier: Apache-2.0
   The analyzer state finds what rounding takes from the state that no gradient reaches. For optimizer moments it
   compares the step that the stored second moment gives with the step that the exact one would give. For running
   statistics of norms it measures the distance to the batch's statistic that a moving average no longer closes because
   its own update is swamped. Either can ruin a run whose weights and gradients look healthy. */
#include "analyzers/run/again.h"
#include "analyzers/run/analyzer.h"
#include "lib/judge/exact.h"
#include "lib/judge/parts/packs.h"

#include "lib/base/mem.h"
#include "lib/program/links.h"
#include "lib/number/round.h"
#include "lib/op/update/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
	"step call op layer tensor format kind elements moved swamped became_zero l2_share_lost cosine verdict "       \
	"cosine_idle"

enum { MOMENT, STATISTIC, KINDS };
enum { OUTPUTS = 8 }; /* of a call that has moments or statistics, at most */

static const char *const kinds[] = { "moment", "statistic" };

typedef struct loss {
	hu_harm harm, idle; /* idle: of the next step without a gradient */
	size_t n, moved, swamped, zeroed;
} loss;

static void
merge(loss *to, const loss *l)
{
	hu_harm_merge(&to->harm, &l->harm);
	hu_harm_merge(&to->idle, &l->idle);
	to->n += l->n;
	to->moved += l->moved;
	to->swamped += l->swamped;
	to->zeroed += l->zeroed;
}

/* Not every weight has a gradient in the next step, but which these will be is not known: that costs at most. */
static const char *
verdict(const loss *l)
{
	const char *word = hu_harm_verdict(&l->harm), *idle = hu_harm_verdict(&l->idle);

	return hu_verdict_rank(idle) < 2 || hu_verdict_rank(word) > 1 ? word : "costs";
}

static void
write_row(hu_tsv *out, size_t step, const hu_call *c, const hu_info *info, int kind, const loss *l)
{
	double share = hu_harm_share(&l->harm);

	hu_tsv_int(out, (long long)step);
	if (c)
		hu_tsv_int(out, c->id);
	else
		hu_tsv_none(out);
	hu_tsv_text(out, c ? c->op->name : "-");
	hu_tsv_text(out, info ? info->layer : "all");
	hu_tsv_text(out, info ? info->name : "all");
	hu_tsv_text(out, info ? hu_format_name(info->format) : "-");
	hu_tsv_text(out, kinds[kind]);
	hu_tsv_int(out, (long long)l->n);
	hu_tsv_int(out, (long long)l->moved);
	hu_tsv_int(out, (long long)l->swamped);
	hu_tsv_int(out, (long long)l->zeroed);
	if (isnan(share)) {
		hu_tsv_none(out);
		hu_tsv_none(out);
	} else {
		hu_tsv_real(out, share);
		hu_tsv_real(out, hu_harm_cosine(&l->harm));
	}
	hu_tsv_text(out, verdict(l));
	hu_tsv_measured(out, hu_harm_cosine(&l->idle));
}

/* What turns moments into a step. */
typedef struct mover {
	const hu_moments *own;
	double beta1, beta2, one, two, eps, used_eps;
} mover;

/* Compares the steps that the exact second moment v and the stored one s give after one more gradient g, from the exact
   first moment m. Where s is 0 and the steps are more than a tenth apart, v counts as lost. */
static void
compare_next(hu_harm *h, const mover *a, double m, double v, double s, double g)
{
	double more = (1 - a->beta2) * g * g, one = 1 - a->beta1 * (1 - a->one), two = 1 - a->beta2 * (1 - a->two);
	int zero = s == 0 && v != 0;

	m = a->beta1 * m + (1 - a->beta1) * g;
	if (m == 0)
		return;
	double exact = a->own->direction(m, a->beta2 * v + more, one, two, a->eps),
	       got = a->own->direction(m, a->beta2 * s + more, one, two, a->used_eps);
	hu_harm_add(h, got, exact, zero && !(fabs(got - exact) <= 0.1 * fabs(exact)));
}

/* Compares steps of Adam and AdamW, of elements first to last-1: from the exact moments, and from the exact first and
   the stored second one. A kernel that computes in a finer format than it stores does not read what it stored until the
   next step, so that there the steps compared are those of the next one. Its gradient is not known: a weight has that
   of the weight half a tensor away, which is as large but another one, as that of another batch would be; and idle has
   the steps of a gradient of 0. With the same gradient again every step has the same direction, whatever was stored. */
static hu_status
compute_moment(hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in, size_t first, size_t last,
	loss *l, hu_methods *methods)
{
	const hu_tensor *old = in[4], *stored = &t->t[c->out[2]];
	size_t n = last - first;
	double *m = hu_xmalloc((n + 1) * sizeof *m), *v = hu_xmalloc((n + 1) * sizeof *v), one = 1 - hu_get(in[5], 1),
	       two = 1 - hu_get(in[5], 2), eps = hu_attr_num(c, "eps", c->op->moments->usual_eps);
	hu_format format = hu_format_of(stored->format);
	int finer = hu_moments_are_finer(c, &format);
	mover by = { c->op->moments, hu_attr_num(c, "beta1", 0.9), hu_attr_num(c, "beta2", 0.999), one, two, eps,
		hu_moments_epsilon(c, &format) };
	hu_status st = hu_analysis_doubles(m, a, t, c, in, 1, NULL, first, n, methods);

	if (st == HU_OK)
		st = hu_analysis_doubles(v, a, t, c, in, 2, NULL, first, n, methods);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		double s = hu_get(stored, first + i), w = hu_get(old, first + i);
		int zero = s == 0 && v[i] != 0;
		l->n++;
		l->moved += isfinite(v[i]) && v[i] != w;
		l->swamped += isfinite(v[i]) && v[i] != w && s == w && s != 0;
		l->zeroed += (size_t)zero;
		if (finer) {
			double other = hu_get(in[1], (first + i + stored->n / 2) % stored->n);
			compare_next(&l->harm, &by, m[i], v[i], s, other);
			compare_next(&l->idle, &by, m[i], v[i], s, 0);
		} else if (m[i] != 0) {
			hu_harm_add(&l->harm, by.own->direction(m[i], s, one, two, by.used_eps),
				by.own->direction(m[i], v[i], one, two, eps), zero);
		}
	}
	free(m);
	free(v);
	return st;
}

/* Judges elements first to last-1 of running statistic `out` of a norm: an average that stays d short of its update is
   d/(1 - momentum) short of the batch's statistic. */
static hu_status
compute_statistic(hu_analysis *a, const hu_trace *t, const hu_call *c, hu_tensor *const *in, int old_index, int out,
	size_t first, size_t last, loss *l, hu_methods *methods)
{
	const hu_tensor *old = in[old_index], *next = &t->t[c->out[out]];
	double *v = hu_xmalloc((last - first + 1) * sizeof *v), rate = 1 - hu_attr_num(c, "momentum", 0.99);
	hu_status st = hu_exact_doubles(v, a->opt.engine, c, in, out, NULL, first, last - first, methods);

	for (size_t i = first; i < last && st == HU_OK; i++) {
		double w = hu_get(old, i), d = v[i - first] - w, batch = w + d / rate;
		int lost = d != 0 && hu_get(next, i) == w;
		l->n++;
		if (!isfinite(batch) || !isfinite(hu_get(next, i))) {
			l->harm.nonfinite++;
			continue;
		}
		l->moved += d != 0;
		l->swamped += (size_t)lost;
		l->harm.exact2 += (long double)batch * batch;
		double got = lost ? w : batch;
		l->harm.got2 += (long double)got * got;
		l->harm.dot += (long double)got * batch;
		l->harm.lost2 += lost ? (long double)(batch - w) * (batch - w) : 0;
	}
	free(v);
	return st;
}

static int
recorded(const hu_trace *t, const hu_call *c, hu_tensor **in)
{
	for (int k = 0; k < c->nin; k++) {
		in[k] = &t->t[c->in[k]];
		if (!in[k]->data)
			return 0;
	}
	for (int k = 0; k < c->nout; k++)
		if (!t->t[c->out[k]].data)
			return 0;
	return 1;
}

/* What a call has losses of: moments, statistics, or KINDS for nothing. */
static int
kind_of(const hu_call *c)
{
	return c->op->moments ? MOMENT : c->op->cls == HU_CLASS_NORM ? STATISTIC : KINDS;
}

/* Judges the unit's share of the call's moments and statistics; l has a loss for each output. */
static hu_status
compute_call(
	hu_analysis *a, const hu_trace *t, const hu_work_unit *u, hu_tensor *const *in, loss *l, hu_methods *methods)
{
	const hu_program *p = a->run->train;
	const hu_call *c = &p->c[u->call];

	if (c->op->moments && !t->skipped) {
		hu_region some = hu_analysis_part(a, u, 2);
		HU_TRY(compute_moment(a, t, c, in, some.first, some.last, &l[2], methods));
	}
	for (int k = 1; c->op->cls == HU_CLASS_NORM && k < c->nout; k++)
		for (int i = 0; i < c->nin; i++) {
			if (!p->t[c->in[i]].state || hu_program_next(p, t->step, c->in[i]) != c->out[k])
				continue;
			hu_region some = hu_analysis_part(a, u, k);
			HU_TRY(compute_statistic(a, t, c, in, i, k, some.first, some.last, &l[k], methods));
		}
	return HU_OK;
}

static void
say(hu_str *s, int kind, int seen, double worst, size_t nonfinite)
{
	if (!seen)
		return;
	hu_str_addf(s, "%s%s: ", s->len ? "; " : "", kind == MOMENT ? "second moments" : "running statistics");
	if (nonfinite)
		hu_str_addf(s, "%zu not finite%s", nonfinite, isnan(worst) ? "" : "; of the others, ");
	else if (isnan(worst))
		hu_str_add(s, "all 0");
	if (!isnan(worst) && kind == MOMENT)
		hu_str_addf(s, "step at a cosine of %.6g or better to the exact one's", worst);
	else if (!isnan(worst))
		hu_str_addf(s, "up to %.3g of the batch's out of reach", worst);
}

typedef struct tables {
	hu_tsv out;
	hu_again again;
	loss all[KINDS];   /* of the step */
	loss one[OUTPUTS]; /* of each output of the call whose units are being merged */
	double worst[KINDS];
	size_t nonfinite[KINDS];
	int seen[KINDS];
} tables;

static void
record(hu_pack *r, loss *l)
{
	hu_pack_size(r, &l->n);
	if (!l->n)
		return;
	hu_pack_harm(r, &l->harm);
	hu_pack_harm(r, &l->idle);
	hu_pack_size(r, &l->moved);
	hu_pack_size(r, &l->swamped);
	hu_pack_size(r, &l->zeroed);
}

static hu_status
compute(hu_analysis *a, const void *tables_of, hu_trace *t, const hu_work_unit *u, hu_pack *r)
{
	loss l[OUTPUTS] = { { .n = 0 } };
	hu_status st = HU_OK;
	hu_again again;

	(void)tables_of;
	if (u->call < 0)
		return HU_OK;
	const hu_call *c = &a->run->train->c[u->call];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_again_start(&again);
	HU_ASSERT(kind_of(c) == KINDS || c->nout <= OUTPUTS);
	if (recorded(t, c, in))
		st = compute_call(a, t, u, in, l, &again.methods);
	hu_again_stop(&again);
	free(in);
	for (int k = 0; kind_of(c) != KINDS && k < c->nout; k++)
		record(r, &l[k]);
	hu_again_pack(r, &again, &again);
	return st;
}

static hu_status
merge_unit(hu_analysis *a, void *tables_of, const hu_step_facts *s, const hu_work_unit *u, hu_pack *r)
{
	tables *w = tables_of;
	hu_again again;

	const hu_program *p = a->run->train;

	if (u->call < 0)
		return HU_OK;
	const hu_call *c = &p->c[u->call];
	if (!u->tile)
		memset(w->one, 0, sizeof w->one);
	for (int k = 0; kind_of(c) != KINDS && k < c->nout; k++) {
		loss l = { .n = 0 };
		record(r, &l);
		merge(&w->one[k], &l);
		if (u->tile < u->tiles - 1 || !w->one[k].n)
			continue;
		write_row(&w->out, s->step, c, &p->t[c->out[k]], kind_of(c), &w->one[k]);
		merge(&w->all[kind_of(c)], &w->one[k]);
	}
	hu_again_pack(r, &again, &w->again);
	return HU_OK;
}

static void
close_step(hu_analysis *a, void *tables_of, const hu_step_facts *s)
{
	tables *w = tables_of;

	(void)a;
	for (int k = 0; k < KINDS; k++) {
		const loss *l = &w->all[k];
		if (!l->n)
			continue;
		write_row(&w->out, s->step, NULL, NULL, k, l);
		double x = k == MOMENT ? hu_harm_cosine(&l->harm) : hu_harm_share(&l->harm);
		w->worst[k] = k == MOMENT ? fmin(w->worst[k], x) : fmax(w->worst[k], x); /* NaN gives way */
		w->nonfinite[k] += l->harm.nonfinite;
		w->seen[k] = 1;
	}
	memset(w->all, 0, sizeof w->all);
}

static hu_status
begin(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	w->worst[MOMENT] = w->worst[STATISTIC] = NAN;
	hu_analysis_begin(a, &w->out, "state", COLUMNS);
	hu_tsv_note(&w->out, "moment",
		"the step of the exact second moment beside that of the stored one, in units of the learning rate, or "
		"the next step where this one is computed before its moments are rounded, each weight with the "
		"gradient of the one half a tensor away; share: of those whose moment became zero; cosine_idle: of the "
		"next step without a gradient, which costs at most");
	hu_tsv_note(&w->out, "statistic",
		"share: of the batch's statistic, the distance that swamped running averages leave open");
	return HU_OK;
}

static hu_status
end(hu_analysis *a, void *tables_of)
{
	tables *w = tables_of;

	for (int k = 0; k < KINDS; k++)
		say(&a->said, k, w->seen[k], w->worst[k], w->nonfinite[k]);
	if (!w->seen[MOMENT] && !w->seen[STATISTIC])
		hu_str_add(&a->said, "no moments and no running statistics");
	hu_again_note(a, &w->again, &w->out);
	return hu_analysis_write(a, &w->out, "state.tsv");
}

static void
release(void *tables_of)
{
	hu_tsv_release(&((tables *)tables_of)->out);
}

const hu_analyzer hu_analyzer_state = { "state", "what rounding takes from optimizer moments and running statistics",
	sizeof(tables), begin, compute, merge_unit, close_step, end, release, NULL };
