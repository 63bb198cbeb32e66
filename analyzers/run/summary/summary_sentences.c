/* SPDX-License-Identifier: Apache-2.0
   Puts the verdict into words. Values that are not finite are described in words too, never printed as a number. */
#include "analyzers/run/summary/summary.h"

#include <math.h>
#include <string.h>

/* Writes the first sentence where infinities or NaN decide the verdict. */
static void
say_nonfinite(hu_str *s, const hu_summary *n)
{
	const char *what = !strcmp(n->cause, "gradients")    ? "the weights' gradients"
			   : !strcmp(n->cause, "moments")    ? "second moments, or the step that they give,"
			   : !strcmp(n->cause, "statistics") ? "running statistics"
							     : "the weights or their update";

	hu_str_addf(s, "Fatal: at step %zu elements of %s were infinite or NaN, as stored or as they should have been.",
		n->cause_step, what);
}

/* What the gradients and updates that were judged kept; nothing is said of what was not measured. */
static void
say_whole(hu_str *s, const hu_analysis *a, const hu_summary *n)
{
	int whole = n->update_share <= 0.001 && n->weight_share <= 0.001; /* NaN is not whole */
	char steps[40];

	snprintf(steps, sizeof steps, a->nstep == 1 ? "traced step" : "%d traced steps", a->nstep);

	if (isnan(n->grad_cosine) && isnan(n->update_cosine) && hu_summary_without_gradients(n)) {
		hu_str_addf(s,
			"in the %s the weights' updates, of which no gradient was recorded, kept a cosine of %.4f or "
			"better to the exact ones",
			steps, n->weight_cosine);
		return;
	}
	if (isnan(n->grad_cosine)) {
		hu_str_addf(s,
			"in the %s the weights' updates kept a cosine of %.4f or better to the exact "
			"ones; what their gradients should have been was not computed",
			steps, n->update_cosine);
		return;
	}
	hu_str_addf(s,
		"in the %s the weights' gradients kept a cosine of %.4f or better to the exact ones",
		steps, n->verdict_cosine);
	if (whole)
		hu_str_add(s, " and the updates arrived whole");
	else if (!isnan(n->verdict_update))
		hu_str_addf(s, " and the updates one of %.4f", n->verdict_update);
}

/* The interval of loss scales that keep every gradient. Returns 0 where it is not known. */
static int
say_scales(hu_str *s, const hu_summary *n)
{
	if (!n->safe_known || isnan(n->safe_min))
		return 0;
	hu_str_addf(s, "a loss scale from 2^%.0f to 2^%.0f would have kept every %sgradient", n->safe_min, n->safe_max,
		n->grad_nonfinite || n->broken ? "finite " : "");
	return 1;
}

/* Why there is no verdict. What was seen stands beside it. */
static void
say_unknown(hu_str *s, const hu_analysis *a, const hu_summary *n)
{
	const struct hu_seen *seen = &n->seen;
	int judged = !isnan(n->grad_cosine) || !isnan(n->update_cosine) || hu_summary_without_gradients(n);

	if (seen->known && seen->steps > 0 && seen->skipped == seen->steps) {
		hu_str_addf(s,
			"No verdict: the loss scaler skipped all %.0f traced steps, because a gradient was not finite",
			seen->steps);
		hu_str_add(s, n->safe_known && !isnan(n->safe_min) ? "; " : "");
		say_scales(s, n);
		hu_str_add(s, ".");
		return;
	}
	if (!judged && !isnan(n->weight_cosine)) {
		hu_str_addf(s,
			"No verdict: the weights' updates that were judged kept a cosine of %.4f or better to those of "
			"the exact step, but what the weights' gradients should have been was not computed, and an "
			"all-clear needs it.",
			n->weight_cosine);
		return;
	}
	if (!judged && seen->left_out) {
		hu_str_addf(s,
			"No verdict: %.0f calls of the traced steps were not kept in the trace, and no update of a "
			"weight was judged.",
			seen->left_out);
		return;
	}
	if (!judged || n->still) {
		hu_str_add(s, "No verdict: no traced step moved the weights, or what their gradients should have been "
			      "was not computed.");
		return;
	}
	if (!seen->known)
		hu_str_add(s, "No verdict: how much of the updates was judged was not measured (the analyzer weights "
			      "does it), and an all-clear needs it");
	else if (seen->unmoved)
		hu_str_addf(s,
			"No verdict: in %.0f of %.0f traced steps no update of a weight was recorded, and an all-clear "
			"needs all",
			seen->unmoved, seen->steps);
	else if (!(seen->share >= 0.99))
		hu_str_addf(s,
			"No verdict: of the weights' update %.3g %% of the L2 norm was judged at step %zu, and an "
			"all-clear needs 99 %% in every step",
			100 * (isnan(seen->share) ? 0 : seen->share), seen->step);
	else if (seen->left_out)
		hu_str_addf(s,
			"No verdict: %.0f calls of the traced steps were not kept in the trace, and an all-clear needs "
			"all",
			seen->left_out);
	else if (seen->otherwise)
		hu_str_add(s,
			"No verdict: the exact step chooses otherwise, and what it would make of that is not known");
	else if (seen->apart)
		hu_str_add(s, "No verdict: the program read numbers that may be others in the exact step, and what it "
			      "would make of those is not known");
	else
		hu_str_addf(s,
			"No verdict: %.0f elements of weights have gradients that are all 0, and what these should "
			"have been is not known",
			seen->silent);
	hu_str_add(s, "; what was judged is harmless: ");
	say_whole(s, a, n);
	hu_str_add(s, ".");
}

