/* SPDX-License-Identifier: Apache-2.0
   summary.json as an object: its keys stand for good, and what was not measured is null. */
#include "analyzers/run/summary/summary.h"

#include <math.h>

const char *
hu_summary_word(const hu_summary *n)
{
	static const char *const words[] = { "unknown", "harmless", "costs", "fatal" };

	return words[n->rank];
}

static void
put(json_t *o, const char *key, double x)
{
	json_object_set_new(o, key, hu_summary_number(x));
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

json_t *
hu_summary_json(const hu_analysis *a, const hu_summary *n)
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
	if (n->overflowed > 0) {
		json_object_set_new(v, "worst_ulp", json_string("overflowed"));
		json_object_set_new(v, "worst_ulp_bound_ratio", json_string("overflowed"));
	} else {
		put(v, "worst_ulp", n->worst_ulp);
		put(v, "worst_ulp_bound_ratio", n->worst_ulp_ratio);
	}
	const char *worst = n->overflowed > 0 ? n->overflowed_tensor : n->worst_tensor;
	json_object_set_new(v, "worst_ulp_tensor", *worst ? json_string(worst) : json_null());
	put(v, "worst_bound_ratio", n->worst_ratio);
	put(v, "over_bound", n->over);
	put(v, "biased_tensors", n->biased);
	put(v, "bias_t_max", n->bias_t);
	put(v, "swamped_share_updates", n->swamped_share);
	put(v, "swamped_share_updates_by_decay", n->decay_share);
	put_harm(v, "update_l2_share_lost", n->update_share, n->update_nonfinite);
	put_harm(v, "update_cosine", n->update_cosine, n->update_nonfinite);
	put(v, "zeroed_gradients", n->zeroed);
	put(v, "zeroed_share", n->zeroed_share);
	put_harm(v, "gradient_l2_share_lost", n->grad_share, n->grad_nonfinite);
	put_harm(v, "gradient_cosine", n->grad_cosine, n->grad_nonfinite);
	put(v, "second_moment_zeroed_share", n->v_zeroed_share);
	put(v, "second_moment_swamped_share", n->v_swamped_share);
	put(v, "clip_norm", n->clip_norm);
	put(v, "clipped_steps", n->clipped);
	put(v, "clip_factor_least", n->clip_least);
	put(v, "gradient_cosine_expected", n->draws.cosine);
	put(v, "update_cosine_expected", n->draws.update);
	put(v, "gradient_noise", n->draws.noise);
	put(v, "gradient_bias", n->draws.bias);
	put_harm(v, "second_moment_step_cosine", n->moment_cosine, n->moment_nonfinite);
	put(v, "second_moment_idle_step_cosine", n->moment_idle);
	put_harm(v, "running_statistics_share_lost", n->statistic_share, n->statistic_nonfinite);
	put_harm(v, "weights_l2_share_lost", n->weight_share, n->weight_nonfinite);
	put_harm(v, "weights_cosine", n->weight_cosine, n->weight_nonfinite);
	put(v, "weights_length", n->weight_length);
	put(v, "update_l2_share_judged", n->seen.known ? n->seen.share : NAN);
	put(v, "calls_judged_share", n->seen.calls > 0 ? n->seen.judged / n->seen.calls : NAN);
	put(v, "weights_kept_share", n->seen.pulled > 0 ? n->seen.kept / n->seen.pulled : NAN);
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
	json_object_set_new(o, "verdict_word", json_string(hu_summary_word(n)));
	json_object_set_new(o, "cause", n->rank > 1 && *n->cause ? json_string(n->cause) : json_null());
	json_object_set_new(o, "coverage", hu_summary_coverage(n));
	json_object_set_new(o, "nonfinite", n->origin ? json_incref(n->origin) : json_null());
	json_object_set_new(o, "nan", n->nan_origin ? json_incref(n->nan_origin) : json_null());
	json_object_set_new(o, "remedies", hu_summary_remedies(a, n));
	json_object_set_new(o, "numbers", v);
	json_object_set_new(o, "provenance", from);
	return o;
}
