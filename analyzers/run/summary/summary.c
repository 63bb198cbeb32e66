/* SPDX-License-Identifier: Apache-2.0
   The analyzer summary reads the other tables and writes the dozen numbers that a person asks for first, and a verdict
   in three sentences that rests on harm (what the updates lost), not on counts. */
#include "analyzers/run/summary/summary.h"

#include "lib/judge/harm.h"
#include "lib/number/round.h"
#include "lib/number/ulps.h"
#include "lib/op/update/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the last number of a column that was measured, NaN where none was. A NaN that was measured is as good as any:
 *nonfinite is set where it, or an infinity, is the last. */
static double
last_measured(const hu_table *t, const char *column, int *nonfinite)
{
	int c = hu_table_column(t, column);

	*nonfinite = 0;
	for (int i = t->rows - 1; c >= 0 && i >= 0; i--) {
		const char *cell = hu_table_cell(t, i, c);
		double x = strtod(cell, NULL);
		if (!strcmp(cell, "-"))
			continue;
		*nonfinite = !isfinite(x);
		return isfinite(x) ? x : NAN;
	}
	return NAN;
}

static hu_status
read_metrics(const hu_run *r, hu_summary *n)
{
	int other;
	hu_table t;
	int there;

	char *path = hu_path(r->dir, "metrics.tsv");
	there = hu_exists(path);
	hu_status st = there ? hu_table_read(&t, path) : HU_OK;
	free(path);
	if (st != HU_OK || !there)
		return st;
	n->final_loss = last_measured(&t, "loss", &n->broken);
	if (n->broken)
		n->rank = 3;
	n->final_accuracy = last_measured(&t, "accuracy", &other);
	n->eval_accuracy = last_measured(&t, "eval_accuracy", &other);
	n->scale_final = last_measured(&t, "loss_scale", &other);
	n->steps = t.rows;
	n->skipped = 0;
	for (int i = 0; i < t.rows; i++)
		n->skipped += hu_table_real(&t, i, hu_table_column(&t, "skipped")) == 1;
	hu_table_release(&t);
	return HU_OK;
}

/* Whether U ulps of a row's format say how large an error is. */
static int
says_much(const hu_table *t, int i, double u)
{
	hu_format_id f;

	return hu_format_find(hu_table_cell(t, i, hu_table_column(t, "format")), &f) != HU_OK ||
	       u <= hu_ulps_most(hu_format_of(f));
}

static hu_status
read_replay(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;

	HU_TRY(hu_summary_table(r, "replay.tsv", &t, &there));
	if (!there)
		return HU_OK;
	int ulp = hu_table_column(&t, "ulp_max"), ratio = hu_table_column(&t, "bound_ratio_max");
	n->over = n->judged = n->biased = 0;
	if (t.rows)
		n->worst_ulp = n->worst_ulp_ratio = n->worst_ratio = 0;
	for (int i = 0; i < t.rows; i++) {
		double u = hu_table_real(&t, i, ulp), q = hu_table_real(&t, i, ratio);
		n->over += hu_table_real(&t, i, hu_table_column(&t, "over_bound"));
		n->judged += hu_table_real(&t, i, hu_table_column(&t, "sampled"));
		n->worst_ratio = q > n->worst_ratio ? q : n->worst_ratio;
		n->biased += hu_table_real(&t, i, hu_table_column(&t, "biased"));
		n->bias_t = fmax(n->bias_t, hu_table_real(&t, i, hu_table_column(&t, "bias_t")));
		if (isinf(u)) {
			if (!n->overflowed++)
				snprintf(n->overflowed_tensor, sizeof n->overflowed_tensor, "%s",
					hu_table_cell(&t, i, hu_table_column(&t, "tensor")));
			continue;
		}
		if (!*n->worst_tensor || u > n->worst_ulp) {
			n->worst_ulp = u;
			n->worst_ulp_ratio = q;
			n->ulp_known = says_much(&t, i, u);
			n->worst_condition = hu_table_real(&t, i, hu_table_column(&t, "condition_max"));
			snprintf(n->worst_tensor, sizeof n->worst_tensor, "%s",
				hu_table_cell(&t, i, hu_table_column(&t, "tensor")));
		}
	}
	hu_table_release(&t);
	return HU_OK;
}