/* Where the exact step's update is the cause: how much of it was lost, or, where it is not known, who kept the bits. */
static void
say_weights(hu_str *s, const hu_summary *n, const char *how)
{
	if (n->bits_share > 0.1)
		hu_str_addf(s,
			"%s: at step %zu %.1f %% of the weights that have a gradient and no known exact update kept "
			"their bits.",
			how, n->cause_step, 100 * n->bits_share);
	else {
		hu_str_addf(s,
			"%s: at step %zu the weights did not take the update of the exact step (worst cosine %.4f; "
			"%.1f %% of its L2 norm was lost",
			how, n->cause_step, n->verdict_update, 100 * n->weight_share);
		if (n->verdict_length > 1.1)
			hu_str_addf(s, "; the update is %.3g times as long", n->verdict_length);
		hu_str_add(s, ").");
	}
}

/* Says what the second moments that were stored do to the next step. */
static void
say_next_step(hu_str *s, const hu_summary *n, const char *how)
{
	hu_str_addf(s,
		"%s: the step %zu itself was computed from moments that were not yet rounded, but the second "
		"moments that it stored give the next one a direction at a cosine of %.4f to that of the exact moments",
		how, n->cause_step, n->moment_cosine);
	if (n->moment_share > 0)
		hu_str_addf(s, " (%.1f %% of its L2 norm is where a moment became zero)", 100 * n->moment_share);
	if (n->moment_idle < 0.99)
		hu_str_addf(s, ", and of %.4f if no weight has a gradient then", n->moment_idle);
	hu_str_add(s, ".");
}

static void
say_cause(hu_str *s, const hu_run *r, const hu_summary *n)
{
	const char *how = n->rank == 3 ? "Fatal" : "It costs";

	if (n->cause_nonfinite)
		say_nonfinite(s, n);
	else if (!strcmp(n->cause, "constants"))
		hu_summary_say_still(s, r, n);
	else if (!strcmp(n->cause, "weights"))
		say_weights(s, n, how);
	else if (!strcmp(n->cause, "states") && n->bits_share > 0.1)
		hu_str_addf(s,
			"%s: at step %zu %.1f %% of the elements of states, such as averages of the weights, that have "
			"a gradient and no known exact update kept their bits.",
			how, n->cause_step, 100 * n->bits_share);
	else if (!strcmp(n->cause, "states"))
		hu_str_addf(s,
			"%s: at step %zu states, such as averages of the weights, took only part of their update "
			"(%.1f %% of its L2 norm was lost).",
			how, n->cause_step, 100 * n->state_share);
	else if (!strcmp(n->cause, "next"))
		hu_summary_say_next(s, n);
	else if (!strcmp(n->cause, "gradients"))
		hu_str_addf(s,
			"%s: at step %zu underflow and rounding turned the weights' gradients away from the exact ones "
			"(worst cosine %.4f; %.1f %% of their L2 norm arrived as zero).",
			how, n->cause_step, n->verdict_cosine, 100 * n->verdict_share);
	else if (!strcmp(n->cause, "moments") && n->moments_finer)
		say_next_step(s, n, how);
	else if (!strcmp(n->cause, "moments"))
		hu_str_addf(s,
			"%s: at step %zu the second moments that were stored gave a step at a cosine of %.4f to the "
			"one that the exact moments give (%.1f %% of its L2 norm is where a moment became zero, and "
			"epsilon alone divides).",
			how, n->cause_step, n->moment_cosine, 100 * n->moment_share);
	else if (!strcmp(n->cause, "statistics"))
		hu_str_addf(s,
			"%s: at step %zu the running statistics stood still %.1f %% short of the batch's, because "
			"their updates were swamped; evaluation uses them.",
			how, n->cause_step, 100 * n->statistic_share);
	else
		hu_str_addf(s,
			"%s: at step %zu the weights took only part of their update (worst case: %.1f %% of its L2 "
			"norm swamped, cosine %.4f to the exact update).",
			how, n->cause_step, 100 * n->verdict_swamped, n->verdict_swamped_cosine);
}

