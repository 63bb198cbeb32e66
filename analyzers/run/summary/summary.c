/* SPDX-License-Identifier: Apache-2.0
   The analyzer summary reads the other tables and writes the dozen numbers that a person asks for first, and a verdict
   in three sentences that rests on harm (what the updates lost), not on counts. */
#include "analyzers/run/summary/summary.h"

#include "lib/judge/harm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a table that this run's analysis made. */
static hu_status
of_this_run(const hu_run *r, const char *path, hu_table *t)
{
	HU_TRY(hu_table_read_sealed(t, path, "halfulp analyze without --only"));
	const char *of = hu_table_note(t, hu_run_note(r));
	if (of && !strcmp(of, r->xxh3))
		return HU_OK;
	hu_table_release(t);
	return hu_fail(HU_EFILE,
		"%s was not made from this run as it is now; halfulp analyze without --only writes it anew", path);
}

/* Reads an analysis table, or metrics.tsv, which the manifest's checksum holds; *there is 0 where it was not made. */
static hu_status
table(const hu_run *r, const char *where, const char *name, hu_table *t, int *there)
{
	char *path = hu_path(r->dir, "%s%s", where, name);
	hu_status st = HU_OK;

	*there = hu_exists(path);
	if (*there && *where)
		st = of_this_run(r, path, t);
	else if (*there)
		st = hu_table_read(t, path);
	*there = *there && st == HU_OK;
	free(path);
	return st;
}

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

	HU_TRY(table(r, "", "metrics.tsv", &t, &there));
	if (!there)
		return HU_OK;
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

static hu_status
read_replay(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;

	HU_TRY(table(r, "analysis/", "replay.tsv", &t, &there));
	if (!there)
		return HU_OK;
	int ulp = hu_table_column(&t, "ulp_max"), ratio = hu_table_column(&t, "bound_ratio_max");
	n->over = n->judged = 0;
	if (t.rows)
		n->worst_ulp = n->worst_ratio = 0;
	for (int i = 0; i < t.rows; i++) {
		double u = hu_table_real(&t, i, ulp), q = hu_table_real(&t, i, ratio);
		n->over += hu_table_real(&t, i, hu_table_column(&t, "over_bound"));
		n->judged += hu_table_real(&t, i, hu_table_column(&t, "sampled"));
		n->worst_ratio = q > n->worst_ratio ? q : n->worst_ratio;
		if (isinf(u)) {
			if (!n->overflowed++)
				snprintf(n->overflowed_tensor, sizeof n->overflowed_tensor, "%s",
					hu_table_cell(&t, i, hu_table_column(&t, "tensor")));
			continue;
		}
		if (!*n->worst_tensor || u > n->worst_ulp) {
			n->worst_ulp = u;
			n->worst_condition = hu_table_real(&t, i, hu_table_column(&t, "condition_max"));
			snprintf(n->worst_tensor, sizeof n->worst_tensor, "%s",
				hu_table_cell(&t, i, hu_table_column(&t, "tensor")));
		}
	}
	hu_table_release(&t);
	return HU_OK;
}