static double
cell(const hu_table *t, int i, const char *column)
{
	return hu_table_real(t, i, hu_table_column(t, column));
}

static void
judge_row(hu_summary *n, const hu_table *t, int i, const char *cause, double *share, double *cosine, int *nonfinite)
{
	double s = hu_table_real(t, i, hu_table_column(t, "l2_share_lost")),
	       c = hu_table_real(t, i, hu_table_column(t, "cosine"));
	int rank = hu_verdict_rank(hu_table_cell(t, i, hu_table_column(t, "verdict")));

	if (!rank)
		return;
	int broken = rank == 3 && !(s >= 0.5) && !(c <= 0.9), gradients = !strcmp(cause, "gradients");
	const hu_expected_row *e = gradients && !broken ? hu_summary_expected(n, cell(t, i, "step"), 0) : NULL;
	if (!strcmp(cause, "updates") && !broken) { /* a weight that is rounded stochastically moves on average */
		e = hu_summary_expected(n, cell(t, i, "step"), 1);
		e = e && e->written ? e : NULL;
		n->verdict_swamped = fmax(n->verdict_swamped, e ? e->zero : s);
		n->verdict_swamped_cosine = fmin(n->verdict_swamped_cosine, e ? e->cosine : c);
	}
	rank = e ? e->rank : rank;
	if (gradients) {
		n->verdict_share = fmax(n->verdict_share, e ? e->zero : s);
		n->verdict_cosine = fmin(n->verdict_cosine, e ? e->cosine : c);
	}
	*nonfinite |= broken;
	*share = fmax(*share, s); /* NaN gives way */
	*cosine = fmin(*cosine, c);
	if (rank > n->rank) {
		n->rank = rank;
		n->cause_step = (size_t)hu_table_real(t, i, hu_table_column(t, "step"));
		n->cause_nonfinite = broken;
		snprintf(n->cause, sizeof n->cause, "%s", cause);
	}
}

static hu_status
read_swamping(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;
	double moved = 0, swamped = 0, by_decay = 0;

	HU_TRY(hu_summary_table(r, "swamping.tsv", &t, &there));
	if (!there)
		return HU_OK;
	for (int i = 0; i < t.rows; i++) {
		if (strcmp(hu_table_cell(&t, i, hu_table_column(&t, "kind")), "update") ||
			strcmp(hu_table_cell(&t, i, hu_table_column(&t, "tensor")), "all"))
			continue;
		moved += hu_table_real(&t, i, hu_table_column(&t, "additions"));
		swamped += hu_table_real(&t, i, hu_table_column(&t, "swamped"));
		by_decay += hu_table_real(&t, i, hu_table_column(&t, "swamped_by_decay"));
		judge_row(n, &t, i, "updates", &n->update_share, &n->update_cosine, &n->update_nonfinite);
	}
	n->swamped_share = moved > 0 ? swamped / moved : NAN;
	n->decay_share = moved > 0 ? by_decay / moved : NAN;
	hu_table_release(&t);
	return HU_OK;
}

static hu_status
read_state(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;
	double moved = 0, swamped = 0;

	HU_TRY(hu_summary_table(r, "state.tsv", &t, &there));
	if (!there)
		return HU_OK;
	for (int i = 0; i < t.rows; i++) {
		if (strcmp(hu_table_cell(&t, i, hu_table_column(&t, "tensor")), "all"))
			continue;
		if (!strcmp(hu_table_cell(&t, i, hu_table_column(&t, "kind")), "moment")) {
			moved += hu_table_real(&t, i, hu_table_column(&t, "moved"));
			swamped += hu_table_real(&t, i, hu_table_column(&t, "swamped"));
			judge_row(n, &t, i, "moments", &n->moment_share, &n->moment_cosine, &n->moment_nonfinite);
			n->moment_idle = fmin(n->moment_idle, cell(&t, i, "cosine_idle")); /* NaN gives way */
		} else
			judge_row(n, &t, i, "statistics", &n->statistic_share, &n->statistic_cosine,
				&n->statistic_nonfinite);
	}
	n->v_swamped_share = moved > 0 ? swamped / moved : NAN;
	hu_table_release(&t);
	return HU_OK;
}