/* Says what a recorded optimizer that is not fused, although PyTorch has it fused, does in a short format: its
   elementary operations are calls of their own, which round each. */
static void
say_unfused(hu_str *s, const hu_run *r, const hu_summary *n)
{
	const hu_program *p = r->train;
	const char *name = json_string_value(json_object_get(json_object_get(r->manifest, "optimizer"), "name"));
	int counts = (!strcmp(n->cause, "updates") || !strcmp(n->cause, "weights")) && name &&
		     (!strcmp(name, "Adam") || !strcmp(name, "AdamW") || !strcmp(name, "Adagrad"));

	for (int i = 0; n->rank > 1 && counts && i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		const hu_info *t = &p->t[c->out[0]];
		if (c->phase != HU_UPDATE || strcmp(c->op->name, "addcdiv") || hu_format_of(t->format).p >= 24)
			continue;
		hu_str_addf(s,
			" %s is not fused here: each of its elementary operations rounds to %s; fused=True rounds "
			"once.",
			name, hu_format_name(t->format));
		return;
	}
}

static void
say_verdict(hu_str *s, const hu_analysis *a, const hu_summary *n)
{
	if (n->broken) {
		hu_str_add(s, "Fatal: the run ended with a loss that is not finite.");
		if (!hu_summary_say_origin(s, n))
			hu_str_add(s, " The first overflow stands in metrics.tsv where a scaler saw it, else trace "
				      "earlier steps.");
	} else if (!n->rank)
		say_unknown(s, a, n);
	else if (n->rank == 1) {
		hu_str_add(s, "Harmless: ");
		say_whole(s, a, n);
		hu_str_add(s, ".");
	} else
		say_cause(s, a->run, n);
	if (!n->broken)
		hu_summary_say_origin(s, n);
	hu_summary_say_draws(s, n);
	if (a->propagation.agreed)
		hu_str_addf(s,
			" The exact values of %zu tensors have no proven bound in so large a step: that their own "
			"errors are as much smaller than the recorded ones as their precision is finer rests on the "
			"agreement of both.",
			a->propagation.agreed);
	if (a->propagation.left)
		hu_str_addf(s,
			" This rests on part of the tensors: %zu, gradients perhaps among them, have no exact value "
			"to compare with, since the bound on it is too wide in so large a step; --engine mpfr "
			"computes it.",
			a->propagation.left);
	say_unfused(s, a->run, n);
	hu_summary_say_coverage(s, n);
}

static void
say_share(hu_str *s, double share, int nonfinite, const char *whose)
{
	if (isnan(share))
		hu_str_addf(
			s, "%s of the %s", nonfinite ? "no share that a number could be" : "an unknown part", whose);
	else
		hu_str_addf(s, "%.3g %% of the %s%s", 100 * share, nonfinite ? "finite part of the " : "", whose);
}