/* Reads a step's verdict on all weights together; the run's verdict is the worst of them. */
static void
judge_row(hu_summary *n, const hu_table *t, int i, const char *cause, double *share, double *cosine, int *nonfinite)
{
	double s = hu_table_real(t, i, hu_table_column(t, "l2_share_lost")),
	       c = hu_table_real(t, i, hu_table_column(t, "cosine"));
	int rank = hu_verdict_rank(hu_table_cell(t, i, hu_table_column(t, "verdict")));

	if (!rank)
		return;
	int broken = rank == 3 && !(s >= 0.5) && !(c <= 0.9);
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

	HU_TRY(table(r, "analysis/", "swamping.tsv", &t, &there));
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

	HU_TRY(table(r, "analysis/", "state.tsv", &t, &there));
	if (!there)
		return HU_OK;
	for (int i = 0; i < t.rows; i++) {
		if (strcmp(hu_table_cell(&t, i, hu_table_column(&t, "tensor")), "all"))
			continue;
		if (!strcmp(hu_table_cell(&t, i, hu_table_column(&t, "kind")), "moment"))
			judge_row(n, &t, i, "moments", &n->moment_share, &n->moment_cosine, &n->moment_nonfinite);
		else
			judge_row(n, &t, i, "statistics", &n->statistic_share, &n->statistic_cosine,
				&n->statistic_nonfinite);
	}
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

static hu_status
read_underflow(const hu_run *r, hu_summary *n)
{
	hu_table t;
	int there;
	double nonzeros = 0, v = 0, v_nonzeros = 0;

	HU_TRY(table(r, "analysis/", "underflow.tsv", &t, &there));
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

	HU_TRY(table(r, "analysis/", "loss-scale-safe.tsv", &t, &there));
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

static const char *const words[] = { "unknown", "harmless", "costs", "fatal" };

static void
put(json_t *o, const char *key, double x)
{
	int whole = fabs(x) < 9e15 && x == floor(x);

	json_object_set_new(o, key, !isfinite(x) ? json_null() : whole ? json_integer((json_int_t)x) : json_real(x));
}

/* The same for a loss, or a share or cosine over elements, some of which are not finite; the words "not finite" where
   no number is left. */
static void
put_harm(json_t *o, const char *key, double x, int nonfinite)
{
	if (isnan(x) && nonfinite)
		json_object_set_new(o, key, json_string("not finite"));
	else
		put(o, key, x);
}

static json_t *
to_json(const hu_analysis *a, const hu_summary *n)
{
	json_t *o = json_object(), *v = json_object(), *steps = json_array(), *from = json_object();
	static const char *const keys[] = { "halfulp_version", "command", "seed", "model", "policy", "backend",
		"device", "compiler", "host", "dataset", NULL };

	put_harm(v, "final_loss", n->final_loss, n->broken);
	put(v, "final_accuracy", n->final_accuracy);
	put(v, "eval_accuracy", n->eval_accuracy);
	put(v, "steps", n->steps);
	put(v, "skipped_steps", n->skipped);
	put(v, "loss_scale_final", n->scale_final);
	put(v, "judged_outputs", n->judged);
	if (n->overflowed > 0)
		json_object_set_new(v, "worst_ulp", json_string("overflowed"));
	else
		put(v, "worst_ulp", n->worst_ulp);
	const char *worst = n->overflowed > 0 ? n->overflowed_tensor : n->worst_tensor;
	json_object_set_new(v, "worst_ulp_tensor", *worst ? json_string(worst) : json_null());
	put(v, "worst_bound_ratio", n->worst_ratio);
	put(v, "over_bound", n->over);
	put(v, "swamped_share_updates", n->swamped_share);
	put(v, "swamped_share_updates_by_decay", n->decay_share);
	put_harm(v, "update_l2_share_lost", n->update_share, n->update_nonfinite);
	put_harm(v, "update_cosine", n->update_cosine, n->update_nonfinite);
	put(v, "zeroed_gradients", n->zeroed);
	put(v, "zeroed_share", n->zeroed_share);
	put_harm(v, "gradient_l2_share_lost", n->grad_share, n->grad_nonfinite);
	put_harm(v, "gradient_cosine", n->grad_cosine, n->grad_nonfinite);
	put(v, "second_moment_zeroed_share", n->v_zeroed_share);
	put_harm(v, "second_moment_step_cosine", n->moment_cosine, n->moment_nonfinite);
	put_harm(v, "running_statistics_share_lost", n->statistic_share, n->statistic_nonfinite);
	put(v, "safe_log2_scale_min", n->safe_known ? n->safe_min : NAN);
	put(v, "safe_log2_scale_max", n->safe_known ? n->safe_max : NAN);
	for (int i = 0; i < a->nstep; i++)
		json_array_append_new(steps, json_integer((json_int_t)a->step[i]));
	for (int i = 0; keys[i]; i++)
		if (json_object_get(a->run->manifest, keys[i]))
			json_object_set(from, keys[i], json_object_get(a->run->manifest, keys[i]));
	json_object_set_new(from, "traced_steps", steps);
	json_object_set_new(from, "sample", json_integer((json_int_t)a->opt.sample));
	json_object_set_new(o, "verdict", hu_summary_sentences(a, n));
	json_object_set_new(o, "verdict_word", json_string(words[n->rank]));
	json_object_set_new(o, "cause", n->rank > 1 && *n->cause ? json_string(n->cause) : json_null());
	json_object_set_new(o, "numbers", v);
	json_object_set_new(o, "provenance", from);
	return o;
}

/* Only a table that is missing was not made: one that cannot be read, or is not whole, gives no verdict. */
static hu_status
read_all(const hu_run *r, hu_summary *n)
{
	HU_TRY(read_metrics(r, n));
	HU_TRY(read_replay(r, n));
	HU_TRY(read_underflow(r, n));
	HU_TRY(read_swamping(r, n));
	HU_TRY(read_state(r, n));
	return read_safe(r, n);
}

static hu_status
end(hu_analysis *a, void *tables)
{
	hu_summary n;

	(void)tables;
	memset(&n, 0, sizeof n);
	n.final_loss = n.final_accuracy = n.eval_accuracy = n.steps = n.skipped = n.scale_final = NAN;
	n.worst_ulp = n.worst_ratio = n.over = n.judged = NAN;
	n.swamped_share = n.decay_share = n.update_share = n.update_cosine = NAN;
	n.zeroed = n.zeroed_share = n.grad_share = n.grad_cosine = n.v_zeroed_share = NAN;
	n.moment_share = n.moment_cosine = n.statistic_share = n.statistic_cosine = NAN;
	HU_TRY(read_all(a->run, &n));
	/* moments and statistics can worsen a verdict but not make one: without a judged update or gradient there is
	   none */
	if (n.rank == 1 && isnan(n.grad_cosine) && isnan(n.update_cosine))
		n.rank = 0;
	json_t *o = to_json(a, &n);
	char *dir = hu_path(a->run->dir, "analysis");
	hu_status st = hu_make_dirs(dir);
	if (st == HU_OK)
		st = hu_run_write_json(dir, "summary.json", o);
	hu_str_addf(&a->said, "%s", words[n.rank]);
	json_decref(o);
	free(dir);
	return st;
}

const hu_analyzer hu_analyzer_summary = { "summary",
	"the dozen numbers asked for first and a verdict in three sentences, from the other tables", .end = end };