/* Scales the counts of a sample to its whole tensor. */
static double
scaled(const hu_table *t, int i, const char *column)
{
	double seen = hu_table_real(t, i, hu_table_column(t, "elements")),
	       of = hu_table_real(t, i, hu_table_column(t, "of_elements"));

	return seen > 0 ? hu_table_real(t, i, hu_table_column(t, column)) * (of / seen) : 0;
}

static int
is_second_moment(const hu_program *p, const char *tensor)
{
	int t = hu_program_find(p, tensor), from, scale;

	if (t >= 0 && hu_is_cast(p, t, &from, &scale))
		t = from;
	return t >= 0 && hu_program_moment(p, t) == 2;
}

/* Whether some gradient is held in a format that is narrower than fp32, so that rounding could make it zero. */
static int
has_short_gradients(const hu_program *p)
{
	for (int i = 0; i < p->nt; i++)
		if ((p->t[i].cls == HU_GRADIENT || p->t[i].cls == HU_WGRAD) && hu_format_of(p->t[i].format).p < 24)
			return 1;
	return 0;
}

/* Finds whether some optimizer's epsilon is 0 in the format that it is added in, and whether all optimizers compute
   their steps before they round the moments. */
static void
look_at_moments(const hu_program *p, hu_summary *n)
{
	int coarse = 0, finer = 0;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		if (!c->op->moments || c->nout < 3)
			continue;
		double eps = hu_attr_num(c, "eps", c->op->moments->usual_eps);
		hu_format stored = hu_format_of(p->t[c->out[2]].format);
		int is_finer = hu_moments_are_finer(c, &stored);
		finer += is_finer;
		coarse += !is_finer;
		n->eps_zero |= eps != 0 && hu_moments_epsilon(c, &stored) == 0;
	}
	n->moments_finer = finer && !coarse;
}

static hu_status
read_underflow(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;
	double nonzeros = 0, v = 0, v_nonzeros = 0;

	HU_TRY(hu_summary_table(r, "underflow.tsv", &t, &there));
	if (!there)
		return HU_OK;
	n->zeroed = 0;
	for (int i = 0; i < t.rows; i++) {
		const char *tensor = hu_table_cell(&t, i, hu_table_column(&t, "tensor")),
			   *cls = hu_table_cell(&t, i, hu_table_column(&t, "class"));
		if (!strcmp(tensor, "all"))
			judge_row(n, &t, i, "gradients", &n->grad_share, &n->grad_cosine, &n->grad_nonfinite);
		else if (!strcmp(hu_table_cell(&t, i, hu_table_column(&t, "from")), "exact"))
			continue;
		else if (!strcmp(cls, "gradient") || !strcmp(cls, "wgrad")) {
			n->zeroed += scaled(&t, i, "became_zero");
			nonzeros += scaled(&t, i, "nonzeros");
		} else if (is_second_moment(r->train, tensor)) {
			v += scaled(&t, i, "became_zero");
			v_nonzeros += scaled(&t, i, "nonzeros");
		}
	}
	n->zeroed = round(n->zeroed);
	n->zeroed_share = nonzeros > 0 ? n->zeroed / nonzeros : has_short_gradients(r->train) ? NAN : 0;
	n->v_zeroed_share = v_nonzeros > 0 ? v / v_nonzeros : NAN;
	hu_table_release(&t);
	return HU_OK;
}