static void
say_counts(hu_str *s, const hu_summary *n)
{
	hu_str_add(s, "By count, ");
	if (isnan(n->zeroed))
		hu_str_add(s, "gradients that became zero were not looked for");
	else if (isnan(n->zeroed_share))
		hu_str_add(s, "no nonzero gradient values were there to become zero");
	else
		hu_str_addf(s, "rounding made %.0f gradient values zero (%.3g %% of the nonzero ones)", n->zeroed,
			100 * n->zeroed_share);
	if (isnan(n->swamped_share))
		hu_str_add(s, " and no weight updates were there to be swamped");
	else
		hu_str_addf(s, " and %.3g %% of the weight updates were swamped", 100 * n->swamped_share);
	if (n->decay_share > 0)
		hu_str_addf(s, " (%.3g %% are weight decay on weights that get no gradient)", 100 * n->decay_share);
	if (n->seen.pulled > 0)
		hu_str_addf(s, "; %.3g %% of the weights with a gradient kept their bits",
			100 * (n->seen.kept / n->seen.pulled));
	hu_str_add(s, "; by weight, what was lost is ");
	say_share(s, n->grad_share, n->grad_nonfinite, "gradients'");
	hu_str_add(s, " and ");
	say_share(s, n->update_share, n->update_nonfinite, "updates'");
	hu_str_add(s, " L2 norm.");
	if (n->v_zeroed_share > 0 && n->moments_finer)
		hu_str_addf(s,
			" Of Adam's second moments %.3g %% became zero when they were stored, behind the step that was "
			"computed from them: the next one starts from zero there.",
			100 * n->v_zeroed_share);
	else if (n->v_zeroed_share > 0)
		hu_str_addf(s,
			" Of Adam's second moments %.3g %% became zero, so those weights' steps were divided by "
			"epsilon alone%s.",
			100 * n->v_zeroed_share, n->eps_zero ? ", which is 0 in their format" : "");
	hu_summary_say_apart(s, n);
}

/* The largest error as a share of its proven bound; in ulps an error beside an exact zero is 1e37 and says nothing. */
static void
say_largest(hu_str *s, const hu_summary *n)
{
	hu_str_add(s, " largest rounding error of a single call ");
	if (n->worst_ulp_ratio > 0)
		hu_str_addf(
			s, "is %.3g %s its proven bound", n->worst_ulp_ratio, n->worst_ulp_ratio > 1 ? "times" : "of");
	else
		hu_str_add(s, n->worst_ulp > 0 ? "has no finite bound" : "is 0");
	if (n->ulp_known && n->worst_ulp > 0)
		hu_str_addf(s, ", %.3g ulp", n->worst_ulp);
	if (*n->worst_tensor)
		hu_str_addf(s, ", in %s%s", n->worst_tensor, n->worst_condition > 16 ? " where its terms cancel" : "");
}

static void
say_errors(hu_str *s, const hu_summary *n)
{
	if (isnan(n->worst_ulp)) {
		hu_str_add(s, "The calls' own rounding errors were not judged");
	} else {
		if (n->overflowed)
			hu_str_addf(s,
				"Outputs of %.0f tensor%s of the traced steps overflowed, of %s first, so that their "
				"error is infinite. Of the other tensors the",
				n->overflowed, n->overflowed == 1 ? "" : "s", n->overflowed_tensor);
		else
			hu_str_add(s, "The");
		say_largest(s, n);
		hu_str_addf(s, ", and %s",
			n->over > 0 ? "outputs left their a-priori bound: see faults.tsv"
				    : "every judged output is within its a-priori bound");
		if (n->overflowed && !(n->over > 0))
			hu_str_add(s, ", which is infinite where it does not exclude overflow");
	}
	if (n->safe_known && !isnan(n->safe_min)) {
		hu_str_add(s, "; ");
		say_scales(s, n);
		hu_str_add(s, ".");
	} else if (n->safe_known && *n->need_tensor && *n->limit_tensor && n->need > n->limit)
		hu_str_addf(s,
			"; no single loss scale would have kept every gradient: %s asks for 2^%.0f, %s overflows "
			"beyond 2^%.0f.",
			n->need_tensor, n->need, n->limit_tensor, n->limit);
	else
		hu_str_add(s, n->safe_known ? "; no single loss scale would have kept every gradient." : ".");
}

static void
append(json_t *list, hu_str *s)
{
	json_array_append_new(list, json_string(s->s));
	s->len = 0;
	*s->s = 0;
}

json_t *
hu_summary_sentences(const hu_analysis *a, const hu_summary *n)
{
	json_t *list = json_array();
	hu_str s;

	hu_str_init(&s);
	say_verdict(&s, a, n);
	append(list, &s);
	say_counts(&s, n);
	append(list, &s);
	say_errors(&s, n);
	append(list, &s);
	hu_str_release(&s);
	return list;
}