static hu_status
read_safe(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;

	HU_TRY(hu_summary_table(r, "loss-scale-safe.tsv", &t, &there));
	if (!there)
		return HU_OK;
	for (int i = 0; i < t.rows; i++) {
		double min = hu_table_real(&t, i, hu_table_column(&t, "log2_scale_min")),
		       max = hu_table_real(&t, i, hu_table_column(&t, "log2_scale_max"));
		const char *tensor = hu_table_cell(&t, i, hu_table_column(&t, "tensor"));
		if (strcmp(tensor, "all")) {
			if (!isnan(min) && (!*n->need_tensor || min > n->need)) {
				n->need = min;
				snprintf(n->need_tensor, sizeof n->need_tensor, "%s", tensor);
			}
			if (!isnan(max) && (!*n->limit_tensor || max < n->limit)) {
				n->limit = max;
				snprintf(n->limit_tensor, sizeof n->limit_tensor, "%s", tensor);
			}
			continue;
		}
		n->safe_min = !n->safe_known || isnan(min) || min > n->safe_min ? min : n->safe_min;
		n->safe_max = !n->safe_known || isnan(max) || max < n->safe_max ? max : n->safe_max;
		n->safe_known = 1;
	}
	if (!(n->safe_min <= n->safe_max))
		n->safe_min = n->safe_max = NAN;
	hu_table_release(&t);
	return HU_OK;
}

/* Only a table that is missing was not made: one that cannot be read, or is not whole, gives no verdict. */
static hu_status
read_all(const hu_run *r, hu_summary *n)
{
	HU_TRY(read_metrics(r, n));
	HU_TRY(hu_summary_read_clipping(r, n));
	HU_TRY(read_replay(r, n));
	HU_TRY(hu_summary_read_draws(r, n));
	look_at_moments(r->train, n);
	HU_TRY(read_underflow(r, n));
	HU_TRY(read_swamping(r, n));
	HU_TRY(read_state(r, n));
	HU_TRY(hu_summary_read_seen(r, n));
	HU_TRY(hu_summary_read_origin(r, n));
	return read_safe(r, n);
}

static hu_status
end(hu_analysis *a, void *tables)
{
	hu_summary n;

	(void)tables;
	memset(&n, 0, sizeof n);
	n.final_loss = n.final_accuracy = n.eval_accuracy = n.steps = n.skipped = n.scale_final = NAN;
	n.worst_ulp = n.worst_ulp_ratio = n.worst_ratio = n.over = n.judged = n.biased = n.bias_t = NAN;
	n.swamped_share = n.decay_share = n.update_share = n.update_cosine = NAN;
	n.zeroed = n.zeroed_share = n.grad_share = n.grad_cosine = n.v_zeroed_share = NAN;
	n.moment_share = n.moment_cosine = n.moment_idle = n.statistic_share = n.statistic_cosine = NAN;
	n.verdict_share = n.verdict_cosine = n.verdict_update = n.verdict_swamped = n.verdict_swamped_cosine =
		n.draws.one =
		n.draws.one_update = n.draws.update = n.draws.cosine = n.draws.noise = n.draws.bias = NAN;
	n.weight_length = n.verdict_length = n.v_swamped_share = n.clip_norm = n.clipped = n.clip_least = NAN;
	n.weight_share = n.weight_cosine = n.state_share = n.bits_share = n.seen.share = NAN;
	hu_status st = read_all(a->run, &n);
	if (st != HU_OK) {
		hu_summary_release(&n);
		return st;
	}
	/* moments and statistics can worsen a verdict but not make one: without a judged update or gradient there is
	   none; and an all-clear needs that enough was seen */
	if (n.rank == 1 && ((isnan(n.grad_cosine) && isnan(n.update_cosine) && !hu_summary_without_gradients(&n)) ||
				   !hu_summary_saw_enough(&n)))
		n.rank = 0;
	hu_summary_judge_still(a->run, &n);
	json_t *o = hu_summary_json(a, &n);
	char *dir = hu_path(a->run->dir, "analysis");
	st = hu_make_dirs(dir);
	if (st == HU_OK)
		st = hu_run_write_json(dir, "summary.json", o);
	hu_str_addf(&a->said, "%s", hu_summary_word(&n));
	hu_summary_release(&n);
	json_decref(o);
	free(dir);
	return st;
}

const hu_analyzer hu_analyzer_summary = { "summary",
	"the dozen numbers asked for first and a verdict in three sentences, from the other tables", .end = end };
